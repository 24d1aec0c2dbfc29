// SPDX-License-Identifier: Apache-2.0 OR MIT
// The clauses that random contracts are made of.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/dtype.hpp"
#include "base/host.hpp"
#include "tests/plan/random_contract.hpp"

namespace convoke::sweep {
namespace {

using bind::Operator;

std::uintptr_t address(const Seen& s) { return reinterpret_cast<std::uintptr_t>(s.self.data); }
std::int64_t last_stride(const Seen& s) { return s.self.stride[s.self.rank - 1]; }

// Of any operand of at least one axis.
constexpr auto layout_rules = std::to_array<Rule>({
    {"stride[-1] == 1", [](const Seen& s) { return s.self.rank > 0 && last_stride(s) == 1; }},
    {"align >= 64", [](const Seen& s) { return address(s) % 64 == 0; }},
    {"align >= 256", [](const Seen& s) { return address(s) % 256 == 0; }},
    {"divisible(offset, 4)", [](const Seen& s) { return s.self.offset % 4 == 0; }},
    {"offset <= 8; stride[-1] >= 0", [](const Seen& s) { return s.self.offset <= 8 && last_stride(s) >= 0; }},
    {"align >= 32; stride[-1] == 1", [](const Seen& s) { return address(s) % 32 == 0 && last_stride(s) == 1; }},
    {"stride[1] == 1", [](const Seen& s) { return s.self.rank > 1 && s.self.stride[1] == 1; }},
    {"stride[2] >= shape[3]", [](const Seen& s) { return s.self.rank == 4 && s.self.stride[2] >= s.self.shape[3]; }},
    {"divisible(stride[0], 2)", [](const Seen& s) { return s.self.stride[0] % 2 == 0; }},
});

constexpr auto copy_shape_rules = std::to_array<Rule>({
    {"rank=4", [](const Seen& s) { return s.self.rank == 4; }},
    {"dim[0] >= 2", [](const Seen& s) { return s.self.shape[0] >= 2; }},
    {"divisible(dim[-1], 2)", [](const Seen& s) { return s.self.shape[s.self.rank - 1] % 2 == 0; }},
    {"{}.dim[0] <= 16; rank=1..=4", [](const Seen& s) { return s.self.shape[0] <= 16 && s.self.rank <= 4; }},
});

constexpr auto shape_rules = std::to_array<Rule>({
    {"rank=4", [](const Seen& s) { return s.self.rank == 4; }},
    {"dim[0] >= 2", [](const Seen& s) { return s.self.shape[0] >= 2; }},
    {"Cin >= 2", [](const Seen& s) { return s.sizes.Cin >= 2; }},
    {"{}.dim[1] % groups == 0; Kh == Kw",
     [](const Seen& s) { return s.sizes.Cin % s.sizes.groups == 0 && s.sizes.Kh == s.sizes.Kw; }},
    {"same_rank={}; H_in >= 3", [](const Seen& s) { return s.self.rank == 4 && s.sizes.H >= 3; }},
    {"same_dtype={}", [](const Seen&) { return true; }},
    {"product(x_shape) > 0; N <= 2",
     [](const Seen& s) { return s.sizes.N * s.sizes.Cin * s.sizes.H * s.sizes.W > 0 && s.sizes.N <= 2; }},
    {"divisible(Cout, 2)", [](const Seen& s) { return s.sizes.Cout % 2 == 0; }},
    {"H_out <= W_out", [](const Seen& s) { return s.sizes.Ho <= s.sizes.Wo; }},
    {"1 <= groups <= Cin", [](const Seen& s) { return 1 <= s.sizes.groups && s.sizes.groups <= s.sizes.Cin; }},
});

struct FieldRule {
  std::string_view field;
  Rule rule;
};

constexpr auto field_rules = std::to_array<FieldRule>({
    {"x_shape", {"x_shape[0] == 1", [](const Seen& s) { return s.sizes.N == 1; }}},
    {"w_shape", {"w_shape[2] <= 3", [](const Seen& s) { return s.sizes.Kh <= 3; }}},
    {"out_shape", {"out_shape[1] % 2 == 0", [](const Seen& s) { return s.sizes.Cout % 2 == 0; }}},
    {"out_shape",
     {"(out_shape[2] * out_shape[3]) % 4 == 0", [](const Seen& s) { return s.sizes.Ho * s.sizes.Wo % 4 == 0; }}},
    {"stride",
     {"== (1, 1) (or the wrapper bails)",
      [](const Seen& s) { return s.sizes.stride[0] == 1 && s.sizes.stride[1] == 1; }}},
    {"stride", {"stride[0] == stride[1]", [](const Seen& s) { return s.sizes.stride[0] == s.sizes.stride[1]; }}},
    {"padding",
     {"padding[0] <= 1; padding[1] <= 1",
      [](const Seen& s) { return s.sizes.padding[0] <= 1 && s.sizes.padding[1] <= 1; }}},
    {"padding", {"padding[0] < Kh", [](const Seen& s) { return s.sizes.padding[0] < s.sizes.Kh; }}},
    {"dilation", {"== (1, 1)", [](const Seen& s) { return s.sizes.dilation[0] == 1 && s.sizes.dilation[1] == 1; }}},
    {"groups", {"== 1", [](const Seen& s) { return s.sizes.groups == 1; }}},
    {"groups",
     {"in {1, 2, 4}", [](const Seen& s) { return s.sizes.groups == 1 || s.sizes.groups == 2 || s.sizes.groups == 4; }}},
    {"groups", {"groups != 0; Cin / groups >= 2", [](const Seen& s) { return s.sizes.Cin / s.sizes.groups >= 2; }}},
});

constexpr auto workspaces = std::to_array<Amount>({
    {"0", [](const Sizes&) { return std::optional<std::int64_t>(0); }},
    {"1000", [](const Sizes&) { return std::optional<std::int64_t>(1000); }},
    {"n * dtype_bytes + 1", [](const Sizes& s) { return std::optional(s.n * s.dtype_bytes + 1); }},
});

constexpr auto convolution_workspaces = std::to_array<Amount>({
    {"4 * Cout + 1", [](const Sizes& s) { return std::optional(4 * s.Cout + 1); }},
    {"Kh * Kw * 64 + N", [](const Sizes& s) { return std::optional(s.Kh * s.Kw * 64 + s.N); }},
    {"24 / (groups - 1)",
     [](const Sizes& s) { return s.groups == 1 ? std::nullopt : std::optional((24 + s.groups - 2) / (s.groups - 1)); }},
});

constexpr auto packed_sizes = std::to_array<Amount>({
    {"8 + product(w_shape) * dtype_bytes",
     [](const Sizes& s) { return std::optional(8 + s.weight_count * s.dtype_bytes); }},
    {"1024 + 8 * product(w_shape)", [](const Sizes& s) { return std::optional(1024 + 8 * s.weight_count); }},
});

std::optional<Flags> random_flags(Drawer& draw, bool input) {
  if (draw.chance(25)) return std::nullopt;
  using Contiguous = Flags::Contiguous;
  Flags flags{.contiguous = draw.pick(std::array{Contiguous::required, Contiguous::accepted, Contiguous::accepted,
                                                 Contiguous::not_applicable}),
              .strided = draw.chance(60),
              .broadcast = false,
              .offset = draw.chance(50),
              .reverse = false,
              .broadcast_axis = {}};
  if (flags.contiguous == Contiguous::required) flags.strided = false;
  if (flags.contiguous == Contiguous::not_applicable) flags.strided = true;
  if (input && !flags.strided) flags.contiguous = Contiguous::required;  // no strategy agrees with less
  flags.broadcast = input && flags.strided && draw.chance(50);
  flags.reverse = flags.strided && draw.chance(50);
  if (input && flags.strided && draw.chance(4)) {
    flags.broadcast = false;
    flags.broadcast_axis = 0;
  }
  return flags;
}

OperandClauses random_operand(Drawer& draw, std::string role, bool input, bool convolves) {
  OperandClauses clauses;
  clauses.role = std::move(role);
  clauses.flags = random_flags(draw, input);
  if (draw.chance(12)) clauses.layout = &draw.pick(layout_rules);
  if (input && draw.chance(12)) clauses.shape = convolves ? &draw.pick(shape_rules) : &draw.pick(copy_shape_rules);
  return clauses;
}

void draw_ranks(Drawer& draw, Kernel& kernel) {
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
    OperandClauses& clauses = kernel.inputs[i];
    const int own = i == 2 ? 1 : 4;
    switch (draw.below(20)) {
      case 0:
        clauses.min_rank = 2, clauses.max_rank = 3;  // of nothing that there is
        break;
      case 1:
      case 2:
        clauses.min_rank = 1;
        break;
      default:
        if (bind::convolves(kernel.op)) clauses.min_rank = clauses.max_rank = own;
    }
  }
}

void draw_fields(Drawer& draw, Kernel& kernel) {
  for (const std::string_view name :
       {"x_shape", "w_shape", "out_shape", "stride", "padding", "dilation", "groups", "output_padding"}) {
    if (name == "output_padding" && kernel.op == Operator::conv2d) continue;
    kernel.fields.push_back({name, nullptr});
    if (!draw.chance(8)) continue;
    for (const FieldRule& rule : field_rules)
      if (rule.field == name && (kernel.fields.back().rule == nullptr || draw.chance(50)))
        kernel.fields.back().rule = &rule.rule;
  }
}

void draw_convolution(Drawer& draw, Kernel& kernel, std::size_t index) {
  constexpr std::array<std::array<std::string_view, 4>, 3> names = {
      {{"x", "weight", "bias", "out"}, {"input", "kernel", "b", "y"}, {"weight", "x", "offset_row", "result"}}};
  const auto& roles = draw.chance(70) ? names[0] : draw.pick(names);
  for (std::size_t i = 0; i < 2; ++i) kernel.inputs.push_back(random_operand(draw, std::string(roles[i]), true, true));
  if (draw.chance(60)) {
    kernel.inputs.push_back(random_operand(draw, std::string(roles[2]), true, true));
    kernel.bias_is_optional = draw.chance(75);
  }
  kernel.output = random_operand(draw, std::string(roles[3]), false, true);
  draw_fields(draw, kernel);
  if (draw.chance(25)) kernel.workspace = draw.chance(50) ? &draw.pick(workspaces) : &draw.pick(convolution_workspaces);
  if (draw.chance(20)) {
    kernel.packed_bytes = &draw.pick(packed_sizes);
    kernel.pack_kernel = fmt::format("pack{}", index + (draw.chance(10) ? 1000 : 1));
  }
}

void draw_copy(Drawer& draw, Kernel& kernel) {
  kernel.inputs.push_back(random_operand(draw, "x", true, false));
  kernel.output = random_operand(draw, "out", false, false);
  if (draw.chance(15)) kernel.workspace = &draw.pick(workspaces);
}

// What makes a kernel one that is never to be called.
std::string draw_never(Drawer& draw, Kernel& kernel) {
  if (!draw.chance(6)) return {};
  switch (draw.below(4)) {
    case 0:
      kernel.more_caps += "  in_place: true\n";
      return "in_place";
    case 1:
      kernel.claims += "requires: { isa: [sse9] }\n";
      return "requires.isa";
    case 2:
      kernel.claims += "requires: { device: [tensor_cores] }\n";
      return "requires.device";
    default:
      kernel.more_caps += "  access_granularity_bits: 128\n";
      return "access_granularity_bits";
  }
}

void draw_costs(Drawer& draw, Kernel& kernel) {
  constexpr std::array<std::string_view, 4> classes = {"conv", "gemm_like", "cheap_elementwise", "free"};
  constexpr std::array<std::string_view, 4> flops = {"0", "n", "100 * n", "n / 7 + 3"};
  constexpr std::array<std::string_view, 3> overheads = {"0", "300", "100000"};
  kernel.costs = fmt::format("  class: {}\n", draw.pick(classes));
  if (draw.chance(70)) kernel.costs += fmt::format("  flops: \"{}\"\n", draw.pick(flops));
  if (draw.chance(50)) kernel.costs += "  bytes_moved: \"2 * n * dtype_bytes\"\n";
  if (draw.chance(50)) kernel.costs += fmt::format("  overhead_ns: \"{}\"\n", draw.pick(overheads));
  if (draw.chance(30)) {
    constexpr std::array<std::string_view, 4> words = {"all_inputs_contiguous", "any_input_strided", "groups == 1",
                                                       "depthwise"};
    kernel.more_caps +=
        fmt::format("  fast_paths: [{{ when: \"{}\", class: {} }}]\n",
                    draw.pick(std::span(words).first(bind::convolves(kernel.op) ? 4 : 2)), draw.pick(classes));
  }
}

void draw_claims(Drawer& draw, Kernel& kernel) {
  const bool stable = draw.chance(70);
  kernel.claims += fmt::format(
      "precision: {{ bit_stable_on_same_hardware: {}, audited: true, notes: \"as drawn\" }}\ndeterminism: {}\n", stable,
      !stable           ? "nondeterministic"
      : draw.chance(60) ? "bitwise"
                        : "same_hardware_bitwise");
  if (!bind::convolves(kernel.op) || draw.chance(40)) return;
  // A bound in f32 is no claim that sums in f64 keep: theirs may be finite where one in f32 is not.
  const bool in_f32 = std::ranges::find(kernel.dtypes, DType::f64) == kernel.dtypes.end();
  kernel.claims += fmt::format("numerics: {{ order: {}{} }}\n", draw.chance(60) ? "law" : "tree",
                               in_f32 ? ", error: { scale: output, terms: \"Cin * Kh * Kw + 1\", unit: F32 }" : "");
}

}  // namespace

Kernel random_kernel(Drawer& draw, Operator op, bool on_device, std::size_t index) {
  constexpr std::array<std::uint64_t, 11> alignments = {1, 2, 4, 8, 16, 32, 64, 128, 256, 4096, 8192};
  Kernel kernel;
  kernel.op = op;
  kernel.name = fmt::format("{}{}", op == Operator::pack ? "pack" : "k", index);
  kernel.on_device = on_device;
  kernel.dtypes.assign(all_dtypes.begin(), all_dtypes.end());
  if (draw.chance(30)) kernel.dtypes = {draw.pick(all_dtypes)};
  if (op == Operator::cast) {
    kernel.cast_to = draw.pick(all_dtypes);
    std::erase(kernel.dtypes, *kernel.cast_to);
    if (kernel.dtypes.empty()) kernel.dtypes = {*kernel.cast_to == DType::f32 ? DType::bf16 : DType::f32};
  }
  if (bind::convolves(op))
    draw_convolution(draw, kernel, index);
  else
    draw_copy(draw, kernel);
  draw_ranks(draw, kernel);
  if (draw.chance(50)) kernel.alignment = draw.pick(alignments);
  kernel.never = draw_never(draw, kernel);
  draw_costs(draw, kernel);
  draw_claims(draw, kernel);
  return kernel;
}

}  // namespace convoke::sweep

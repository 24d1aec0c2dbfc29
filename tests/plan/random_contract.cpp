// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/plan/random_contract.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <stdexcept>
#include <utility>

#include "base/dtype.hpp"
#include "base/file.hpp"
#include "tests/device/fake_device.hpp"

namespace convoke::sweep {
namespace {

using bind::Operator;

std::string token(DType dtype) {
  std::string text(name_of(dtype));
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string filled(const Rule& rule, const Kernel& kernel) {
  std::string text(rule.text);
  for (std::size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}"))
    text.replace(at, 2, kernel.inputs[0].role);
  return text;
}

std::string flags_text(const Flags& flags, bool input) {
  constexpr std::array<std::string_view, 3> contiguous = {"n/a", "accepted", "required"};
  const auto word = [](bool accepted) { return accepted ? "accepted" : "rejected"; };
  std::string text =
      fmt::format("{{ contiguous: {}, strided: {}, broadcast_stride0: {}, start_offset: {}, reverse_strides: {}",
                  contiguous[static_cast<std::size_t>(flags.contiguous)], word(flags.strided),
                  flags.broadcast_axis ? "required" : word(flags.broadcast), word(flags.offset), word(flags.reverse));
  if (flags.broadcast_axis) text += fmt::format(", broadcast_axes: [{}]", *flags.broadcast_axis);
  if (input)
    text += fmt::format(", awkward_layout_strategy: {}", flags.strided ? "handles_strided" : "requires_contiguous");
  return text + " }";
}

// The lines that inputs and outputs have in common, behind the first.
std::string layout_text(const OperandClauses& clauses, const Kernel& kernel) {
  std::string text;
  if (clauses.flags) text += fmt::format("      layout: {}\n", flags_text(*clauses.flags, &clauses != &kernel.output));
  if (clauses.layout != nullptr)
    text += fmt::format("      layout_constraint: \"{}\"\n", filled(*clauses.layout, kernel));
  return text;
}

std::string inputs_text(const Kernel& kernel) {
  std::string dtypes;
  for (const DType dtype : kernel.dtypes) dtypes += (dtypes.empty() ? "" : ", ") + token(dtype);
  std::string text;
  for (std::size_t i = 0; i < kernel.inputs.size(); ++i) {
    const OperandClauses& clauses = kernel.inputs[i];
    text += fmt::format("    - name: {}\n      dtypes: [{}]\n      rank: \"{}..={}\"\n", clauses.role, dtypes,
                        clauses.min_rank, clauses.max_rank);
    if (clauses.shape != nullptr)
      text += fmt::format("      shape_constraint: \"{}\"\n", filled(*clauses.shape, kernel));
    if (i == 2 && kernel.bias_is_optional) text += "      optional: true\n";
    text += layout_text(clauses, kernel);
  }
  return text;
}

std::string params_text(const Kernel& kernel) {
  std::string text = fmt::format("  op_params:\n    variant: {}\n", bind::token_of(kernel.op));
  if (!kernel.fields.empty()) text += "    fields:\n";
  for (const Field& field : kernel.fields)
    text += fmt::format("      {}: {{ kind: any{} }}\n", field.name,
                        field.rule == nullptr ? "" : fmt::format(", constraint: \"{}\"", filled(*field.rule, kernel)));
  return text;
}

std::string output_text(const Kernel& kernel) {
  const std::string shape = kernel.op == Operator::conv2d             ? "conv2d(params)"
                            : kernel.op == Operator::conv_transpose2d ? "conv_transpose2d(params)"
                                                                      : "same_as(x)";
  const std::string dtype = kernel.cast_to ? fmt::format("fixed({})", token(*kernel.cast_to))
                                           : fmt::format("passthrough({})", kernel.inputs[0].role);
  return fmt::format(
      "    - name: {}\n      dtype_rule: {}\n      shape_rule: {}\n      layout_guarantee: {}\n"
      "      aliasing: none\n{}",
      kernel.output.role, dtype, shape, kernel.output.flags ? "preallocated" : "contiguous",
      layout_text(kernel.output, kernel));
}

std::string caps_text(const Kernel& kernel) {
  std::string text = kernel.more_caps;
  if (kernel.alignment) text += fmt::format("  alignment_bytes: {}\n", *kernel.alignment);
  return text.empty() ? text : "caps:\n" + text;
}

std::string front(bool on_device) {
  return fmt::format(
      "---\nfkc_version: 1\nprovider:\n  name: generated-{0}\n  backend: {1}\n  kernel_source: gen-{0}\n"
      "  link_registry: generated_{0}\n---\n# Generated\n\n",
      on_device ? "device" : "host", on_device ? "Vulkan" : "Cpu");
}

}  // namespace

std::string section_of(const Kernel& kernel, std::string_view provider) {
  std::string text = fmt::format(
      "## {0}\nText.\n\n```fkc\nkernel: {0}\nop_kind: {1}\nblurb: \"Text.\"\n"
      "entry_point: \"{2}::{0}\"\nkernel_revision_hash: auto\naccept:\n  inputs:\n{3}",
      kernel.name, bind::token_of(kernel.op), provider, inputs_text(kernel));
  text += params_text(kernel) + "return:\n  outputs:\n" + output_text(kernel) + caps_text(kernel);
  text += "cost:\n  provenance: judge_measured\n" + kernel.costs;
  if (kernel.workspace != nullptr) text += fmt::format("workspace_bytes: \"{}\"\n", kernel.workspace->text);
  if (kernel.packed_bytes != nullptr)
    text += fmt::format("packing: {{ operand: {}, kernel: {}, bytes: \"{}\" }}\n", kernel.inputs[1].role,
                        kernel.pack_kernel, kernel.packed_bytes->text);
  return text + kernel.claims + "```\n\n";
}

void RandomCatalog::add_entries(const Kernel& kernel, Table& table) {
  for (const DType dtype : kernel.dtypes) {
    if (instances_ == most_instances) throw std::logic_error("more generated kernels than functions");
    bound()[instances_] = {&kernel, dtype};
    table.symbols.push_back(fmt::format("{}::{}{}", table.registry, kernel.name,
                                        kernel.dtypes.size() == 1 ? "" : fmt::format("_{}", name_of(dtype))));
    table.entries.push_back({nullptr, static_cast<int>(kernel.op), static_cast<int>(dtype),
                             static_cast<int>(kernel.cast_to.value_or(dtype)), 0, function_of(instances_++)});
  }
}

void RandomCatalog::add_document(Drawer& draw, bool on_device) {
  Table& table = on_device ? device_ : host_;
  table.registry = on_device ? "generated_device" : "generated_host";
  std::vector<Operator> ops;
  for (std::uint64_t i = 1 + draw.below(3); i > 0; --i)
    ops.push_back(draw.chance(50) ? Operator::conv2d : Operator::conv_transpose2d);
  if (on_device)
    ops.insert(ops.end(), {Operator::upload, Operator::upload, Operator::download, Operator::download});
  else
    for (const Operator op : {Operator::contiguize, Operator::copy_out, Operator::cast, Operator::cast})
      if (draw.chance(50)) ops.push_back(op);
  std::string text = front(on_device);
  for (const Operator op : ops) {
    const std::size_t index = 2 * kernels_.size();  // odd ones are for Pack
    kernels_.push_back(std::make_unique<Kernel>(random_kernel(draw, op, on_device, index)));
    const Kernel& kernel = *kernels_.back();
    text += section_of(kernel, table.registry);
    add_entries(kernel, table);
    if (kernel.packed_bytes == nullptr) continue;
    kernels_.push_back(std::make_unique<Kernel>(random_kernel(draw, Operator::pack, on_device, index + 1)));
    text += section_of(*kernels_.back(), table.registry);
    add_entries(*kernels_.back(), table);
  }
  documents_.push_back({on_device ? "device.fkc.md" : "host.fkc.md", std::move(text)});
}

RandomCatalog::RandomCatalog(std::uint64_t seed) {
  Drawer draw(seed);
  std::ranges::fill(bound(), Instance{});
  add_document(draw, false);
  if (draw.chance(60)) add_document(draw, true);
  std::vector<bind::Provider> providers;
  for (Table* table : {&host_, &device_}) {
    for (std::size_t i = 0; i < table->entries.size(); ++i) table->entries[i].symbol = table->symbols[i].c_str();
    const bool on_device = table == &device_;
    providers.push_back({on_device ? "generated_device" : "generated_host",
                         on_device ? contract::Backend::vulkan : contract::Backend::cpu, table->entries,
                         on_device ? fake::FakeDevice::get().face() : nullptr});
  }
  std::vector<Document> all = documents_;
  const bool with_seed = draw.chance(40), with_transfers = draw.chance(70);
  static const std::string seed_text = read_file(CONVOKE_SUITES "/contracts/vulkan-conv.fkc.md").value();
  if (with_seed) all.push_back({"vulkan-conv.fkc.md", seed_text});
  if (with_transfers) all.push_back(fake::transfers());
  if (with_seed || with_transfers) providers.push_back(fake::seed_provider());
  auto catalog = bind::make_catalog(all, providers);
  if (!catalog) {
    std::string text = catalog.error().message;
    for (const Document& document : documents_) text += "\n" + document.text;
    throw std::logic_error(text);
  }
  catalog_ = *std::move(catalog);
}

}  // namespace convoke::sweep

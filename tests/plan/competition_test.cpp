// SPDX-License-Identifier: Apache-2.0 OR MIT
// Two contracts for one key, and kernels that pack their weight: what the planner chooses is what the prices say.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "bind/binding_table.hpp"
#include "convoke/explain.hpp"
#include "judge/check.hpp"
#include "plan/plan_impl.hpp"
#include "problem/problem.hpp"
#include "problem/workload.hpp"
#include "tests/device/operand_facts.hpp"

namespace convoke {
namespace {

using problem::Workload;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// What the kernels of this file saw, in order.
std::vector<std::string>& calls() {
  static std::vector<std::string> list;
  return list;
}

std::int32_t convolve(const convoke_call& call, const char* name) noexcept {
  calls().emplace_back(name);
  const std::array<convoke_operand, 2> inputs{*call.inputs[0], *call.inputs[1]};
  return fake::call_portable("conv2d_f32", call, inputs, *call.outputs[0]);
}

std::int32_t strided(const convoke_call* call) noexcept { return convolve(*call, "strided"); }

std::int32_t dense(const convoke_call* call) noexcept {
  for (int i = 0; i < 2; ++i)
    if (!fake::is_dense(*call->inputs[i])) return CONVOKE_RUNTIME_FAILURE;
  return convolve(*call, "dense");
}

// The packed weight: its size in elements, then the elements from the last to the first.
std::int32_t pack(const convoke_call* call) noexcept {
  calls().emplace_back("pack");
  const auto* params = static_cast<const convoke_conv_params*>(call->params);
  const convoke_operand &from = *call->inputs[0], &to = *call->outputs[0];
  if (params == nullptr || params->stride[0] != 2 || params->padding[1] != 1 || params->groups != 1)
    return CONVOKE_RUNTIME_FAILURE;
  const auto count = static_cast<std::size_t>(fake::elements(from));
  if (!fake::is_dense(from) || to.bytes != 8 + 4 * count || call->output_count != 1) return CONVOKE_RUNTIME_FAILURE;
  const std::uint64_t size = count;
  std::memcpy(to.data, &size, sizeof size);
  const auto* const values = static_cast<const float*>(from.data) + from.offset;
  auto* const packed = static_cast<std::byte*>(to.data) + sizeof size;
  for (std::size_t i = 0; i < count; ++i) std::memcpy(packed + 4 * i, values + (count - 1 - i), 4);
  return CONVOKE_OK;
}

std::int32_t packed(const convoke_call* call) noexcept {
  const convoke_operand& weight = *call->inputs[1];
  std::uint64_t size = 0;
  std::memcpy(&size, weight.data, sizeof size);
  if (size != static_cast<std::uint64_t>(fake::elements(weight))) return CONVOKE_RUNTIME_FAILURE;
  if (call->scratch_bytes != 4 * size) return CONVOKE_RUNTIME_FAILURE;
  auto* const values = static_cast<float*>(call->scratch);
  for (std::size_t i = 0; i < size; ++i)
    std::memcpy(values + i, static_cast<const std::byte*>(weight.data) + 8 + 4 * (size - 1 - i), 4);
  std::array<convoke_operand, 2> inputs{*call->inputs[0], weight};
  inputs[1].data = values;
  calls().emplace_back("packed");
  return fake::call_portable("conv2d_f32", *call, inputs, *call->outputs[0]);
}

std::int32_t copy(const convoke_call* call) noexcept {
  calls().emplace_back("copy");
  return fake::call_portable("contiguize_f32", *call, std::span(call->inputs[0], 1), *call->outputs[0]);
}

constexpr auto entries = std::to_array<convoke_entry>({
    {"rivals::strided", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, 0, strided},
    {"rivals::dense", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, 0, dense},
    {"rivals::packed", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, 0, packed},
    {"rivals::pack", CONVOKE_PACK, CONVOKE_F32, CONVOKE_F32, 0, pack},
    {"rivals::copy", CONVOKE_CONTIGUIZE, CONVOKE_F32, CONVOKE_F32, 0, copy},
});

constexpr const char* dense_only =
    "{ contiguous: required, strided: rejected, broadcast_stride0: rejected, start_offset: rejected, "
    "reverse_strides: rejected, awkward_layout_strategy: requires_contiguous }";
constexpr const char* any_layout =
    "{ contiguous: accepted, strided: accepted, broadcast_stride0: accepted, start_offset: accepted, "
    "reverse_strides: accepted, awkward_layout_strategy: handles_strided }";

std::string front() {
  return "---\nfkc_version: 1\nprovider:\n  name: rivals\n  backend: Cpu\n  kernel_source: rivals\n"
         "  link_registry: rivals\n---\n# Rivals\n\n";
}

std::string tail(const std::string& cost) {
  const std::string traffic = cost.find("bytes_moved") == std::string::npos ? ", bytes_moved: \"0\"" : "";
  return "cost: { provenance: declared, class: conv, " + cost + traffic +
         " }\nprecision: { bit_stable_on_same_hardware: true, audited: true, notes: none }\n"
         "determinism: bitwise\n";
}

std::string convolution(const char* name, const char* layout, const std::string& cost, const std::string& more = "") {
  return fmt::format(
      "## {0}\nText.\n\n```fkc\nkernel: {0}\nop_kind: Conv2D\nblurb: \"Text.\"\nentry_point: \"rivals::{0}\"\n"
      "kernel_revision_hash: auto\naccept:\n  inputs:\n"
      "    - {{ name: x, dtypes: [F32], rank: 4, layout: {1} }}\n"
      "    - {{ name: weight, dtypes: [F32], rank: 4, layout: {1} }}\n"
      "return:\n  outputs:\n    - {{ name: out, dtype_rule: passthrough(x), shape_rule: conv2d(params), "
      "layout_guarantee: contiguous, aliasing: none }}\n{2}{3}```\n\n",
      name, layout, tail(cost), more);
}

// A kernel that takes one operand.
std::string copying(const char* name, const char* op, const char* layout, const std::string& cost,
                    const std::string& more = "") {
  return fmt::format(
      "## {0}\nText.\n\n```fkc\nkernel: {0}\nop_kind: {1}\nblurb: \"Text.\"\nentry_point: \"rivals::{0}\"\n"
      "kernel_revision_hash: auto\naccept:\n  inputs:\n    - {{ name: w, dtypes: [F32], rank: 4, layout: {2} }}\n"
      "return:\n  outputs:\n    - {{ name: out, dtype_rule: passthrough(w), shape_rule: same_as(w), "
      "layout_guarantee: contiguous, aliasing: none }}\n{3}{4}```\n\n",
      name, op, layout, tail(cost), more);
}

std::string pack_kernel(const std::string& cost) { return copying("pack", "Pack", dense_only, cost); }

Catalog catalog_of(const std::string& sections) {
  const bind::Provider provider{"rivals", contract::Backend::cpu, entries, nullptr};
  auto catalog = bind::make_catalog({{"rivals.fkc.md", front() + sections}}, {provider});
  EXPECT_TRUE(catalog) << catalog.error().message;
  return catalog.value_or(Catalog::builtin());
}

// A machine that does 1 flop a nanosecond, copies 1 byte in 10 and starts in none.
Rates plain_rates() {
  Rates rates;
  EXPECT_TRUE(rates.set({"cpu", "rivals", "conv", std::nullopt, {1, 1e6, 0}}));
  EXPECT_TRUE(rates.set({"cpu", "", "Contiguize", std::nullopt, {1, 0.1, 0}}));
  return rates;
}

Workload workload_of(const std::string& line) {
  return problem::make_workload(problem::parse_problem(line).value()).value();
}

struct Contest {
  Catalog catalog;
  Rates rates = plain_rates();
  PlanOptions options() const {
    PlanOptions made;
    made.demand = Demand::any();
    made.forbid = {"cpu/portable/conv*"};
    made.threads = 1;
    made.rates = &rates;
    made.catalog = &catalog;
    return made;
  }
};

void expect_right(const Plan& plan, Workload& workload) {
  calls().clear();
  const judge::Check check = judge::check(plan, workload);
  EXPECT_TRUE(check.passed) << check.reason;
  const auto law = oracle::compare_law({*workload.geometry(), workload.x(), workload.weight(), {}}, workload.out());
  EXPECT_TRUE(law.passed()) << law.first->text;
}

// x has 1 x 2 x H x 8 elements; its copy moves 8 bytes for each, which takes 80 ns; every output takes the dense
// kernel 1 ns and the strided one 3. H x 8 outputs, so that with Cout channels the copy pays from 16 * 80 = 2 * 8 *
// Cout a row on: at 80 channels.
TEST(Competition, TheCheaperOfStridedAndCopiedWinsOnBothSidesOfTheBreakEven) {
  const Contest contest{catalog_of(convolution("strided", any_layout, "flops: \"3 * n\"") +
                                   convolution("dense", dense_only, "flops: \"n\""))};
  for (const int rows : {4, 9}) {
    for (const int channels : {79, 80, 81}) {
      Workload workload =
          workload_of(fmt::format("conv2d x=1x2x{}x8 weight={}x2x1x1 x.layout=channels_last", rows, channels));
      const auto plan = judge::plan_for(workload, contest.options());
      ASSERT_TRUE(plan) << plan.error().message;
      const double outputs = 8.0 * rows * channels, copy = 80.0 * 16 * rows;
      EXPECT_DOUBLE_EQ(plan->price_ns(), std::min(3 * outputs, outputs + copy));
      const bool copies = channels > 80;
      if (copies) {
        EXPECT_THAT(plan->route(),
                    ElementsAre(StartsWith("cpu/portable/contiguize/"), StartsWith("cpu/rivals/dense/")));
      } else {
        EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/rivals/strided/"))) << "fewer steps where prices tie";
      }
      expect_right(*plan, workload);
      EXPECT_THAT(calls(), ElementsAre(copies ? "dense" : "strided"));
    }
  }
}

// The strided kernel has a fast path for dense operands, so that copying for it pays as well.
TEST(Competition, AKernelMayBeHandedACopyThoughItTakesTheTensorAsItLies) {
  Contest contest{catalog_of(convolution("strided", any_layout, "flops: \"n\"",
                                         "caps: { awkward_layout_strategy: handles_strided, fast_paths: [ { when: "
                                         "\"all_inputs_contiguous\", class: gemm_like } ] }\n"))};
  ASSERT_TRUE(contest.rates.set({"cpu", "rivals", "gemm_like", std::nullopt, {4, 1e6, 0}}));
  for (const int channels : {100, 400}) {  // an output saves 3/4 ns; the copy of a row of 16 takes 1280
    Workload workload = workload_of(fmt::format("conv2d x=1x2x4x8 weight={}x2x1x1 x.layout=channels_last", channels));
    const auto plan = judge::plan_for(workload, contest.options());
    ASSERT_TRUE(plan) << plan.error().message;
    const double outputs = 32.0 * channels;
    EXPECT_DOUBLE_EQ(plan->price_ns(), std::min(outputs, outputs / 4 + 80 * 64));
    EXPECT_EQ(plan->route().size(), channels == 100 ? 1u : 2u);
    expect_right(*plan, workload);
  }
}

TEST(Competition, APackedWeightIsPackedFirstAndPriced) {
  const Contest contest{catalog_of(
      convolution("packed", dense_only, "flops: \"n\", overhead_ns: \"7\"",
                  "packing: { operand: weight, kernel: pack, bytes: \"8 + product(w_shape) * dtype_bytes\" }\n"
                  "workspace_bytes: \"product(w_shape) * dtype_bytes\"\n") +
      pack_kernel("flops: \"5 * n\", overhead_ns: \"11\""))};
  PlanOptions options = contest.options();
  options.kernel = "cpu/rivals/packed/*";
  Workload workload = workload_of("conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=1");
  const auto plan = judge::plan_for(workload, options);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/rivals/pack/"), StartsWith("cpu/rivals/packed/")));
  const double weight = 5 * 3 * 3 * 3, outputs = 5 * 5 * 8;
  EXPECT_DOUBLE_EQ(plan->price_ns(), (11 + 5 * weight) + (7 + outputs));
  EXPECT_GE(plan->workspace_bytes(), 8 + 2 * 4 * 135u);
  expect_right(*plan, workload);
  EXPECT_THAT(calls(), ElementsAre("pack", "packed"));
}

TEST(Competition, AWeightIsMadeDenseForThePackKernelThatWantsIt) {
  const Contest contest{catalog_of(
      convolution("packed", dense_only, "flops: \"n\"",
                  "packing: { operand: weight, kernel: pack, bytes: \"8 + product(w_shape) * dtype_bytes\" }\n"
                  "workspace_bytes: \"product(w_shape) * dtype_bytes\"\n") +
      pack_kernel("flops: \"n\""))};
  PlanOptions options = contest.options();
  Workload workload = workload_of("conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=1 weight.layout=flipped");
  auto plan = judge::plan_for(workload, options);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/portable/contiguize/"), StartsWith("cpu/rivals/pack/"),
                                         StartsWith("cpu/rivals/packed/")));
  expect_right(*plan, workload);

  options.forbid.emplace_back("cpu/rivals/pack/*");
  plan = judge::plan_for(workload, options);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("packing: wanted the Pack kernel pack"));
}

// Copies are chosen by rates that the text does not hold; its steps name them one by one.
TEST(Competition, APlanReadFromItsTextMakesEachCopyByTheKernelThatWasChosenForIt) {
  const Contest contest{catalog_of(convolution("dense", dense_only, "flops: \"n\"") +
                                   copying("copy", "Contiguize", any_layout, "flops: \"0\", overhead_ns: \"1000\""))};
  PlanOptions options = contest.options();
  options.forbid.clear();
  options.kernel = "cpu/rivals/dense/*";
  Workload workload = workload_of("conv2d x=1x2x9x8 weight=1x2x1x2 x.layout=flipped weight.layout=flipped");
  // x: 144 elements at 80 ns each, or 1000 ns; the weight: 4 elements, and 320 ns.
  const auto plan = judge::plan_for(workload, options);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/rivals/copy/"), StartsWith("cpu/portable/contiguize/"),
                                         StartsWith("cpu/rivals/dense/")));
  const auto read = Plan::from_json(plan->to_json(), &contest.catalog);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->route(), plan->route());
  expect_right(*read, workload);
  EXPECT_THAT(calls(), ElementsAre("copy", "dense"));
}

TEST(Competition, AMisalignedWeightIsCopiedForThePackKernelThatWantsItAligned) {
  const std::string aligned = "caps: { awkward_layout_strategy: requires_contiguous, alignment_bytes: 256 }\n";
  const Contest contest{catalog_of(
      convolution("packed", dense_only, "flops: \"n\"",
                  "packing: { operand: weight, kernel: pack, bytes: \"8 + product(w_shape) * dtype_bytes\" }\n"
                  "workspace_bytes: \"product(w_shape) * dtype_bytes\"\n" +
                      aligned) +
      copying("pack", "Pack", dense_only, "flops: \"n\"", aligned))};
  for (const int align : {4, 128, 256}) {
    Workload workload = workload_of(
        fmt::format("conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=1 align={} x.layout=offset", align));
    const auto plan = judge::plan_for(workload, contest.options());
    ASSERT_TRUE(plan) << plan.error().message;
    expect_right(*plan, workload);
    std::size_t copies_of_weight = 0;
    for (const planner::Step& step : plan->impl().route.steps)
      if (step.binding->op == bind::Operator::contiguize && step.role == "weight") ++copies_of_weight;
    EXPECT_EQ(copies_of_weight, align < 256 ? 1u : 0u) << align;
  }
}

}  // namespace
}  // namespace convoke

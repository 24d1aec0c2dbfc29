// SPDX-License-Identifier: Apache-2.0 OR MIT
// Two contracts for one key, and kernels that pack their weight: what the planner chooses is what the prices say.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bind/binding_table.hpp"
#include "convoke/explain.hpp"
#include "judge/check.hpp"
#include "plan/plan_impl.hpp"
#include "problem/workload.hpp"
#include "tests/plan/rivals.hpp"

namespace convoke::rivals {
namespace {

using problem::Workload;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void expect_right(const Plan& plan, Workload& workload) {
  take_calls();
  const judge::Check check = judge::check(plan, workload);
  EXPECT_TRUE(check.passed) << check.reason;
  const auto law = oracle::compare_law({*workload.geometry(), workload.x(), workload.weight(), {}}, workload.out());
  EXPECT_TRUE(law.passed()) << law.first->text;
}

// x has 1 x 2 x H x 8 elements; its copy moves 8 bytes for each, which takes 80 ns; every output takes the dense
// kernel 1 ns and the strided one 3. H x 8 outputs, so that with Cout channels the copy pays from 16 * 80 = 2 * 8 *
// Cout a row on: at 80 channels.
TEST(Competition, TheCheaperOfStridedAndCopiedWinsOnBothSidesOfTheBreakEven) {
  const Contest contest(convolution("strided", any_layout, "flops: \"3 * n\"") +
                        convolution("dense", dense_only, "flops: \"n\""));
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
      EXPECT_THAT(take_calls(), ElementsAre(copies ? "dense" : "strided"));
    }
  }
}

// The strided kernel has a fast path for dense operands, so that copying for it pays as well.
TEST(Competition, AKernelMayBeHandedACopyThoughItTakesTheTensorAsItLies) {
  Contest contest(convolution("strided", any_layout, "flops: \"n\"",
                              "caps: { awkward_layout_strategy: handles_strided, fast_paths: [ { when: "
                              "\"all_inputs_contiguous\", class: gemm_like } ] }\n"));
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
  const Contest contest(packing_convolution("flops: \"n\", overhead_ns: \"7\"") +
                        pack_kernel("flops: \"5 * n\", overhead_ns: \"11\""));
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
  EXPECT_THAT(take_calls(), ElementsAre("pack", "packed"));
  EXPECT_EQ(packed_for().stride[0], 2);
  EXPECT_EQ(packed_for().stride[1], 1);
  EXPECT_EQ(packed_for().padding[1], 1);
  EXPECT_EQ(packed_for().groups, 1);
}

// Packing takes 5 * 135 ns and more where the weight is copied first; then every output takes 1 ns, not 2.
TEST(Competition, APackedWeightThatIsKeptCostsNothing) {
  const Contest contest(convolution("strided", any_layout, "flops: \"2 * n\"") + packing_convolution("flops: \"n\"") +
                        pack_kernel("flops: \"5 * n\""));
  for (const char* layout : {"dense", "flipped"}) {
    Workload workload =
        workload_of(std::string("conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=1 weight.layout=") + layout);
    PlanOptions options = contest.options();
    const auto each_time = judge::plan_for(workload, options);
    ASSERT_TRUE(each_time) << each_time.error().message;
    EXPECT_THAT(each_time->route(), ElementsAre(StartsWith("cpu/rivals/strided/")));
    options.packed_weight = true;
    const auto once = judge::plan_for(workload, options);
    ASSERT_TRUE(once) << once.error().message;
    EXPECT_THAT(once->kernel(), StartsWith("cpu/rivals/packed/"));
    EXPECT_DOUBLE_EQ(once->price_ns(), 5 * 5 * 8);
    expect_right(*once, workload);
    const auto read = Plan::from_json(once->to_json(), &contest.catalog);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->to_json(), once->to_json());
    EXPECT_TRUE(read->impl().route.packed_weight);
  }
}

TEST(Competition, AWeightIsMadeDenseForThePackKernelThatWantsIt) {
  const Contest contest(packing_convolution("flops: \"n\"") + pack_kernel("flops: \"n\""));
  PlanOptions options = contest.options();
  Workload workload = workload_of("conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=1 weight.layout=flipped");
  auto plan = judge::plan_for(workload, options);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/portable/contiguize/"), StartsWith("cpu/rivals/pack/"),
                                         StartsWith("cpu/rivals/packed/")));
  const planner::Route& route = plan->impl().route;
  EXPECT_EQ(route.steps[0].role, "weight");
  EXPECT_EQ(route.steps[1].role, "weight");
  EXPECT_EQ(route.weight_begin, 0u);
  EXPECT_EQ(route.weight_end, 2u);
  expect_right(*plan, workload);

  options.forbid.emplace_back("cpu/rivals/pack/*");
  plan = judge::plan_for(workload, options);
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("packing: wanted the Pack kernel pack"));
}

// Copies are chosen by rates that the text does not hold; its steps name them one by one.
TEST(Competition, APlanReadFromItsTextMakesEachCopyByTheKernelThatWasChosenForIt) {
  const Contest contest(convolution("dense", dense_only, "flops: \"n\"") +
                        copying("copy", "Contiguize", any_layout, "flops: \"0\", overhead_ns: \"1000\""));
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
  EXPECT_THAT(take_calls(), ElementsAre("copy", "dense"));
}

TEST(Competition, AMisalignedWeightIsCopiedForThePackKernelThatWantsItAligned) {
  const std::string aligned = "caps: { awkward_layout_strategy: requires_contiguous, alignment_bytes: 256 }\n";
  const Contest contest(packing_convolution("flops: \"n\"", aligned) +
                        copying("pack", "Pack", dense_only, "flops: \"n\"", aligned));
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
}  // namespace convoke::rivals

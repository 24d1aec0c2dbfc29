// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/regret.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "tests/plan/rivals.hpp"

namespace convoke::judge {
namespace {

problem::Workload workload_of(const char* line) {
  return problem::make_workload(problem::parse_problem(line).value()).value();
}

RegretOptions one_round() {
  RegretOptions options;
  options.plan.demand = Demand::any();
  options.pace = {.box_ms = 0, .least = 1, .most = 1};
  return options;
}

TEST(MeasureRoutes, RunsEveryAdmittedRouteAndKnowsTheChosenOne) {
  problem::Workload workload = workload_of("conv2d x=1x4x8x8 weight=4x4x3x3 dtype=f16 x.layout=channels_last");
  RegretOptions options = one_round();
  options.plan.forbid = {"cpu/simd/*"};
  const auto measured = measure_routes(workload, options);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->wrong, "");
  ASSERT_EQ(measured->routes.size(), 4u) << "as it lies, copied dense, through f32, through f64";
  const Plan plan = plan_for(workload, options.plan).value();
  EXPECT_EQ(measured->routes[measured->chosen].price_ns, plan.price_ns());
  for (const MeasuredRoute& route : measured->routes) {
    EXPECT_EQ(route.family, "cpu/portable");
    EXPECT_TRUE(route.kernel.starts_with("cpu/portable/conv2d_f")) << route.kernel;
    EXPECT_GT(route.measured_ns, 0);
    EXPECT_GE(route.price_ns, plan.price_ns());
    EXPECT_GE(route.measured_ns, measured->routes[measured->best()].measured_ns);
  }
  EXPECT_GE(measured->regret(), 0);
}

TEST(MeasureRoutes, OfAPackedWeightTimesTheRunsAlone) {
  const rivals::Contest contest(rivals::packing_convolution("flops: \"n\"") +
                                rivals::pack_kernel("flops: \"1000 * n\""));
  problem::Workload workload = workload_of("conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=1");
  for (const bool packed : {false, true}) {
    RegretOptions options = one_round();
    options.plan = contest.options();
    options.plan.packed_weight = packed;
    options.pace = {.box_ms = 0, .least = 3, .most = 3};
    rivals::take_calls();
    const auto measured = measure_routes(workload, options);
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->wrong, "");
    ASSERT_EQ(measured->routes.size(), 1u);
    EXPECT_EQ(measured->routes[0].price_ns > 1000 * 135, !packed);
    const std::vector<std::string> calls = rivals::take_calls();
    const auto runs = std::ranges::count(calls, "packed");
    EXPECT_GE(runs, 4) << "checked, and timed 3 times at least";
    EXPECT_EQ(std::ranges::count(calls, "pack"), packed ? 2 : runs) << "once for the check, once for all timed runs";
  }
}

TEST(MeasureRoutes, WithoutARouteThereIsNothingToMeasure) {
  problem::Workload workload = workload_of("conv2d x=1x4x8x8 weight=4x4x3x3");
  RegretOptions options = one_round();
  options.plan.forbid = {"*"};
  const auto measured = measure_routes(workload, options);
  ASSERT_FALSE(measured);
  EXPECT_EQ(measured.error().code, ErrorCode::no_kernel);
}

TEST(MeasuredRoutes, RegretIsTheChosenOverTheFastest) {
  const MeasuredRoutes measured{
      .routes = {{"a", "f", "f/k", 1, 30}, {"b", "f", "f/k", 2, 20}, {"c", "f", "f/k", 3, 25}},
      .chosen = 0,
      .wrong = {}};
  EXPECT_EQ(measured.best(), 1u);
  EXPECT_DOUBLE_EQ(measured.regret(), 0.5);
}

TEST(OrderOf, CountsPairsOfOneKindThatTheClockTellsApart) {
  const std::vector<MeasuredRoute> routes = {{"cheap and fast", "f", "f/k", 1, 100},
                                             {"dear and slow", "f", "f/k", 2, 200},
                                             {"dearest and fast", "f", "f/other", 3, 101},
                                             {"of another family", "g", "g/k", 9, 1}};
  const OrderCount family = order_of(routes, &MeasuredRoute::family, 0.03);
  EXPECT_EQ(family.close, 1u) << "100 and 101";
  EXPECT_EQ(family.told, 2u);
  EXPECT_EQ(family.agree, 1u) << "101 before 200 is what the clock says, not the prices";
  const OrderCount kernel = order_of(routes, &MeasuredRoute::kernel, 0.03);
  EXPECT_EQ(kernel.close, 0u);
  EXPECT_EQ(kernel.told, 1u);
  EXPECT_EQ(kernel.agree, 1u);
}

TEST(OrderOf, EqualPricesAgreeWithNeitherOrder) {
  const OrderCount order =
      order_of({{"a", "f", "f/k", 1, 100}, {"b", "f", "f/k", 1, 200}}, &MeasuredRoute::kernel, 0.03);
  EXPECT_EQ(order.told, 1u);
  EXPECT_EQ(order.agree, 0u);
}

}  // namespace
}  // namespace convoke::judge

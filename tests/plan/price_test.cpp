// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/price.hpp"

#include <gtest/gtest.h>

#include "convoke/catalog.hpp"
#include "tests/plan/sample_binding.hpp"

namespace convoke::planner {
namespace {

using contract::Contract;
using contract::Cost;
using contract::CostExpression;

using Expression = std::optional<CostExpression> Cost::*;

constexpr Expression every_expression[] = {&Cost::flops,        &Cost::bytes_moved, &Cost::overhead_ns,
                                           &Cost::device_bytes, &Cost::host_bytes,  &Cost::disk_bytes};

CostExpression expression(const char* text) { return CostExpression::parse(text).value(); }

// The sample with these expressions and no others.
bind::Binding stating(const std::vector<std::pair<Expression, const char*>>& given, const Change& change = nullptr) {
  return sample_binding([&](Contract& c) {
    for (const Expression each : every_expression) (c.cost.*each).reset();
    for (const auto& [member, text] : given) c.cost.*member = expression(text);
    if (change) change(c);
  });
}

// 2 flops and 4 bytes in a nanosecond, 100 ns for a call, for the sample's class; ten times that for gemm_like.
Rates rates() {
  Rates rates;
  EXPECT_TRUE(rates.set({"cpu", "plain", "conv", std::nullopt, {2, 4, 100}}));
  EXPECT_TRUE(rates.set({"cpu", "plain", "gemm_like", std::nullopt, {20, 40, 10}}));
  EXPECT_TRUE(rates.set_thread_gain(0.5));
  return rates;
}

Price price(const bind::Binding& binding, int threads = 1, const Request& request = sample_request()) {
  return price_of(binding, request, {request.x, request.weight, request.out}, rates(), threads);
}

TEST(PriceOf, EachExpressionCountsForItself) {
  struct Row {
    Expression member;
    double Work::* what;
  };
  const Row rows[] = {{&Cost::flops, &Work::flops},
                      {&Cost::bytes_moved, &Work::bytes},
                      {&Cost::overhead_ns, &Work::overhead_ns},
                      {&Cost::device_bytes, &Work::device_bytes},
                      {&Cost::host_bytes, &Work::host_bytes},
                      {&Cost::disk_bytes, &Work::disk_bytes}};
  const Work without = price(stating({})).work;
  for (const Row& row : rows) {
    const Work work = price(stating({{row.member, "8 * Cout + 1"}})).work;
    for (const Row& other : rows)
      EXPECT_EQ(work.*other.what, other.what == row.what ? 65 : without.*other.what) << &row - rows << &other - rows;
  }
}

TEST(PriceOf, AnExpressionMayNameTheThreads) {
  const bind::Binding binding =
      stating({{&Cost::flops, "0"}, {&Cost::bytes_moved, "0"}, {&Cost::overhead_ns, "10 * threads"}});
  EXPECT_DOUBLE_EQ(price(binding, 1).ns, 10);
  EXPECT_DOUBLE_EQ(price(binding, 6).ns, 60);
}

TEST(PriceOf, ComputeTrafficAndOverheadAddUp) {
  EXPECT_DOUBLE_EQ(price(stating({{&Cost::flops, "600"}, {&Cost::bytes_moved, "400"}})).ns,
                   100 + 600.0 / 2 + 400.0 / 4);
  EXPECT_DOUBLE_EQ(price(stating({{&Cost::flops, "600"}, {&Cost::bytes_moved, "4000"}})).ns,
                   100 + 600.0 / 2 + 4000.0 / 4);
  EXPECT_DOUBLE_EQ(price(stating({{&Cost::flops, "0"}, {&Cost::bytes_moved, "0"}})).ns, 100);
}

TEST(PriceOf, WhatTheContractLeavesOutIsFilledAndMarked) {
  const Price none = price(stating({}));
  EXPECT_TRUE(none.work.filled);
  EXPECT_EQ(none.work.flops, sample_request().geometry.flops()) << "the dense formula";
  EXPECT_EQ(none.work.bytes, 4.0 * (4 * 8 * 8 + 8 * 4 * 3 * 3 + 8 * 6 * 6)) << "every operand once";
  EXPECT_TRUE(price(stating({{&Cost::flops, "1"}})).work.filled);
  EXPECT_TRUE(price(stating({{&Cost::bytes_moved, "1"}})).work.filled);
  EXPECT_FALSE(price(stating({{&Cost::flops, "1"}, {&Cost::bytes_moved, "1"}})).work.filled)
      << "the others may be left out";
}

TEST(PriceOf, AnExpressionWithoutAValueIsFilledToo) {
  for (const char* text : {"tiles * 2", "1 / (groups - 1)", "k"}) {
    const Price one = price(stating({{&Cost::flops, text}, {&Cost::bytes_moved, "1"}}));
    EXPECT_TRUE(one.work.filled) << text;
    EXPECT_EQ(one.work.flops, sample_request().geometry.flops()) << text;
  }
  EXPECT_EQ(price(stating({{&Cost::overhead_ns, "k"}, {&Cost::flops, "1"}, {&Cost::bytes_moved, "1"}})).ns,
            100 + 1.0 / 2 + 1.0 / 4)
      << "the rate's overhead stands in";
}

TEST(PriceOf, OverheadIsTheContractsBeforeTheRates) {
  const auto of = [](const char* overhead) {
    return price(stating({{&Cost::flops, "0"}, {&Cost::bytes_moved, "0"}, {&Cost::overhead_ns, overhead}}));
  };
  EXPECT_EQ(of("7").ns, 7);
  EXPECT_EQ(of("0").ns, 0) << "a stated 0 is not a missing one";
  EXPECT_EQ(of("7").work.overhead_ns, 7);
  EXPECT_EQ(price(stating({})).work.overhead_ns, 100);
}

TEST(PriceOf, AFastPathThatAppliesNamesTheClass) {
  const auto paths = [](std::vector<std::pair<const char*, const char*>> given) {
    return stating({{&Cost::flops, "200"}, {&Cost::bytes_moved, "0"}}, [&](Contract& c) {
      c.caps.fast_paths.clear();
      for (const auto& [when, cost_class] : given)
        c.caps.fast_paths.push_back({contract::Predicate::parse(when).value(), when, std::string(cost_class), ""});
    });
  };
  const auto of = [](const bind::Binding& binding) {
    const Price one = price(binding);
    return std::pair(std::string(one.cost_class), one.ns);
  };
  EXPECT_EQ(of(paths({})), std::pair(std::string("conv"), 200.0));
  EXPECT_EQ(of(paths({{"groups == 1", "gemm_like"}})), std::pair(std::string("gemm_like"), 20.0));
  EXPECT_EQ(of(paths({{"groups == 2", "gemm_like"}})).first, "conv");
  EXPECT_EQ(of(paths({{"depthwise", "cheap_elementwise"}, {"groups == 1", "gemm_like"}})).first, "gemm_like");
  EXPECT_EQ(of(paths({{"always", "gemm_like"}, {"groups == 1", "cheap_elementwise"}})).first, "gemm_like")
      << "the first that holds";
  EXPECT_EQ(of(paths({{"k == 1", "gemm_like"}})).first, "conv") << "unknown is not yes";
}

TEST(PriceOf, AFastPathWithoutAPredicateOrAClassChangesNothing) {
  const bind::Binding binding = stating({}, [](Contract& c) {
    c.caps.fast_paths = {{std::nullopt, "unreadable", std::string("gemm_like"), ""},
                         {contract::Predicate::parse("always").value(), "always", std::nullopt, ""}};
  });
  EXPECT_EQ(price(binding).cost_class, "conv");
}

TEST(PriceOf, AFastPathAsksForTheOperandsAsTheKernelSeesThem) {
  const bind::Binding binding = stating({}, [](Contract& c) {
    c.caps.fast_paths = {{contract::Predicate::parse("any_input_strided").value(), "", std::string("gemm_like"), ""}};
  });
  const Request request = sample_request();
  TensorSpec spread = request.x;
  spread.strides = {1024, 128, 16, 2};
  EXPECT_EQ(price_of(binding, request, {request.x, request.weight, request.out}, rates(), 1).cost_class, "conv");
  EXPECT_EQ(price_of(binding, request, {spread, request.weight, request.out}, rates(), 1).cost_class, "gemm_like");
}

TEST(PriceOf, ThreadsSpeedUpTheWorkButNotTheOverhead) {
  const bind::Binding binding = stating({{&Cost::flops, "2000"}, {&Cost::bytes_moved, "0"}});
  EXPECT_DOUBLE_EQ(price(binding, 1).ns, 100 + 1000);
  EXPECT_DOUBLE_EQ(price(binding, 3).ns, 100 + 1000 / 2.0);
  EXPECT_DOUBLE_EQ(price(binding, 19).ns, 100 + 1000 / 10.0);
}

TEST(PriceOf, ThreadsAreNothingToADevice) {
  const convoke_device device{};
  bind::Binding binding = stating({{&Cost::flops, "2000"}, {&Cost::bytes_moved, "0"}});
  binding.device = &device;
  EXPECT_DOUBLE_EQ(price(binding, 8).ns, price(binding, 1).ns);
}

TEST(PriceOf, TheRateIsThatOfTheOutputsType) {
  Rates by_type = rates();
  ASSERT_TRUE(by_type.set({"cpu", "plain", "conv", DType::f64, {1, 1, 5}}));
  const bind::Binding binding = stating({{&Cost::flops, "10"}, {&Cost::bytes_moved, "0"}});
  const Request request = sample_request();
  TensorSpec wide = request.out;
  wide.dtype = DType::f64;
  EXPECT_EQ(price_of(binding, request, {request.x, request.weight, request.out}, by_type, 1).ns, 105);
  EXPECT_EQ(price_of(binding, request, {request.x, request.weight, wide}, by_type, 1).ns, 15);
}

const bind::Binding& builtin(std::string_view prefix) {
  for (const bind::Binding& binding : Catalog::builtin().table().all())
    if (binding.id.starts_with(prefix)) return binding;
  ADD_FAILURE() << "no " << prefix;
  return Catalog::builtin().table().all().front();
}

// n and dtype_bytes in a copy's contract are those of the tensor that it writes, not of the convolution's output.
TEST(PriceOf, CopiesArePricedForWhatTheyCopy) {
  const Request request = sample_request();
  const TensorSpec weight = TensorSpec::dense(DType::f64, {3, 5});
  const Price copy = price_of(builtin("cpu/portable/contiguize/f64,f64#"), request, {weight, weight}, Rates(), 1);
  EXPECT_EQ(copy.work.bytes, 2.0 * 15 * 8);
  EXPECT_EQ(copy.work.host_bytes, 15.0 * 8);
  EXPECT_EQ(copy.work.flops, 0);
  EXPECT_FALSE(copy.work.filled);
  EXPECT_EQ(copy.cost_class, "cheap_elementwise") << "the fast path for what is dense already";
}

TEST(PriceOf, ACopyWithoutExpressionsTouchesBothEndsOnce) {
  bind::Binding copy = builtin("cpu/portable/cast_to_f32/bf16,f32#");
  contract::Contract silent = *copy.contract;
  silent.cost.flops.reset();
  silent.cost.bytes_moved.reset();
  copy.contract = std::make_shared<const contract::Contract>(std::move(silent));
  const Price price = price_of(copy, sample_request(),
                               {TensorSpec::dense(DType::bf16, {10}), TensorSpec::dense(DType::f32, {10})}, Rates(), 1);
  EXPECT_TRUE(price.work.filled);
  EXPECT_EQ(price.work.bytes, 10 * (2 + 4));
  EXPECT_EQ(price.work.flops, 0) << "a copy does not convolve";
}

}  // namespace
}  // namespace convoke::planner

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/ours.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "judge/check.hpp"

namespace convoke::peers {
namespace {

TEST(Ours, WhatIsTimedComputesTheConvolution) {
  auto problem = problem::parse_problem("conv2d x=1x3x9x9 weight=4x3x3x3 padding=1 data=int threads=2");
  ASSERT_TRUE(problem);
  auto made = Ours::make(*problem);
  ASSERT_TRUE(made);
  const Ours ours = *std::move(made);  // what is timed survives a move
  ASSERT_TRUE(ours.run());
  const judge::Check checked = judge::check_output(ours.plan(), ours.workload());
  EXPECT_TRUE(checked.passed) << checked.reason;
}

}  // namespace
}  // namespace convoke::peers

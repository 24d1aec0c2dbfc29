// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/random_problem.hpp"

#include <gtest/gtest.h>

#include <set>

namespace convoke::problem {
namespace {

constexpr std::uint64_t many = 10'000;

TEST(RandomProblem, IsAlwaysValidAndSmall) {
  for (const Op op : {Op::conv2d, Op::conv_transpose2d}) {
    double total = 0;
    for (std::uint64_t index = 0; index < many; ++index) {
      const Problem problem = random_problem(op, 42, index);
      const auto geometry = geometry_of(problem);
      ASSERT_TRUE(geometry) << to_line(problem) << ": " << geometry.error().message;
      ASSERT_LE(geometry->flops(), 2.0 * random_max_macs) << to_line(problem);
      total += geometry->flops() / 2;
    }
    EXPECT_LT(total / many, 5'000);
  }
}

TEST(RandomProblem, IsAFunctionOfOperationSeedAndIndex) {
  std::set<std::string> lines;
  for (const Op op : {Op::conv2d, Op::conv_transpose2d})
    for (const std::uint64_t seed : {0u, 1u, 2u})
      for (std::uint64_t index = 0; index < 100; ++index) {
        EXPECT_EQ(random_problem(op, seed, index), random_problem(op, seed, index));
        lines.insert(to_line(random_problem(op, seed, index)));
      }
  EXPECT_EQ(lines.size(), 600u);
}

// What a seed means, on every platform and for good.
TEST(RandomProblem, StaysTheSame) {
  EXPECT_EQ(to_line(random_problem(Op::conv2d, 1, 0)),
            "conv2d x=1x6x3x11 weight=12x2x1x1 bias=1 stride=4 dilation=2x3 groups=3 dtype=f64 x.layout=channels_last "
            "weight.layout=permuted data=int seed=2236741188");
  EXPECT_EQ(to_line(random_problem(Op::conv_transpose2d, 1, 0)),
            "conv_transpose2d x=1x16x6x1 weight=16x3x1x1 stride=1x3 output_padding=0x2 dtype=f64 out.layout=permuted "
            "data=special seed=434156390");
}

}  // namespace
}  // namespace convoke::problem

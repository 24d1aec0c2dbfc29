// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "problem/random_problem.hpp"

namespace convoke::problem {
namespace {

using ::testing::Contains;
using ::testing::Not;

std::vector<std::string_view> relations_of(const std::string& line) { return relations(parse_problem(line).value()); }

struct Shown {
  const char *relation, *with, *without;
};

class RelationShown : public ::testing::TestWithParam<Shown> {};

TEST_P(RelationShown, HoldsInOneAndNotInTheOther) {
  EXPECT_THAT(relations_of(GetParam().with), Contains(GetParam().relation));
  EXPECT_THAT(relations_of(GetParam().without), Not(Contains(GetParam().relation)));
}

INSTANTIATE_TEST_SUITE_P(
    Each, RelationShown,
    ::testing::Values(
        Shown{"stride > kernel", "conv2d x=1x2x9x9 weight=2x2x3x1 stride=1x2",
              "conv2d x=1x2x9x9 weight=2x2x2x2 stride=2"},
        Shown{"padding >= kernel", "conv2d x=1x2x9x9 weight=2x2x3x3 padding=0,3,0,0",
              "conv2d x=1x2x9x9 weight=2x2x3x3 padding=2"},
        Shown{"padding asymmetric", "conv2d x=1x2x9x9 weight=2x2x3x3 padding=0,1,0,0",
              "conv2d x=1x2x9x9 weight=2x2x3x3 padding=1x2"},
        Shown{"padding same", "conv2d x=1x2x9x9 weight=2x2x3x3 padding=same",
              "conv2d x=1x2x9x9 weight=2x2x3x3 padding=1"},
        Shown{"output_padding > 0", "conv_transpose2d x=1x2x9x9 weight=2x2x3x3 stride=2 output_padding=0x1",
              "conv_transpose2d x=1x2x9x9 weight=2x2x3x3 stride=2"},
        Shown{"dilation > 1", "conv2d x=1x2x9x9 weight=2x2x3x3 dilation=1x2", "conv2d x=1x2x9x9 weight=2x2x3x3"},
        Shown{"dilation and stride > 1", "conv2d x=1x2x9x9 weight=2x2x3x3 dilation=2 stride=2",
              "conv2d x=1x2x9x9 weight=2x2x3x3 dilation=2"},
        Shown{"axes differ", "conv2d x=1x2x9x9 weight=2x2x3x2", "conv2d x=1x2x9x8 weight=2x2x3x3"},
        Shown{"kernel > input", "conv2d x=1x2x2x9 weight=2x2x3x3 padding=1", "conv2d x=1x2x3x9 weight=2x2x3x3"},
        Shown{"kernel 1x1", "conv2d x=1x2x2x9 weight=2x2x1x1", "conv2d x=1x2x2x9 weight=2x2x1x2"},
        Shown{"groups depthwise", "conv2d x=1x2x3x3 weight=2x1x3x3 groups=2", "conv2d x=1x1x3x3 weight=1x1x3x3"},
        Shown{"groups depth multiplier", "conv_transpose2d x=1x2x3x3 weight=2x2x3x3 groups=2",
              "conv2d x=1x2x3x3 weight=2x1x3x3 groups=2"},
        Shown{"groups several", "conv2d x=1x4x3x3 weight=2x2x3x3 groups=2", "conv2d x=1x2x3x3 weight=2x1x3x3 groups=2"},
        Shown{"groups 1", "conv2d x=1x4x3x3 weight=2x4x3x3", "conv2d x=1x4x3x3 weight=2x2x3x3 groups=2"},
        Shown{"size 0", "conv2d x=0x4x3x3 weight=2x4x3x3", "conv2d x=1x4x3x3 weight=2x4x3x3"},
        Shown{"size 1 channels", "conv2d x=1x4x3x3 weight=1x4x3x3", "conv2d x=1x4x3x3 weight=2x4x3x3"},
        Shown{"size 1 image", "conv2d x=1x4x1x3 weight=1x4x1x3", "conv2d x=1x4x3x3 weight=2x4x3x3"},
        Shown{"size prime", "conv2d x=1x4x3x13 weight=1x4x1x3", "conv2d x=1x4x3x15 weight=2x4x3x3"},
        Shown{"tail of 8", "conv2d x=1x4x3x9 weight=1x4x1x1", "conv2d x=1x4x3x16 weight=2x4x1x1"},
        Shown{"tail of 16", "conv2d x=1x4x3x24 weight=1x4x1x1", "conv2d x=1x4x3x15 weight=2x4x1x1"},
        Shown{"bias", "conv2d x=1x4x3x3 weight=2x4x3x3 bias=1", "conv2d x=1x4x3x3 weight=2x4x3x3"},
        Shown{"no bias", "conv2d x=1x4x3x3 weight=2x4x3x3", "conv2d x=1x4x3x3 weight=2x4x3x3 bias=1"},
        Shown{"dtype bf16", "conv2d x=1x4x3x3 weight=2x4x3x3 dtype=bf16", "conv2d x=1x4x3x3 weight=2x4x3x3"},
        Shown{"x sliced", "conv2d x=1x4x3x3 weight=2x4x3x3 x.layout=sliced",
              "conv2d x=1x4x3x3 weight=2x4x3x3 weight.layout=sliced"},
        Shown{"weight expanded", "conv2d x=1x4x3x3 weight=2x4x3x3 weight.layout=expanded",
              "conv2d x=1x4x3x3 weight=2x4x3x3 x.layout=expanded"},
        Shown{"out offset", "conv2d x=1x4x3x3 weight=2x4x3x3 out.layout=offset", "conv2d x=1x4x3x3 weight=2x4x3x3"},
        Shown{"align < element", "conv2d x=1x4x3x3 weight=2x4x3x3 align=2", "conv2d x=1x4x3x3 weight=2x4x3x3 align=4"},
        Shown{"align = element", "conv2d x=1x4x3x3 weight=2x4x3x3 align=4", "conv2d x=1x4x3x3 weight=2x4x3x3 align=2"},
        Shown{"align > element", "conv2d x=1x4x3x3 weight=2x4x3x3", "conv2d x=1x4x3x3 weight=2x4x3x3 align=4"},
        Shown{"data int", "conv2d x=1x4x3x3 weight=2x4x3x3 data=int", "conv2d x=1x4x3x3 weight=2x4x3x3"}));

TEST(Relations, OfAProblemThatDoesNotFitAreNone) {
  EXPECT_TRUE(relations_of("conv2d x=1x4x3x3 weight=2x4x5x5").empty());
}

// Each special value in some data, and in none that are normal.
TEST(Relations, SpecialValuesAreLookedUpInTheData) {
  std::set<std::string_view> seen;
  for (int seed = 0; seed < 40; ++seed)
    for (const std::string_view relation :
         relations_of("conv2d x=1x4x9x9 weight=2x4x3x3 data=special seed=" + std::to_string(seed)))
      seen.insert(relation);
  const auto normal = relations_of("conv2d x=1x4x9x9 weight=2x4x3x3");
  for (const char* value :
       {"value +0", "value -0", "value +inf", "value -inf", "value NaN", "value subnormal", "value largest finite"}) {
    EXPECT_THAT(seen, Contains(value));
    EXPECT_THAT(normal, Not(Contains(value)));
  }
}

TEST(Relations, EveryOneIsInOneOfAHundredRandomProblems) {
  for (const Op op : {Op::conv2d, Op::conv_transpose2d}) {
    constexpr std::uint64_t problems = 10'000;
    std::map<std::string_view, std::uint64_t> counts;
    for (std::uint64_t index = 0; index < problems; ++index)
      for (const std::string_view relation : relations(random_problem(op, 5, index))) ++counts[relation];
    for (const std::string_view relation : relation_names(op)) {
      EXPECT_GE(counts[relation], problems / 100) << name_of(op) << ": " << relation;
      RecordProperty(std::string(name_of(op)) + " " + std::string(relation), static_cast<int>(counts[relation]));
    }
    EXPECT_EQ(counts.size(), relation_names(op).size());
  }
}

}  // namespace
}  // namespace convoke::problem

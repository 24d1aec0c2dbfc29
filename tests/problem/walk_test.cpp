// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/walk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace convoke::problem {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

std::vector<std::pair<std::int64_t, std::int64_t>> places(const Dims& shape, const Walk& layouts) {
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  walk(shape, layouts, [&](std::int64_t first, std::int64_t second) { seen.emplace_back(first, second); });
  return seen;
}

TEST(Walk, VisitsBothLayoutsInRowMajorOrder) {
  EXPECT_THAT(places({2, 2}, {{-1, 10}, {2, 1}, 5, 100}),
              ElementsAre(Pair(5, 100), Pair(15, 101), Pair(4, 102), Pair(14, 103)));
}

TEST(Walk, RankZeroIsOneElementAndSizeZeroIsNone) {
  EXPECT_THAT(places({}, {{}, {}, 3, 4}), ElementsAre(Pair(3, 4)));
  EXPECT_THAT(places({3, 0}, {{1, 1}, {1, 1}, 0, 0}), ElementsAre());
}

TEST(Walk, DistinctShapeVisitsARepeatedAxisOnce) {
  TensorSpec spec = TensorSpec::dense(DType::f32, {2, 3, 0});
  spec.strides = {0, 1, 0};
  EXPECT_EQ(distinct_shape(spec), (Dims{1, 3, 0}));
}

}  // namespace
}  // namespace convoke::problem

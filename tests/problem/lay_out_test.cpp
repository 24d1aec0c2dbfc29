// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/layout.hpp"
#include "problem/workload.hpp"

namespace convoke::problem {
namespace {

TensorSpec laid_out(const Dims& shape, LayoutKind kind, std::uint64_t seed = 0) {
  return lay_out(DType::f32, shape, kind, 4, seed);
}

bool is_dense_order(const Dims& strides) { return strides == Dims{60, 20, 5, 1} || strides == Dims{60, 1, 15, 3}; }

TEST(LayOut, BuildsEachKind) {
  const Dims shape = {2, 3, 4, 5};
  EXPECT_EQ(laid_out(shape, LayoutKind::dense).strides, (Dims{60, 20, 5, 1}));
  EXPECT_EQ(laid_out(shape, LayoutKind::channels_last).strides, (Dims{60, 1, 15, 3}));
  EXPECT_EQ(laid_out(shape, LayoutKind::sliced).strides, (Dims{240, 80, 20, 2}));
  EXPECT_EQ(laid_out(shape, LayoutKind::flipped).strides, (Dims{60, 20, -5, -1}));
  EXPECT_EQ(laid_out(shape, LayoutKind::flipped).offset, 19);
  EXPECT_EQ(laid_out(shape, LayoutKind::offset).strides, (Dims{60, 20, 5, 1}));
  EXPECT_EQ(laid_out(shape, LayoutKind::offset).offset, 13);
  EXPECT_EQ(laid_out(shape, LayoutKind::dense).align, 4u);
}

TEST(LayOut, PermutedTakesEveryOtherOrder) {
  std::set<std::vector<std::int64_t>> orders;
  for (std::uint64_t seed = 0; seed < 22; ++seed) {
    const TensorSpec spec = laid_out({2, 3, 4, 5}, LayoutKind::permuted, seed);
    EXPECT_FALSE(is_dense_order(spec.strides));
    EXPECT_FALSE(overlaps_itself(spec));
    EXPECT_EQ(bytes_of(spec), 120u * 4);
    orders.insert(std::vector<std::int64_t>(spec.strides.begin(), spec.strides.end()));
  }
  EXPECT_EQ(orders.size(), 22u);
}

TEST(LayOut, ExpandedRepeatsAnAxisThatHasSomethingToRepeat) {
  std::set<int> axes;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const TensorSpec spec = laid_out({1, 3, 4, 5}, LayoutKind::expanded, seed);
    int axis = 0;
    while (spec.strides[axis] != 0) ++axis;
    EXPECT_GT(spec.shape[axis], 1);
    EXPECT_TRUE(overlaps_itself(spec));
    axes.insert(axis);
  }
  EXPECT_EQ(axes.size(), 3u);
}

TEST(LayOut, UnitAxesGetOddStrides) {
  for (const LayoutKind kind : {LayoutKind::sliced, LayoutKind::permuted}) {
    const TensorSpec spec = laid_out({1, 1, 4, 5}, kind);
    EXPECT_EQ(spec.strides[0], 1009);
    EXPECT_EQ(spec.strides[1], 1011);
  }
}

TEST(LayOut, EveryKindIsValidAndStartsAtTheBuffer) {
  for (const Dims& shape : {Dims{2, 3, 4, 5}, Dims{1, 1, 1, 1}, Dims{0, 3, 4, 5}, Dims{2, 3, 0, 5}, Dims{3, 1, 1, 7}})
    for (int kind = 0; kind < layout_kinds; ++kind) {
      const TensorSpec spec = laid_out(shape, static_cast<LayoutKind>(kind), 5);
      EXPECT_TRUE(check_layout(spec, bytes_of(spec), "x")) << name_of(static_cast<LayoutKind>(kind));
      const auto range = touched(spec);
      EXPECT_EQ(range.has_value(), element_count(shape) != 0);
      EXPECT_EQ(range.value_or(ElementRange{spec.offset, 0}).first,
                static_cast<LayoutKind>(kind) == LayoutKind::offset ? 13 : 0);
    }
}

TEST(LayOut, ShapesBeyondMemoryDoNotOverflow) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  for (int kind = 0; kind < layout_kinds; ++kind)
    EXPECT_EQ(laid_out({0, huge, huge, 1}, static_cast<LayoutKind>(kind)).offset, 0);
}

}  // namespace
}  // namespace convoke::problem

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/tensor.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace convoke {
namespace {

TEST(Tensor, KnowsItsTypes) {
  EXPECT_EQ(size_of(DType::f32), 4u);
  EXPECT_EQ(size_of(DType::f64), 8u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::f16), 2u);
  EXPECT_EQ(name_of(DType::f32), "f32");
  EXPECT_EQ(name_of(DType::f64), "f64");
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_EQ(name_of(DType::f16), "f16");
}

TEST(Tensor, LaysDenseTensorsRowByRow) {
  EXPECT_EQ(dense_strides({2, 3, 4, 5}), (Dims{60, 20, 5, 1}));
  EXPECT_EQ(dense_strides({}), Dims{});
  EXPECT_EQ(dense_strides({2, 1, 3}), (Dims{3, 3, 1}));
  EXPECT_EQ(dense_strides({2, 0, 3}), (Dims{3, 3, 1}));
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(dense_strides({2, largest, 3}), (Dims{largest, 3, 1}));
  EXPECT_EQ(TensorSpec::dense(DType::f16, {2, 3}).strides, (Dims{3, 1}));
}

TEST(Dims, StopsAtItsLargestRank) {
  Dims dims = Dims::filled(6, 2);
  dims.push_back(3);
  EXPECT_EQ(dims, (Dims{2, 2, 2, 2, 2, 2}));
  EXPECT_NE(dims, (Dims{2, 2, 2, 2, 2}));
}

}  // namespace
}  // namespace convoke

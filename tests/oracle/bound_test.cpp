// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/bound.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace convoke::oracle {
namespace {

constexpr double slight = 1 + 0x1p-40;

TEST(Bound, KnowsTheFormats) {
  // Unit roundoff: half the distance from 1 to the next number. Eta: half the smallest number above 0.
  EXPECT_EQ(std::ldexp(2, precision_of(DType::f32).unit_exponent), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(std::ldexp(2, precision_of(DType::f64).unit_exponent), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(std::ldexp(1, precision_of(DType::f32).eta_exponent + 1), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(std::ldexp(1, precision_of(DType::f64).eta_exponent + 1), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(precision_of(DType::f32).overflow_exponent, std::numeric_limits<float>::max_exponent);
  EXPECT_EQ(precision_of(DType::f64).overflow_exponent, std::numeric_limits<double>::max_exponent);
  EXPECT_EQ(std::ldexp(1, precision_of(DType::f16).unit_exponent), 1.0 / 2048);
  EXPECT_EQ(std::ldexp(1, precision_of(DType::bf16).unit_exponent), 1.0 / 256);
  EXPECT_EQ(precision_of(DType::f16).eta_exponent + 1, -24);
  EXPECT_EQ(precision_of(DType::bf16).eta_exponent + 1, -133);
}

TEST(Bound, FollowsTheFormula) {
  const BoundTerms f32 = {DType::f32, DType::f32, 10};
  const double nu = 10 * 0x1p-24;
  const double want = nu / (1 - nu) * 3 + 10 * 0x1p-150;
  EXPECT_GE(sum_bound(f32, 3, 0), want);
  EXPECT_LE(sum_bound(f32, 3, 0), want * slight);
  EXPECT_EQ(output_bound(f32, 3, 2, 0), sum_bound(f32, 3, 0));  // nothing is narrowed
  const BoundTerms f16 = {DType::f32, DType::f16, 10};
  const double narrowed = want + 0x1p-11 * (2 + want) + 0x1p-25;
  EXPECT_GE(output_bound(f16, 3, 2, 0), narrowed);
  EXPECT_LE(output_bound(f16, 3, 2, 0), narrowed * slight);
}

TEST(Bound, ScalesWhatItIsGiven) {
  const BoundTerms f64 = {DType::f64, DType::f64, 7};
  // Sums of a few smallest subnormals: only the scale makes half a subnormal a number.
  const double want = 7 * 0x1p-53 * 3 + 7 * 0.5;
  EXPECT_NEAR(sum_bound(f64, 3, 1074), want, 1e-9);
  EXPECT_GE(sum_bound(f64, 3, 1074), want);
}

TEST(Bound, HasAnEnd) {
  EXPECT_EQ(sum_bound({DType::f32, DType::f32, 1 << 24}, 1, 0), std::numeric_limits<double>::infinity());
  EXPECT_LT(sum_bound({DType::f32, DType::f32, (1 << 24) - 1}, 1, 0), 0x1p25);
  EXPECT_EQ(sum_bound({DType::bf16, DType::bf16, 256}, 1, 0), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace convoke::oracle

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/exact_sum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/dtype.hpp"
#include "base/random.hpp"
#include "oracle/soft_fma.hpp"

namespace convoke::oracle {
namespace {

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

double random_double(Random& random, int low_exponent, int high_exponent) {
  const double mantissa = static_cast<double>(random.below(std::uint64_t{1} << 53)) * 0x1p-52;
  const double value = std::ldexp(mantissa, static_cast<int>(random.between(low_exponent, high_exponent)));
  return random.below(2) == 0 ? value : -value;
}

TEST(ExactSum, StartsAtZero) {
  ExactSum sum;
  EXPECT_EQ(sum.sign(), 0);
  EXPECT_EQ(sum.round_to(DType::f64), 0u);
  EXPECT_EQ(sum.magnitude(0), 0);
  sum.add(-0.0);
  sum.add_product(0, -5);
  EXPECT_EQ(sum.sign(), 0);
  EXPECT_EQ(sum.round_to(DType::f32), 0u);
}

// a * b + c has one exact value: rounded once it is the fused multiply-add.
TEST(ExactSum, RoundsAsFmaDoes) {
  Random random(1);
  for (int i = 0; i < 300000; ++i) {
    const bool wide = i % 3 == 0;
    const double a = random_double(random, wide ? -1074 : -60, wide ? 1023 : 60);
    const double b = random_double(random, wide ? -500 : -60, wide ? 20 : 60);
    double c = random_double(random, wide ? -1074 : -120, wide ? 1000 : 120);
    if (i % 5 == 0) c = -std::bit_cast<double>(soft_fma64(bits(a), bits(b), 0));
    if (!std::isfinite(a) || !std::isfinite(c)) continue;
    ExactSum sum;
    sum.add(c);
    sum.add_product(a, b);
    std::uint64_t want = soft_fma64(bits(a), bits(b), bits(c));
    if (want == bits(-0.0) && sum.sign() == 0) want = 0;
    ASSERT_EQ(sum.round_to(DType::f64), want) << i;
    if (sum.sign() == 0) continue;
    const int exponent = sum.exponent();
    if (exponent > -1000 && exponent < 1000) {
      ASSERT_LE(sum.magnitude(0), std::fabs(std::bit_cast<double>(want)) * (1 + 0x1p-52));
      ASSERT_GE(sum.magnitude(0), std::fabs(std::bit_cast<double>(want)) * (1 - 0x1p-52));
      ASSERT_EQ(std::ilogb(sum.magnitude(0)), exponent);
      ASSERT_EQ(sum.magnitude(7), sum.magnitude(0) * 128);
    }
  }
}

TEST(ExactSum, CoversTheWholeRange) {
  constexpr double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  ExactSum sum;
  sum.add_product(most, most);
  sum.add_product(least, -least);
  sum.add(1);
  sum.add_product(-most, most);
  EXPECT_EQ(sum.round_to(DType::f64), bits(1.0));  // 1 - 2^-2148 rounds to 1
  sum.add(-1);
  EXPECT_EQ(sum.sign(), -1);
  EXPECT_EQ(sum.exponent(), -2148);
  EXPECT_EQ(sum.magnitude(2148), 1);
  EXPECT_EQ(sum.round_to(DType::f64), bits(-0.0));
  sum.add_product(least, least);
  EXPECT_EQ(sum.sign(), 0);
  for (int i = 0; i < 1000; ++i) sum.add_product(most, -most);
  EXPECT_EQ(sum.exponent(), 2048 + 9);
  EXPECT_EQ(sum.round_to(DType::f64), bits(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(sum.magnitude(0), std::numeric_limits<double>::infinity());
}

// Adding a list and then its negatives in another order leaves nothing, however the signs go on the way.
TEST(ExactSum, ForgetsNothing) {
  Random random(2);
  for (int round = 0; round < 200; ++round) {
    const int span = round % 2 == 0 ? 30 : 900;
    std::vector<std::array<double, 2>> terms(static_cast<std::size_t>(random.between(1, 200)));
    ExactSum sum;
    for (auto& [a, b] : terms) {
      a = random_double(random, -span, span), b = random_double(random, -60, 60);
      sum.add_product(a, b);
      if (random.below(10) == 0) sum.sign();  // settles in between
    }
    sum.add(0x1p-1074);
    for (std::size_t i = terms.size(); i-- > 0;) sum.add_product(-terms[i][0], terms[i][1]);
    ASSERT_EQ(sum.sign(), 1);
    ASSERT_EQ(sum.round_to(DType::f64), 1u);
  }
}

// Doubles are rounded to each type as the definition's own conversion does it.
TEST(ExactSum, RoundsOnceToEveryType) {
  Random random(3);
  for (const DType dtype : all_dtypes)
    for (int i = 0; i < 200000; ++i) {
      double value = random_double(random, -160, 140);
      if (i % 4 == 0) value = random_double(random, -28, 18);
      if (i % 3 == 0) value = value_of_bits(DType::f32, bits_of_value(DType::f32, value));  // ties in the halves
      ExactSum sum;
      sum.add(value);
      const std::uint64_t want = value == 0 ? 0 : bits_of_value(dtype, value);
      ASSERT_EQ(sum.round_to(dtype), want) << value;
      // A tie with the smallest crumb beside it is no tie.
      if (dtype == DType::f64 || value == 0) continue;
      sum.add_product(value > 0 ? 0x1p-1000 : -0x1p-1000, 0x1p-1000);
      ASSERT_EQ(sum.round_to(dtype), bits_of_value(dtype, std::nextafter(value, 2 * value))) << value;
    }
}

TEST(ExactSum, LetsCarriesWait) {
  ExactSum sum;
  const double ones = 0x1p53 - 1;
  for (int i = 0; i < (1 << 22); ++i) sum.add_product(ones, ones);
  // 2^22 (2^53 - 1)^2 = 2^128 - 2^76 + 2^22
  sum.add_product(-0x1p64, 0x1p64);
  EXPECT_EQ(sum.round_to(DType::f64), bits(-0x1p76));  // 2^22 is under half a unit here
  sum.add(0x1p76);
  EXPECT_EQ(sum.round_to(DType::f64), bits(0x1p22));
}

}  // namespace
}  // namespace convoke::oracle

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/exact.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "definition.hpp"
#include "oracle/law.hpp"

namespace convoke::oracle {
namespace {

// Small integers: every sum is exact, so law, exact sum and plain integer arithmetic give one answer.
TEST(Exact, IsTheIntegerSumAndTheLaw) {
  Random random(1);
  for (const DType dtype : all_dtypes)
    for (int i = 0; i < 400; ++i) {
      Sample sample = Sample::random_one(random, dtype, Data::integers);
      const Request request = sample.request();
      for (std::int64_t number = 0; number < output_count(sample.geometry); ++number) {
        const At at = at_index(sample.geometry, number);
        double sum = sample.has_bias ? value_of_bits(dtype, sample.bias.bits(at.co)) : 0;
        defined_taps(sample, at, [&](std::uint64_t x, std::uint64_t weight) {
          sum += value_of_bits(dtype, x) * value_of_bits(dtype, weight);
        });
        ASSERT_EQ(exact_output(request, at), bits_of_value(dtype, sum)) << i << ' ' << number;
        ASSERT_EQ(exact_output(request, at), law_output(request, at));
      }
    }
}

TEST(Exact, AcceptsTheLawAndRefusesWhatIsFartherOff) {
  Random random(2);
  int bounded = 0, caught = 0;
  for (const DType dtype : all_dtypes)
    for (int i = 0; i < 600; ++i) {
      Sample sample = Sample::random_one(random, dtype, i % 3 == 0 ? Data::special : Data::normal);
      const Request request = sample.request();
      for (std::int64_t number = 0; number < output_count(sample.geometry); number += 3) {
        const At at = at_index(sample.geometry, number);
        const std::uint64_t law = law_output(request, at);
        const ExactVerdict verdict = judge_output(request, at, law);
        ASSERT_TRUE(verdict.within) << i << ' ' << number << ' ' << verdict.error << ' ' << verdict.bound;
        if (verdict.how == Verifiable::by_class) continue;
        ++bounded;
        ASSERT_LE(verdict.error_over_bound, 1);
        ASSERT_EQ(verdict.rounded, exact_output(request, at));
        // Twice the bound away, and one number more for the rounding to the dtype, is too far.
        const double value = value_of_bits(dtype, law);
        const std::uint64_t far = bits_of_value(dtype, value + std::copysign(2 * verdict.bound, value)) + 1;
        if (is_nan_bits(dtype, far) || value == 0) continue;
        ASSERT_FALSE(judge_output(request, at, far).within) << value << ' ' << verdict.bound;
        ++caught;
      }
    }
  EXPECT_GT(bounded, 5000);
  EXPECT_GT(caught, 3000);
}

/// One output of `terms` 1x1 channels.
Sample dot(DType dtype, std::initializer_list<double> x, std::initializer_list<double> weight) {
  Sample sample;
  const auto n = static_cast<std::int64_t>(x.size());
  sample.x = Owned::dense(dtype, {1, n, 1, 1}, x);
  sample.weight = Owned::dense(dtype, {1, n, 1, 1}, weight);
  sample.geometry = *make_geometry(Op::conv2d, {1, n, 1, 1}, {1, n, 1, 1}, std::nullopt, {});
  return sample;
}

TEST(Exact, MeasuresErrorAndBound) {
  // 1 + 2^-30 - 1: f32 loses the crumb, and may.
  Sample sample = dot(DType::f32, {1, 0x1p-30, -1}, {1, 1, 1});
  const ExactVerdict zero = judge_output(sample.request(), {}, 0);
  EXPECT_EQ(zero.how, Verifiable::by_bound);
  EXPECT_TRUE(zero.within);
  EXPECT_EQ(zero.error, 0x1p-30);
  const double nu = 3 * 0x1p-24;
  EXPECT_NEAR(zero.bound, nu / (1 - nu) * (2 + 0x1p-30), 1e-15);
  EXPECT_EQ(zero.rounded, bits_of_value(DType::f32, 0x1p-30));
  EXPECT_EQ(zero.error_over_bound, zero.error / zero.bound);
  // The same sum kept in f64 may not lose it.
  const BoundClaim wide = {DType::f64, std::nullopt};
  EXPECT_FALSE(judge_output(sample.request(), {}, bits_of_value(DType::f32, 0x1.1p-30), wide).within);
  EXPECT_TRUE(judge_output(sample.request(), {}, bits_of_value(DType::f32, 0x1p-30), wide).within);
  // A claim of more terms has a wider bound.
  EXPECT_NEAR(judge_output(sample.request(), {}, 0, {std::nullopt, 300}).bound / zero.bound, 100, 0.01);
}

TEST(Exact, JudgesTheSmallestNumbers) {
  const double least = 0x1p-1074;
  Sample sample = dot(DType::f64, {least, least}, {0.5, 0.25});
  // 0.75 of the smallest number, two terms: off by up to a whole smallest number and a little.
  EXPECT_TRUE(judge_output(sample.request(), {}, 0).within);
  EXPECT_TRUE(judge_output(sample.request(), {}, 1).within);
  EXPECT_FALSE(judge_output(sample.request(), {}, 2).within);
  EXPECT_FALSE(judge_output(sample.request(), {}, std::bit_cast<std::uint64_t>(1e-300)).within);
  Sample half = dot(DType::f16, {0x1p-24}, {0.5});
  EXPECT_TRUE(judge_output(half.request(), {}, 0).within);
  EXPECT_TRUE(judge_output(half.request(), {}, 1).within);
  EXPECT_FALSE(judge_output(half.request(), {}, 2).within);
}

TEST(Exact, LeavesOverflowAndSpecialsToTheClass) {
  const auto how = [](DType dtype, std::initializer_list<double> x, std::initializer_list<double> weight) {
    Sample sample = dot(dtype, x, weight);
    return judge_output(sample.request(), {}, 0).how;
  };
  EXPECT_EQ(how(DType::f32, {0x1p127, -0x1p127}, {1, 1}), Verifiable::by_class);  // in one order it might
  EXPECT_EQ(how(DType::f32, {0x1p126, -0x1p126}, {1, 1}), Verifiable::by_bound);
  EXPECT_EQ(how(DType::f64, {0x1p1000, 1}, {0x1p100, 1}), Verifiable::by_class);
  EXPECT_EQ(how(DType::f16, {60000, 60000, -60000, -60000}, {1, 1, 1, 1}), Verifiable::by_bound);
  EXPECT_EQ(how(DType::f16, {60000, 60000}, {1, 1}), Verifiable::by_class);  // f32 holds it, f16 does not
  EXPECT_EQ(how(DType::bf16, {0x1p120}, {1}), Verifiable::by_bound);
  EXPECT_EQ(how(DType::f32, {infinity, 0}, {1, 1}), Verifiable::by_class);
  EXPECT_EQ(how(DType::f32, {1, 0}, {1, std::nan("")}), Verifiable::by_class);
  Sample sample = dot(DType::f32, {1, 2}, {1, infinity});
  EXPECT_EQ(exact_output(sample.request(), {}), std::nullopt);
  Sample finite = dot(DType::f32, {1}, {1});
  EXPECT_FALSE(judge_output(finite.request(), {}, canonical_nan(DType::f32)).within);
  EXPECT_FALSE(judge_output(finite.request(), {}, bits_of_value(DType::f32, infinity)).within);
}

TEST(Exact, SignsZeroAsAnyOrderOfTheSumDoes) {
  Sample sample = dot(DType::f32, {-1, 0}, {0, -3});
  EXPECT_EQ(exact_output(sample.request(), {}), 0u);
  sample.bias = Owned::dense(DType::f32, {1}, {-0.0});
  sample.has_bias = true;
  EXPECT_EQ(exact_output(sample.request(), {}), 0x80000000u);
  EXPECT_EQ(law_output(sample.request(), {}), 0x80000000u);
  Sample cancelled = dot(DType::f32, {-1, 1}, {2, 2});
  cancelled.bias = sample.bias;
  cancelled.has_bias = true;
  EXPECT_EQ(exact_output(cancelled.request(), {}), 0u);
}

}  // namespace
}  // namespace convoke::oracle

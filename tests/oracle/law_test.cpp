// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/law.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "definition.hpp"

namespace convoke::oracle {
namespace {

TEST(Law, WidensEveryHalfExactly) {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      const double value = value_of_bits(dtype, bits);
      ASSERT_EQ(law_widen(dtype, bits), bits_of_value(DType::f32, value)) << bits;
    }
  EXPECT_EQ(law_widen(DType::f32, 0x80000001u), 0x80000001u);
}

TEST(Law, NarrowsOnceToNearestEven) {
  Random random(1);
  for (const DType dtype : {DType::bf16, DType::f16})
    for (int i = 0; i < 3'000'000; ++i) {
      auto bits = static_cast<std::uint32_t>(random.next());
      if (i % 2 == 0) bits &= ~0u << random.below(24);  // ties
      if (i % 3 == 0)
        bits = (bits & 0x807fffffu) | static_cast<std::uint32_t>(random.between(95, 145)) << 23;  // f16's range
      if (i % 5 == 0) bits &= 0x80ffffffu;                                                        // subnormals
      ASSERT_EQ(law_narrow(dtype, bits), bits_of_value(dtype, std::bit_cast<float>(bits))) << bits;
    }
  EXPECT_EQ(law_narrow(DType::f32, 0xffc00001u), 0x7fc00000u);
  EXPECT_EQ(law_narrow(DType::f32, 0x80000001u), 0x80000001u);
}

std::uint64_t chain_in_f64(Sample& sample, const At& at) {
  double acc = sample.has_bias ? value_of_bits(DType::f64, sample.bias.bits(at.co)) : 0.0;
  defined_taps(sample, at, [&](std::uint64_t x, std::uint64_t weight) {
    acc = std::fma(std::bit_cast<double>(x), std::bit_cast<double>(weight), acc);
  });
  return bits_of_value(DType::f64, acc);
}

std::uint64_t chain_in_f32(Sample& sample, const At& at, DType dtype) {
  const auto value = [dtype](std::uint64_t bits) { return static_cast<float>(value_of_bits(dtype, bits)); };
  float acc = sample.has_bias ? value(sample.bias.bits(at.co)) : 0.0f;
  defined_taps(sample, at,
               [&](std::uint64_t x, std::uint64_t weight) { acc = std::fma(value(x), value(weight), acc); });
  return bits_of_value(dtype, acc);
}

TEST(Law, IsTheChainOfTheDefinition) {
  Random random(2);
  for (const DType dtype : all_dtypes)
    for (int i = 0; i < 900; ++i) {
      Sample sample = Sample::random_one(random, dtype, static_cast<Data>(i % 3));
      const Request request = sample.request();
      for (std::int64_t number = 0; number < output_count(sample.geometry); ++number) {
        const At at = at_index(sample.geometry, number);
        const std::uint64_t want = dtype == DType::f64 ? chain_in_f64(sample, at) : chain_in_f32(sample, at, dtype);
        ASSERT_EQ(law_output(request, at), want) << i << ' ' << number;
      }
    }
}

/// Bits of every output of one 1-channel request, as values.
std::vector<double> outputs(Op op, DType dtype, Owned x, Owned weight, std::optional<double> bias,
                            const ConvParams& params) {
  Sample sample;
  sample.geometry = *make_geometry(op, x.spec.shape, weight.spec.shape, std::nullopt, params);
  sample.x = std::move(x), sample.weight = std::move(weight);
  sample.has_bias = bias.has_value();
  sample.bias = Owned::dense(dtype, {1}, {bias.value_or(0)});
  std::vector<double> values;
  for (std::int64_t i = 0; i < output_count(sample.geometry); ++i)
    values.push_back(value_of_bits(dtype, law_output(sample.request(), at_index(sample.geometry, i))));
  return values;
}

TEST(Law, SkipsAbsentTapsWhateverTheWeight) {
  for (const DType dtype : all_dtypes) {
    const ConvParams padded = {1, 1, 1, 0, 1};
    const auto found = outputs(Op::conv2d, dtype, Owned::dense(dtype, {1, 1, 2, 2}, {1, 1, 1, 1}),
                               Owned::dense(dtype, {1, 1, 3, 3}, {infinity, 1, 1, 1, 1, 1, 1, 1, 1}), {}, padded);
    EXPECT_EQ(found, (std::vector<double>{4, 4, 4, infinity}));
  }
}

TEST(Law, CountsPresentZeros) {
  for (const DType dtype : all_dtypes) {
    const auto found = outputs(Op::conv_transpose2d, dtype, Owned::dense(dtype, {1, 1, 1, 1}, {0}),
                               Owned::dense(dtype, {1, 1, 1, 1}, {infinity}), {}, {});
    EXPECT_TRUE(std::isnan(found[0]));
  }
}

TEST(Law, LeavesTheBiasWhereNoTapReaches) {
  for (const DType dtype : all_dtypes) {
    ConvParams up;
    up.stride = 2;
    const auto found = outputs(Op::conv_transpose2d, dtype, Owned::dense(dtype, {1, 1, 1, 2}, {1, 1}),
                               Owned::dense(dtype, {1, 1, 1, 1}, {1}), -0.0, up);
    EXPECT_EQ(found, (std::vector<double>{1, 0, 1}));
    EXPECT_TRUE(std::signbit(found[1]));
  }
}

TEST(Law, SumsHalvesInF32) {
  const auto found =
      outputs(Op::conv2d, DType::f16, Owned::dense(DType::f16, {1, 4, 1, 1}, {60000, 60000, -60000, -60000}),
              Owned::dense(DType::f16, {1, 4, 1, 1}, {1, 1, 1, 1}), {}, {});
  EXPECT_EQ(found, (std::vector<double>{0}));
}

TEST(Law, RunsInF64WhereThatIsTheAccumulator) {
  Random random(3);
  for (const DType dtype : all_dtypes) {
    for (int i = 0; i < 300; ++i) {
      Sample sample = Sample::random_one(random, dtype, static_cast<Data>(i % 3));
      const auto value = [dtype](std::uint64_t bits) { return value_of_bits(dtype, bits); };
      for (std::int64_t number = 0; number < output_count(sample.geometry); ++number) {
        const At at = at_index(sample.geometry, number);
        double acc = sample.has_bias ? value(sample.bias.bits(at.co)) : 0.0;
        defined_taps(sample, at,
                     [&](std::uint64_t x, std::uint64_t weight) { acc = std::fma(value(x), value(weight), acc); });
        ASSERT_EQ(law_output(sample.request(), at, DType::f64), bits_of_value(dtype, acc)) << i << ' ' << number;
      }
    }
  }
}

}  // namespace
}  // namespace convoke::oracle

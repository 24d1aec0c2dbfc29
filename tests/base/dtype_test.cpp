// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/dtype.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.hpp"

namespace convoke {
namespace {

TEST(DType, HasNamesAndTokens) {
  EXPECT_EQ(token_of(DType::bf16), "BF16");
  for (const DType dtype : all_dtypes) {
    EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
    EXPECT_EQ(parse_dtype(token_of(dtype)), dtype);
  }
  for (const char* text : {"", "f3", "Bf16", "f321", " f32", "i32"}) EXPECT_EQ(parse_dtype(text), std::nullopt) << text;
}

TEST(DType, SumsHalvesInF32) {
  EXPECT_EQ(accumulator_of(DType::f64), DType::f64);
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) EXPECT_EQ(accumulator_of(dtype), DType::f32);
}

TEST(DType, LoadsAndStoresUnaligned) {
  for (const DType dtype : all_dtypes) {
    std::array<unsigned char, 17> memory{};
    const std::uint64_t bits = 0x8899aabbccddeeffu & (~std::uint64_t{0} >> (64 - 8 * size_of(dtype)));
    store_bits(memory.data() + 3, dtype, bits | (dtype == DType::f64 ? 0 : std::uint64_t{1} << 63));
    EXPECT_EQ(load_bits(memory.data() + 3, dtype), bits);
    EXPECT_EQ(memory[2], 0);
    EXPECT_EQ(memory[3 + size_of(dtype)], 0);
  }
}

TEST(DType, RoundTripsEveryHalf) {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (std::uint64_t bits = 0; bits < 65536; ++bits) {
      const double value = value_of_bits(dtype, bits);
      ASSERT_EQ(std::isnan(value), is_nan_bits(dtype, bits));
      ASSERT_EQ(bits_of_value(dtype, value), canonical_bits(dtype, bits));
    }
}

/// The value of a binary format's bits, from the definition.
double defined_value(int mantissa_bits, int exponent_bits, std::uint64_t bits) {
  const auto mantissa = static_cast<double>(bits & ((std::uint64_t{1} << mantissa_bits) - 1));
  const int field = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const double sign = (bits >> (mantissa_bits + exponent_bits) & 1) != 0 ? -1 : 1;
  if (field == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + std::ldexp(1.0, mantissa_bits), field - bias - mantissa_bits);
}

TEST(DType, GivesTheDefinedValues) {
  for (std::uint64_t bits = 0; bits < 65536; ++bits) {
    if ((bits & 0x7c00) != 0x7c00) {
      ASSERT_EQ(value_of_bits(DType::f16, bits), defined_value(10, 5, bits));
    }
    if ((bits & 0x7f80) != 0x7f80) {
      ASSERT_EQ(value_of_bits(DType::bf16, bits), defined_value(7, 8, bits));
    }
  }
  EXPECT_EQ(value_of_bits(DType::f32, 0x3f800001), 1 + 0x1p-23);
  EXPECT_EQ(value_of_bits(DType::f64, 0x3ff0000000000001), 1 + 0x1p-52);
}

// Between two neighbours: the middle goes to the even one, anything beside the middle to the nearer one.
TEST(DType, RoundsToNearestTiesToEven) {
  for (const DType dtype : {DType::bf16, DType::f16})
    for (std::uint64_t low = 0; low + 1 < canonical_nan(dtype) && !is_nan_bits(dtype, low + 2); ++low) {
      const double a = value_of_bits(dtype, low);
      double b = value_of_bits(dtype, low + 1);
      if (std::isinf(b)) b = a + (a - value_of_bits(dtype, low - 1));  // where the next number would be
      const double middle = a + (b - a) / 2;
      const std::uint64_t sign = std::uint64_t{1} << 15;
      ASSERT_EQ(bits_of_value(dtype, middle), low + (low & 1)) << low;
      ASSERT_EQ(bits_of_value(dtype, std::nextafter(middle, 0)), low) << low;
      ASSERT_EQ(bits_of_value(dtype, -std::nextafter(middle, 2 * b)), sign | (low + 1)) << low;
    }
}

TEST(DType, RoundsToF32AsTheProcessorDoes) {
  Random random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    std::uint64_t bits = random.next();
    // Half of them near and below f32's range, where subnormals and overflow are.
    if (i % 2 == 0) bits = (bits & 0x800fffffffffffffu) | (random.below(300) + 860) << 52;
    const auto value = std::bit_cast<double>(bits);
    if (std::isnan(value)) continue;
    const auto want = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    ASSERT_EQ(bits_of_value(DType::f32, value), want) << value;
  }
}

TEST(DType, KeepsSignsAndSpecials) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(bits_of_value(DType::f16, -0.0), 0x8000u);
  EXPECT_EQ(bits_of_value(DType::f16, -infinity), 0xfc00u);
  EXPECT_EQ(bits_of_value(DType::f32, 1e300), 0x7f800000u);
  EXPECT_EQ(bits_of_value(DType::f32, -1e-300), 0x80000000u);
  EXPECT_EQ(bits_of_value(DType::f32, -5e-324), 0x80000000u);
  EXPECT_EQ(bits_of_value(DType::f64, -5e-324), 0x8000000000000001u);
  EXPECT_EQ(bits_of_value(DType::f16, 65519.99), 0x7bffu);
  EXPECT_EQ(bits_of_value(DType::f16, 65520), 0x7c00u);
}

TEST(DType, MakesNaNsCanonical) {
  EXPECT_EQ(canonical_nan(DType::f32), 0x7fc00000u);
  EXPECT_EQ(canonical_nan(DType::f64), 0x7ff8000000000000u);
  EXPECT_EQ(canonical_nan(DType::bf16), 0x7fc0u);
  EXPECT_EQ(canonical_nan(DType::f16), 0x7e00u);
  EXPECT_EQ(canonical_bits(DType::f32, 0xff800001), 0x7fc00000u);
  EXPECT_EQ(canonical_bits(DType::f32, 0xff800000), 0xff800000u);
  EXPECT_EQ(canonical_bits(DType::f64, 0xfff0000000000001), 0x7ff8000000000000u);
  for (const DType dtype : all_dtypes)
    EXPECT_EQ(bits_of_value(dtype, -std::numeric_limits<double>::quiet_NaN()), canonical_nan(dtype));
}

}  // namespace
}  // namespace convoke

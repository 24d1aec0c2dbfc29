// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/dtype.hpp"
#include "problem/buffer.hpp"

namespace convoke::problem {
namespace {

constexpr std::uint64_t many = 20'000;

TEST(Values, SmallIntegersAreIntegersAndTheirSumsExact) {
  for (const DType dtype : all_dtypes)
    for (const std::int64_t terms : {1, 2, 10, 64, 577, 20'000}) {
      const Values x(dtype, DataKind::integer, 1, Operand::x, terms);
      double largest = 0, lowest = 0;
      for (std::uint64_t i = 0; i < many; ++i) {
        const double value = value_of_bits(dtype, x.bits(i));
        EXPECT_EQ(value, std::trunc(value));
        EXPECT_FALSE(value == 0 && std::signbit(value));
        largest = std::max(largest, value);
        lowest = std::min(lowest, value);
      }
      EXPECT_GE(largest, 1);
      EXPECT_EQ(lowest, -largest);
      const double exact = dtype == DType::f64   ? 0x1p53
                           : dtype == DType::f32 ? 0x1p24
                           : dtype == DType::f16 ? 2048
                                                 : 256;
      const double sum = largest * largest * static_cast<double>(terms);
      EXPECT_LE(sum, largest > 1 ? exact : 0x1p24) << name_of(dtype) << ' ' << terms;
      if (terms == 2) {
        EXPECT_GE(largest, 11);
      }
    }
}

TEST(Values, NormalOnesAreFiniteAndVaried) {
  for (const DType dtype : all_dtypes) {
    const Values x(dtype, DataKind::normal, 1, Operand::x, 1);
    std::set<int> exponents;
    int negative = 0;
    for (std::uint64_t i = 0; i < many; ++i) {
      const double value = value_of_bits(dtype, x.bits(i));
      ASSERT_GE(std::abs(value), 0x1p-7);
      ASSERT_LT(std::abs(value), 2);
      exponents.insert(std::ilogb(value));
      negative += value < 0;
    }
    EXPECT_EQ(exponents.size(), 8u);
    EXPECT_NEAR(negative, many / 2, 500);
  }
}

TEST(Values, SpecialOnesShowEveryClassAndNoPoison) {
  for (const DType dtype : all_dtypes) {
    std::set<ValueClass> seen;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const Values x(dtype, DataKind::special, seed, Operand::x, 1);
      for (std::uint64_t i = 0; i < 500; ++i) {
        const std::uint64_t bits = x.bits(i);
        seen.insert(class_of(dtype, bits));
        ASSERT_EQ(bits & ~((std::uint64_t{2} << (8 * size_of(dtype) - 1)) - 1), 0u);
        ASSERT_NE(bits & 0x7fff, poison_word);
      }
    }
    EXPECT_EQ(seen.size(), 8u) << name_of(dtype);
  }
}

TEST(Values, ClassesAreThoseOfTheStandard) {
  EXPECT_EQ(class_of(DType::f32, 0), ValueClass::zero);
  EXPECT_EQ(class_of(DType::f32, 0x80000000), ValueClass::negative_zero);
  EXPECT_EQ(class_of(DType::f32, 0x7f800000), ValueClass::infinite);
  EXPECT_EQ(class_of(DType::f32, 0xff800000), ValueClass::negative_infinite);
  EXPECT_EQ(class_of(DType::f32, 0x7f800001), ValueClass::nan);
  EXPECT_EQ(class_of(DType::f32, 0x007fffff), ValueClass::subnormal);
  EXPECT_EQ(class_of(DType::f32, 0x00800000), ValueClass::normal);
  EXPECT_EQ(class_of(DType::f32, 0xff7fffff), ValueClass::huge);
  EXPECT_EQ(class_of(DType::f16, 0x7bff), ValueClass::huge);
  EXPECT_EQ(class_of(DType::bf16, 0x7f7f), ValueClass::huge);
  EXPECT_EQ(class_of(DType::bf16, 0x7f81), ValueClass::nan);
  EXPECT_EQ(class_of(DType::f64, 0x7fefffffffffffff), ValueClass::huge);
  EXPECT_EQ(class_of(DType::f64, 1), ValueClass::subnormal);
}

TEST(Values, DependOnSeedAndOperand) {
  const auto first = [](std::uint64_t seed, Operand operand) {
    return Values(DType::f64, DataKind::normal, seed, operand, 1).bits(0);
  };
  const std::set<std::uint64_t> different = {first(0, Operand::x), first(0, Operand::weight), first(0, Operand::bias),
                                             first(1, Operand::x), first(1, Operand::weight), first(1, Operand::bias)};
  EXPECT_EQ(different.size(), 6u);
}

}  // namespace
}  // namespace convoke::problem

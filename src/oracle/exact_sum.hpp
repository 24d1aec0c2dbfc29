// SPDX-License-Identifier: Apache-2.0 OR MIT
// A sum of products of doubles without any rounding: a fixed-point number so wide that every product of two finite
// doubles is a whole multiple of its last digit (Kulisch's accumulator).
#pragma once

#include <array>
#include <cstdint>

#include "convoke/tensor.hpp"

namespace convoke::oracle {

class ExactSum {
 public:
  /// Adds a * b; both finite.
  void add_product(double a, double b) noexcept;
  /// Adds a; finite.
  void add(double a) noexcept { add_product(a, 1.0); }

  /// -1, 0 or 1.
  int sign() noexcept;
  /// The sum rounded once to `dtype`, to nearest, ties to even; zero is +0, overflow is infinity.
  std::uint64_t round_to(DType dtype) noexcept;
  /// Exponent e with 2^e <= |sum| < 2^(e+1); the sum must not be zero.
  int exponent() noexcept;
  /// |sum| * 2^scale cut to 53 bits: never too large, and too small by less than 2^-52 of itself. Where that is below
  /// the normal doubles it is rounded once more; above them it is infinite.
  double magnitude(int scale) noexcept;

 private:
  // Digit i counts 2^(32 i - 2176). Digits are signed and hold more than 32 bits, so that carries can wait.
  static constexpr int digit_count = 136;
  static constexpr int lowest = -2176;

  std::int64_t& digit(int i) noexcept { return digits_[static_cast<std::size_t>(i)]; }
  std::int64_t digit(int i) const noexcept { return digits_[static_cast<std::size_t>(i)]; }
  /// Carries on, until every digit is of [0, 2^32).
  void settle() noexcept;
  /// Of the settled sum: floor(|sum| / 2^exponent), its low 64 bits.
  std::uint64_t quotient(int exponent) const noexcept;
  /// Of the settled sum: whether it is a multiple of 2^exponent.
  bool divisible(int exponent) const noexcept;

  std::array<std::int64_t, digit_count> digits_{};
  int first_ = digit_count, last_ = -1;  // digits outside [first_, last_] are zero
  int pending_ = 0;                      // additions since the carries were settled
  bool negative_ = false;                // the digits stand for the sum times -1
};

}  // namespace convoke::oracle

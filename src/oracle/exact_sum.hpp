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
  /// |sum| * 2^scale cut to 53 bits: at most 2^-52 of itself too small. The result must be a normal number or zero.
  double magnitude(int scale) noexcept;

 private:
  // Digit i counts 2^(32 i - 2176). Digits are signed and hold more than 32 bits, so that carries can wait.
  static constexpr int digit_count = 136;
  static constexpr int lowest = -2176;
  void settle() noexcept;

  std::array<std::int64_t, digit_count> digits_{};
  int first_ = digit_count, last_ = -1;  // digits outside [first_, last_] are zero
  int pending_ = 0;                      // additions since the carries were settled
  bool negative_ = false;                // of the settled sum, whose digits are the magnitude's
};

}  // namespace convoke::oracle

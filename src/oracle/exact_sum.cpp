// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "oracle/bound.hpp"

namespace convoke::oracle {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr std::int64_t digit_mask = 0xffffffff;

/// |value| = mantissa * 2^exponent. By bits, so that a thread that flushes subnormals changes nothing.
struct Parts {
  bool negative;
  std::uint64_t mantissa;
  int exponent;
};
Parts parts_of(double value) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t fraction = bits & 0xfffffffffffffu;
  return {bits >> 63 != 0, field == 0 ? fraction : fraction | std::uint64_t{1} << 52, std::max(field, 1) - 1075};
}

}  // namespace

void ExactSum::add_product(double a, double b) noexcept {
  const Parts pa = parts_of(a), pb = parts_of(b);
  Uint128 product = Uint128{pa.mantissa} * pb.mantissa;
  if (product == 0) return;
  const int position = pa.exponent + pb.exponent - lowest;
  // At most 106 bits, shifted by at most 31: five digits, always all of them, for a branch on how many would be
  // guessed wrong most of the time. The low digit apart, the rest fits again.
  const int at = position / 32, shift = position % 32;
  const Uint128 rest = product >> (32 - shift);
  const std::int64_t minus = (pa.negative != pb.negative) != negative_ ? -1 : 0;
  const auto add_digit = [&](int i, Uint128 piece) {
    digit(at + i) += ((static_cast<std::int64_t>(piece) & digit_mask) ^ minus) - minus;
  };
  add_digit(0, product << shift);
  for (int i = 1; i < 5; ++i) add_digit(i, rest >> (32 * (i - 1)));
  first_ = std::min(first_, at);
  last_ = std::max(last_, at + 4);
  // A digit gains less than 2^32 at a time and has room for 2^30 of that.
  if (++pending_ == 1 << 20) settle();
}

void ExactSum::settle() noexcept {
  if (pending_ == 0) return;
  pending_ = 0;
  ++last_;  // the carry of the highest digit is one digit at most
  std::int64_t carry = 0;
  for (int i = first_; i <= last_; ++i) {
    const std::int64_t sum = digit(i) + carry;
    digit(i) = sum & digit_mask;
    carry = sum >> 32;  // rounds downwards, so every digit becomes positive
  }
  if (carry < 0) {
    // The digits stand for a negative number's complement. Take its magnitude and remember the sign.
    negative_ = !negative_;
    carry = 1;
    for (int i = first_; i <= last_; ++i) {
      const std::int64_t sum = digit_mask - digit(i) + carry;
      digit(i) = sum & digit_mask;
      carry = sum >> 32;
    }
  }
  while (last_ >= first_ && digit(last_) == 0) --last_;
  if (last_ < first_) *this = ExactSum();
}

int ExactSum::sign() noexcept {
  settle();
  if (last_ < 0) return 0;
  return negative_ ? -1 : 1;
}

int ExactSum::exponent() noexcept {
  settle();
  return lowest + 32 * last_ + 63 - std::countl_zero(static_cast<std::uint64_t>(digit(last_)));
}

std::uint64_t ExactSum::quotient(int exponent) const noexcept {
  const int position = exponent - lowest;
  if (position < 0) return quotient(lowest) << -position;
  const int low = position / 32;
  Uint128 window = 0;
  for (int i = std::min(low + 2, last_); i >= low; --i) window = window << 32 | static_cast<std::uint64_t>(digit(i));
  return static_cast<std::uint64_t>(window >> (position % 32));
}

bool ExactSum::divisible(int exponent) const noexcept {
  const int position = exponent - lowest;
  if (position <= 0) return true;
  const int low = position / 32;
  for (int i = first_; i <= std::min(low - 1, last_); ++i)
    if (digit(i) != 0) return false;
  return low > last_ || (digit(low) & ((std::int64_t{1} << position % 32) - 1)) == 0;
}

std::uint64_t ExactSum::round_to(DType dtype) noexcept {
  if (sign() == 0) return 0;
  const Precision precision = precision_of(dtype);
  const int digits = -precision.unit_exponent;
  const int smallest = precision.eta_exponent + 1;
  // The last digit that is kept: so many below the leading one, but no smaller than the smallest subnormal.
  const int last = std::max(exponent() - (digits - 1), smallest);
  const std::uint64_t kept = quotient(last);
  const bool half = (quotient(last - 1) & 1) != 0;
  const bool up = half && ((kept & 1) != 0 || !divisible(last - 1));
  // Beside the hidden bit that `kept` brings along, the exponent field counts steps above the subnormals.
  const std::uint64_t magnitude = (static_cast<std::uint64_t>(last - smallest) << (digits - 1)) + kept + (up ? 1 : 0);
  const std::uint64_t infinity = static_cast<std::uint64_t>(2 * precision.overflow_exponent - 1) << (digits - 1);
  return std::min(magnitude, infinity) | static_cast<std::uint64_t>(negative_) << (8 * size_of(dtype) - 1);
}

double ExactSum::magnitude(int scale) noexcept {
  if (sign() == 0) return 0;
  const int last = exponent() - 52;
  return std::ldexp(static_cast<double>(quotient(last)), last + scale);
}

}  // namespace convoke::oracle

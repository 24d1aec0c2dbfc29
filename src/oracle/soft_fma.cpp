// SPDX-License-Identifier: Apache-2.0 OR MIT
// Product and addend are brought to one fixed-point window: the larger one's leading bit at `top`, the smaller shifted
// down to it, and what falls off kept as one sticky bit. The window is wide enough for the product without loss, and
// wherever bits do fall off the result keeps so many leading bits that the sticky bit stays below the rounding.
#include "oracle/soft_fma.hpp"

#include <bit>
#include <utility>

namespace convoke::oracle {
namespace {

__extension__ using Uint128 = unsigned __int128;

int leading_zeros(std::uint64_t x) noexcept { return std::countl_zero(x); }
int leading_zeros(Uint128 x) noexcept {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<std::uint64_t>(x));
}

/// x >> shift, the lowest bit set if anything fell off.
template <class Wide>
Wide shift_down(Wide x, int shift) noexcept {
  constexpr int width = 8 * static_cast<int>(sizeof(Wide));
  if (shift == 0) return x;
  if (shift >= width) return static_cast<Wide>(x != 0);
  const Wide lost = x & ((Wide{1} << shift) - 1);
  return x >> shift | static_cast<Wide>(lost != 0);
}

/// IEEE 754 binary format of `Bits` with `digits` bits of mantissa, the hidden one not counted. `Wide` holds a product
/// of two mantissas and 13 bits more.
template <class Bits, class Wide, int digits>
struct Fma {
  static constexpr int width = 8 * static_cast<int>(sizeof(Bits));
  static constexpr int wide_width = 8 * static_cast<int>(sizeof(Wide));
  static constexpr int top = wide_width - 3;  // leading bit of both addends; their sum needs one more
  static constexpr Bits sign_bit = Bits{1} << (width - 1);
  static constexpr Bits infinity = (sign_bit >> digits) - 1 << digits;
  static constexpr Bits nan = infinity | Bits{1} << (digits - 1);
  static constexpr int max_field = (1 << (width - 1 - digits)) - 1;
  static constexpr int bias = max_field / 2;
  static constexpr int lowest = 1 - bias - digits;  // exponent of the smallest subnormal

  /// mantissa * 2^exponent, not zero, leading bit at `top`.
  struct Number {
    bool negative;
    int exponent;
    Wide mantissa;
  };

  static Number normalised(bool negative, int exponent, Wide mantissa) noexcept {
    const int shift = leading_zeros(mantissa) - (wide_width - 1 - top);
    return {negative, exponent - shift, mantissa << shift};
  }

  static int field_of(Bits magnitude) noexcept { return static_cast<int>(magnitude >> digits); }
  static Wide mantissa_of(Bits magnitude) noexcept {
    const Bits fraction = magnitude & ((Bits{1} << digits) - 1);
    return field_of(magnitude) == 0 ? fraction : fraction | Bits{1} << digits;
  }
  static int exponent_of(Bits magnitude) noexcept {
    const int field = field_of(magnitude);
    return lowest + (field == 0 ? 0 : field - 1);
  }

  static Bits rounded(const Number& sum) noexcept {
    // The last kept digit: that of a normal number, or the smallest subnormal if the number is below.
    const int exponent = sum.exponent + top - digits < lowest ? lowest : sum.exponent + top - digits;
    const int shift = exponent - sum.exponent;
    const Wide jammed = shift_down(sum.mantissa, shift - 2);  // two digits more than kept: a half, and what is below it
    const auto kept = static_cast<Bits>(jammed >> 2);
    const auto rest = static_cast<unsigned>(jammed & 3);
    const Bits up = rest > 2 || (rest == 2 && (kept & 1) != 0) ? 1 : 0;
    // The hidden bit of a normal `kept` adds one to the field, and so does a carry out of the mantissa.
    const int field = exponent - lowest;
    if (field >= max_field) return infinity | (sum.negative ? sign_bit : 0);
    const Bits magnitude = (static_cast<Bits>(field) << digits) + kept + up;
    return (magnitude < infinity ? magnitude : infinity) | (sum.negative ? sign_bit : 0);
  }

  static Bits sum_of(Number a, Number b) noexcept {
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa)) std::swap(a, b);
    const Wide low = shift_down(b.mantissa, a.exponent - b.exponent);
    const Wide mantissa = a.negative == b.negative ? a.mantissa + low : a.mantissa - low;
    if (mantissa == 0) return 0;
    return rounded(normalised_sum(a.negative, a.exponent, mantissa));
  }

  /// As normalised, but a sum may have its leading bit one above `top`.
  static Number normalised_sum(bool negative, int exponent, Wide mantissa) noexcept {
    if (mantissa >> (top + 1) != 0) return {negative, exponent + 1, shift_down(mantissa, 1)};
    return normalised(negative, exponent, mantissa);
  }

  static Bits fma(Bits a, Bits b, Bits c) noexcept {
    const Bits size_a = a & ~sign_bit, size_b = b & ~sign_bit, size_c = c & ~sign_bit;
    const bool negative = ((a ^ b) & sign_bit) != 0, negative_c = (c & sign_bit) != 0;
    if (size_a >= infinity || size_b >= infinity || size_c >= infinity) return special(a, b, c);
    if (size_a == 0 || size_b == 0) {
      if (size_c != 0) return c;
      return negative && negative_c ? sign_bit : 0;  // zeros of both signs add up to +0
    }
    const Number product = normalised(negative, exponent_of(size_a) + exponent_of(size_b),
                                      static_cast<Wide>(mantissa_of(size_a) * mantissa_of(size_b)));
    if (size_c == 0) return rounded(product);
    return sum_of(product, normalised(negative_c, exponent_of(size_c), mantissa_of(size_c)));
  }

  /// At least one operand is infinite or a NaN.
  static Bits special(Bits a, Bits b, Bits c) noexcept {
    const Bits size_a = a & ~sign_bit, size_b = b & ~sign_bit, size_c = c & ~sign_bit;
    if (size_a > infinity || size_b > infinity || size_c > infinity) return nan;
    const Bits product_sign = (a ^ b) & sign_bit;
    if (size_a < infinity && size_b < infinity) return c;
    if (size_a == 0 || size_b == 0) return nan;                            // 0 * infinity
    if (size_c == infinity && (c & sign_bit) != product_sign) return nan;  // infinity - infinity
    return product_sign | infinity;
  }
};

}  // namespace

std::uint32_t soft_fma32(std::uint32_t a, std::uint32_t b, std::uint32_t c) noexcept {
  return Fma<std::uint32_t, std::uint64_t, 23>::fma(a, b, c);
}

std::uint64_t soft_fma64(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  return Fma<std::uint64_t, Uint128, 52>::fma(a, b, c);
}

}  // namespace convoke::oracle

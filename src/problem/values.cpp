// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/values.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/random.hpp"

namespace convoke::problem {
namespace {

// A binary interchange format: sign, exponent, mantissa.
struct Format {
  unsigned exponent_bits, mantissa_bits;

  constexpr std::uint64_t mantissa_mask() const { return (std::uint64_t{1} << mantissa_bits) - 1; }
  constexpr std::uint64_t special_exponent() const { return (std::uint64_t{1} << exponent_bits) - 1; }
  constexpr std::uint64_t bias() const { return special_exponent() >> 1; }
  constexpr std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  constexpr std::uint64_t make(std::uint64_t exponent, std::uint64_t mantissa) const {
    return exponent << mantissa_bits | mantissa;
  }
  constexpr std::uint64_t infinity() const { return make(special_exponent(), 0); }
  constexpr std::uint64_t one() const { return make(bias(), 0); }
};

constexpr Format format_of(DType dtype) {
  constexpr std::array<Format, 4> formats = {{{8, 23}, {11, 52}, {8, 7}, {5, 10}}};
  return formats[static_cast<std::size_t>(dtype)];
}

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u;

constexpr std::uint64_t scrambled(std::uint64_t value) noexcept { return splitmix64(value); }

// The largest magnitude that keeps every sum an integer of the dtype; 1 where none does.
std::uint64_t amplitude_of(DType dtype, std::int64_t terms) {
  constexpr std::uint64_t largest = 16;
  const std::uint64_t limit = std::uint64_t{2} << format_of(dtype).mantissa_bits;
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(terms, 1));
  std::uint64_t amplitude = largest;
  while (amplitude > 1 && amplitude * amplitude > limit / count) --amplitude;
  return amplitude;
}

std::uint64_t integer_bits(Format f, std::uint64_t random, std::uint64_t amplitude) {
  const std::uint64_t drawn = random % (2 * amplitude + 1);
  const std::uint64_t magnitude = drawn > amplitude ? drawn - amplitude : amplitude - drawn;
  if (magnitude == 0) return 0;
  const auto exponent = static_cast<unsigned>(std::bit_width(magnitude)) - 1;
  const std::uint64_t mantissa = magnitude << (f.mantissa_bits - exponent) & f.mantissa_mask();
  return (drawn < amplitude ? f.sign() : 0) | f.make(f.bias() + exponent, mantissa);
}

// Magnitudes from 2^-7 up to 2: sums of a few thousand products stay finite in f16 and above its subnormals.
std::uint64_t normal_bits(Format f, std::uint64_t random) {
  return (random >> 63 != 0 ? f.sign() : 0) | f.make(f.bias() - (random >> 60 & 7), random & f.mantissa_mask());
}

// Values whose products and sums fall on, just below or just above the middle between two neighbours of the dtype.
std::uint64_t tie_bits(Format f, std::uint64_t random) {
  const std::uint64_t half_ulp = f.bias() - f.mantissa_bits - 1;  // exponent of half the step at 1
  const std::array<std::uint64_t, 8> magnitudes = {f.one(),
                                                   f.one() + 1,
                                                   f.one() + 2,
                                                   f.one() - 1,
                                                   f.make(half_ulp, 0),
                                                   f.make(half_ulp, 0) + 1,
                                                   f.make(half_ulp - 1, 0),
                                                   f.make(half_ulp + 1, 0)};
  return (random >> 63 != 0 ? f.sign() : 0) | magnitudes[random % magnitudes.size()];
}

std::uint64_t subnormal_bits(Format f, std::uint64_t random) {
  // The smallest, the largest, the smallest normal number just above, or any.
  const std::array<std::uint64_t, 4> magnitudes = {1, f.mantissa_mask(), f.make(1, 0),
                                                   std::max<std::uint64_t>(random >> 4 & f.mantissa_mask(), 1)};
  return (random >> 63 != 0 ? f.sign() : 0) | magnitudes[random % magnitudes.size()];
}

// Quiet and signalling ones; small payloads, so that none looks like poisoned memory.
std::uint64_t nan_bits(Format f, std::uint64_t random) {
  const std::uint64_t quiet = (random & 1) << (f.mantissa_bits - 1);
  return (random >> 63 != 0 ? f.sign() : 0) | f.infinity() | quiet | (1 + (random >> 1 & 1));
}

enum class Kind { zero, infinite, nan, subnormal, huge, tie };
constexpr std::uint64_t kinds = 6;

std::uint64_t kind_bits(Kind kind, Format f, std::uint64_t random) {
  const std::uint64_t sign = random >> 63 != 0 ? f.sign() : 0;
  switch (kind) {
    case Kind::zero:
      return sign;
    case Kind::infinite:
      return sign | f.infinity();
    case Kind::nan:
      return nan_bits(f, random);
    case Kind::subnormal:
      return subnormal_bits(f, random);
    case Kind::huge:
      return sign | (f.infinity() - 1);
    case Kind::tie:
      return tie_bits(f, random);
  }
  return 0;
}

// One problem shows one mix: were infinities and NaNs everywhere, every sum would be NaN and prove nothing.
struct Mix {
  std::uint64_t one_in;  // how rare special values are
  int kind;              // which; any of them where negative
};
constexpr std::array<Mix, 8> mixes = {{{2, static_cast<int>(Kind::zero)},
                                       {24, static_cast<int>(Kind::infinite)},
                                       {24, static_cast<int>(Kind::nan)},
                                       {2, static_cast<int>(Kind::subnormal)},
                                       {8, static_cast<int>(Kind::huge)},
                                       {1, static_cast<int>(Kind::tie)},
                                       {1, -1},
                                       {16, -1}}};

std::uint64_t special_bits(Format f, std::uint64_t random, const Mix& mix) {
  std::uint64_t state = random;
  const std::uint64_t choice = splitmix64(state);
  if ((choice >> 32) % mix.one_in != 0) return normal_bits(f, random);
  const auto kind = static_cast<Kind>(mix.kind < 0 ? choice % kinds : static_cast<std::uint64_t>(mix.kind));
  return kind_bits(kind, f, random);
}

}  // namespace

Values::Values(DType dtype, DataKind data, std::uint64_t seed, Operand operand, std::int64_t terms) noexcept
    : dtype_(dtype),
      data_(data),
      key_(scrambled(scrambled(seed) + static_cast<std::uint64_t>(operand))),
      amplitude_(amplitude_of(dtype, terms)),
      mix_(scrambled(seed ^ golden) % mixes.size()) {}

std::uint64_t Values::bits(std::uint64_t index) const noexcept {
  const Format f = format_of(dtype_);
  // Element `index` of the splitmix64 sequence that starts at the key.
  const std::uint64_t random = scrambled(key_ + index * golden);
  switch (data_) {
    case DataKind::integer:
      return integer_bits(f, random, amplitude_);
    case DataKind::normal:
      return normal_bits(f, random);
    case DataKind::special:
      return special_bits(f, random, mixes[mix_]);
  }
  return 0;
}

ValueClass class_of(DType dtype, std::uint64_t bits) noexcept {
  const Format f = format_of(dtype);
  const bool negative = (bits & f.sign()) != 0;
  const std::uint64_t magnitude = bits & (f.sign() - 1);
  if (magnitude == 0) return negative ? ValueClass::negative_zero : ValueClass::zero;
  if (magnitude == f.infinity()) return negative ? ValueClass::negative_infinite : ValueClass::infinite;
  if (magnitude > f.infinity()) return ValueClass::nan;
  if (magnitude <= f.mantissa_mask()) return ValueClass::subnormal;
  return magnitude == f.infinity() - 1 ? ValueClass::huge : ValueClass::normal;
}

}  // namespace convoke::problem

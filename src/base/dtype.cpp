// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/dtype.hpp"

#include <bit>
#include <cstring>

#include "kernels/common/half.h"

namespace convoke {
namespace {

/// Field widths of an IEEE 754 binary format.
struct Format {
  int mantissa_bits, exponent_bits;
};

constexpr Format format_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return {23, 8};
    case DType::f64:
      return {52, 11};
    case DType::bf16:
      return {7, 8};
    case DType::f16:
      return {10, 5};
  }
  return {23, 8};
}

/// Infinity, which is the exponent field alone.
constexpr std::uint64_t infinity_of(Format format) noexcept {
  return ((std::uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
}

/// `mantissa` >> `shift`, to nearest, ties to even; shift >= 1.
std::uint64_t rounded_shift(std::uint64_t mantissa, int shift) noexcept {
  if (shift > 63) return 0;
  const std::uint64_t kept = mantissa >> shift;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  return kept + static_cast<std::uint64_t>(rest > half || (rest == half && (kept & 1) != 0));
}

}  // namespace

std::string_view token_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return "F32";
    case DType::f64:
      return "F64";
    case DType::bf16:
      return "BF16";
    case DType::f16:
      return "F16";
  }
  return "UNKNOWN";
}

std::optional<DType> parse_dtype(std::string_view text) noexcept {
  for (const DType dtype : all_dtypes)
    if (text == name_of(dtype) || text == token_of(dtype)) return dtype;
  return std::nullopt;
}

std::uint64_t load_bits(const void* address, DType dtype) noexcept {
  if (dtype == DType::f64) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, address, sizeof bits);
    return bits;
  }
  if (dtype == DType::f32) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, address, sizeof bits);
    return bits;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, address, sizeof bits);
  return bits;
}

void store_bits(void* address, DType dtype, std::uint64_t bits) noexcept {
  const auto word = static_cast<std::uint32_t>(bits);
  const auto half = static_cast<std::uint16_t>(bits);
  switch (dtype) {
    case DType::f64:
      std::memcpy(address, &bits, sizeof bits);
      return;
    case DType::f32:
      std::memcpy(address, &word, sizeof word);
      return;
    case DType::bf16:
    case DType::f16:
      std::memcpy(address, &half, sizeof half);
      return;
  }
}

double value_of_bits(DType dtype, std::uint64_t bits) noexcept {
  switch (dtype) {
    case DType::f32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::f64:
      return std::bit_cast<double>(bits);
    case DType::bf16:
      return convoke_bf16_to_f32(static_cast<std::uint16_t>(bits));
    case DType::f16:
      return convoke_f16_to_f32(static_cast<std::uint16_t>(bits));
  }
  return 0;
}

std::uint64_t bits_of_value(DType dtype, double value) noexcept {
  const Format format = format_of(dtype);
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  if (magnitude > infinity_of({52, 11})) return canonical_nan(dtype);
  if (dtype == DType::f64) return bits;
  const std::uint64_t sign = bits >> 63 << (format.mantissa_bits + format.exponent_bits);
  // The narrow type's exponent field for this binade; below 1 the result is subnormal and loses as many more digits.
  // A double that is itself subnormal is far below every narrow type and needs no case of its own.
  const int field = static_cast<int>(magnitude >> 52) - 1023 + (1 << (format.exponent_bits - 1)) - 1;
  const std::uint64_t mantissa = (magnitude & 0xfffffffffffffu) | (std::uint64_t{1} << 52);
  const int shift = 52 - format.mantissa_bits + (field < 1 ? 1 - field : 0);
  // A carry out of the mantissa raises the exponent by itself, even into infinity.
  const std::uint64_t exponent = static_cast<std::uint64_t>(field < 1 ? 0 : field - 1) << format.mantissa_bits;
  const std::uint64_t rounded = exponent + rounded_shift(mantissa, shift);
  const std::uint64_t infinity = infinity_of(format);
  return sign | (rounded < infinity ? rounded : infinity);
}

std::uint64_t canonical_nan(DType dtype) noexcept {
  const Format format = format_of(dtype);
  return infinity_of(format) | (std::uint64_t{1} << (format.mantissa_bits - 1));
}

bool is_nan_bits(DType dtype, std::uint64_t bits) noexcept {
  const Format format = format_of(dtype);
  const std::uint64_t sign = std::uint64_t{1} << (format.mantissa_bits + format.exponent_bits);
  return (bits & (sign - 1)) > infinity_of(format);
}

std::uint64_t canonical_bits(DType dtype, std::uint64_t bits) noexcept {
  return is_nan_bits(dtype, bits) ? canonical_nan(dtype) : bits;
}

}  // namespace convoke

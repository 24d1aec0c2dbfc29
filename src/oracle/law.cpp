// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/law.hpp"

#include <bit>
#include <cstring>

#include "base/dtype.hpp"
#include "oracle/soft_fma.hpp"
#include "oracle/taps.hpp"

namespace convoke::oracle {
namespace {

template <class Word>
Word load(const ConstTensor& tensor, std::int64_t element) noexcept {
  Word word = 0;
  std::memcpy(&word, address_of(tensor, element), sizeof word);
  return word;
}

/// Exponent and mantissa widths of the 16-bit formats.
struct HalfFormat {
  int digits, bias;
  std::uint32_t infinity;
};
constexpr HalfFormat binary16 = {10, 15, 0x7c00};
constexpr HalfFormat brain16 = {7, 127, 0x7f80};
constexpr const HalfFormat& half_format(DType dtype) noexcept { return dtype == DType::f16 ? binary16 : brain16; }

std::uint32_t widen_half(const HalfFormat& format, std::uint32_t bits) noexcept {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t magnitude = bits & 0x7fffu;
  if (magnitude > format.infinity) return 0x7fc00000u;
  if (magnitude == format.infinity) return sign | 0x7f800000u;
  if (magnitude == 0) return sign;
  // value = significand * 2^exponent with the leading bit wherever it is.
  const int field = static_cast<int>(magnitude >> format.digits);
  const std::uint32_t fraction = magnitude & ((1u << format.digits) - 1);
  const std::uint32_t significand = field == 0 ? fraction : fraction | 1u << format.digits;
  const int exponent = (field == 0 ? 1 : field) - format.bias - format.digits;
  const int leading = 31 - std::countl_zero(significand);
  const int wide_field = exponent + leading + 127;
  if (wide_field < 1) return sign | significand << (exponent + 149);  // subnormal there too: units of 2^-149
  return sign | static_cast<std::uint32_t>(wide_field) << 23 | (significand << (23 - leading) & 0x7fffffu);
}

std::uint32_t narrow_half(const HalfFormat& format, std::uint32_t bits) noexcept {
  const std::uint32_t sign = bits >> 31 << 15;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return format.infinity | 1u << (format.digits - 1);
  if (magnitude == 0x7f800000u) return sign | format.infinity;
  const int field = static_cast<int>(magnitude >> 23);
  const std::uint64_t significand = field == 0 ? magnitude : (magnitude & 0x7fffffu) | 0x800000u;
  const int exponent = (field == 0 ? 1 : field) - 150;  // of the significand's last digit
  // The last digit that the narrow number keeps: digits below its leading one, but no smaller than its subnormals'.
  const int leading = 63 - std::countl_zero(significand | 1);
  const int smallest = 1 - format.bias - format.digits;
  const int last = exponent + leading - format.digits < smallest ? smallest : exponent + leading - format.digits;
  const int cut = last - exponent;
  std::uint64_t kept = 0;
  if (cut <= 0) {
    kept = significand << -cut;
  } else if (cut < 32) {
    kept = significand >> cut;
    const std::uint64_t rest = significand - (kept << cut), half = std::uint64_t{1} << (cut - 1);
    if (rest > half || (rest == half && kept % 2 == 1)) ++kept;
  }
  // Beside the hidden bit that `kept` brings along, the field counts steps above the subnormals.
  const std::uint64_t narrow = (static_cast<std::uint64_t>(last - smallest) << format.digits) + kept;
  return sign | (narrow < format.infinity ? static_cast<std::uint32_t>(narrow) : format.infinity);
}

// Bits of one element in f64.
std::uint64_t in_f64(const ConstTensor& tensor, std::int64_t element) noexcept {
  const DType dtype = tensor.spec.dtype;
  if (dtype == DType::f64) return load<std::uint64_t>(tensor, element);
  return std::bit_cast<std::uint64_t>(value_of_bits(dtype, load_bits(address_of(tensor, element), dtype)));
}

std::uint64_t law_f64(const Request& request, const At& at) noexcept {
  std::uint64_t acc =
      request.bias ? in_f64(*request.bias, request.bias->spec.offset + at.co * request.bias->spec.strides[0]) : 0;
  for_each_tap(taps_of(request, at), [&](std::int64_t x, std::int64_t weight) {
    acc = soft_fma64(in_f64(request.x, x), in_f64(request.weight, weight), acc);
  });
  const DType dtype = request.dtype();
  return canonical_bits(dtype, dtype == DType::f64 ? acc : bits_of_value(dtype, std::bit_cast<double>(acc)));
}

template <class Word>
std::uint64_t law_f32(const Request& request, const At& at, DType dtype) noexcept {
  const auto element = [&](const ConstTensor& tensor, std::int64_t number) {
    return law_widen(dtype, load<Word>(tensor, number));
  };
  std::uint32_t acc =
      request.bias ? element(*request.bias, request.bias->spec.offset + at.co * request.bias->spec.strides[0]) : 0;
  for_each_tap(taps_of(request, at), [&](std::int64_t x, std::int64_t weight) {
    acc = soft_fma32(element(request.x, x), element(request.weight, weight), acc);
  });
  return law_narrow(dtype, acc);
}

}  // namespace

std::uint32_t law_widen(DType dtype, std::uint64_t bits) noexcept {
  const auto word = static_cast<std::uint32_t>(bits);
  return dtype == DType::f32 ? word : widen_half(half_format(dtype), word);
}

std::uint64_t law_narrow(DType dtype, std::uint32_t bits) noexcept {
  if (dtype != DType::f32) return narrow_half(half_format(dtype), bits);
  return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
}

std::uint64_t law_output(const Request& request, const At& at, std::optional<DType> accumulator) noexcept {
  if (accumulator == DType::f64) return law_f64(request, at);
  switch (request.dtype()) {
    case DType::f64:
      return law_f64(request, at);
    case DType::f32:
      return law_f32<std::uint32_t>(request, at, DType::f32);
    case DType::bf16:
      return law_f32<std::uint16_t>(request, at, DType::bf16);
    case DType::f16:
      return law_f32<std::uint16_t>(request, at, DType::f16);
  }
  return 0;
}

}  // namespace convoke::oracle

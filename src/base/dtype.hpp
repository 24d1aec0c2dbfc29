// SPDX-License-Identifier: Apache-2.0 OR MIT
// Element types: names, bits, and single elements as doubles. Bits stand in the low end of a uint64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "convoke/tensor.hpp"

namespace convoke {

inline constexpr std::array<DType, 4> all_dtypes = {DType::f32, DType::f64, DType::bf16, DType::f16};

/// The token of contracts and case files: `F32`, `F64`, `BF16`, `F16`.
std::string_view token_of(DType dtype) noexcept;

/// Reads `f32`, `F32` and so on: a name or a token, nothing in between.
std::optional<DType> parse_dtype(std::string_view text) noexcept;

/// The type a law kernel keeps its sum in: f32 for bf16 and f16, else the type itself.
constexpr DType accumulator_of(DType dtype) noexcept { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// Of a type: unit roundoff u = 2^unit_exponent, half the smallest subnormal eta = 2^eta_exponent, overflow from
/// 2^overflow_exponent on (less half a unit).
struct Precision {
  int unit_exponent, eta_exponent, overflow_exponent;
};
constexpr Precision precision_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return {-24, -150, 128};
    case DType::f64:
      return {-53, -1075, 1024};
    case DType::bf16:
      return {-8, -134, 128};
    case DType::f16:
      return {-11, -25, 16};
  }
  return {0, 0, 0};
}

/// Bits of the element at `address`, which needs no alignment.
std::uint64_t load_bits(const void* address, DType dtype) noexcept;
/// Writes the low size_of(dtype) bytes of `bits`.
void store_bits(void* address, DType dtype, std::uint64_t bits) noexcept;

/// The value of these bits; exact for every type. A NaN stays a NaN.
double value_of_bits(DType dtype, std::uint64_t bits) noexcept;
/// `value` rounded once to `dtype`, to nearest, ties to even; overflow gives infinity, a NaN the canonical one.
std::uint64_t bits_of_value(DType dtype, double value) noexcept;

/// The one NaN that comparisons and digests know: quiet, positive, payload 0.
std::uint64_t canonical_nan(DType dtype) noexcept;
bool is_nan_bits(DType dtype, std::uint64_t bits) noexcept;
/// `bits`, or the canonical NaN if they are any NaN.
std::uint64_t canonical_bits(DType dtype, std::uint64_t bits) noexcept;

}  // namespace convoke

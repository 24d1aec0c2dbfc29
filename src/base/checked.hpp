// SPDX-License-Identifier: Apache-2.0 OR MIT
// Integer arithmetic that says so instead of wrapping.
#pragma once

#include <cstdint>
#include <optional>

namespace convoke {

/// a + b, or nullopt where it does not fit int64.
constexpr std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// a - b, or nullopt where it does not fit int64.
constexpr std::optional<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// a * b, or nullopt where it does not fit int64.
constexpr std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// The same on intermediate results: an overflow once stays an overflow.
using Checked = std::optional<std::int64_t>;
constexpr Checked checked_add(Checked a, Checked b) noexcept { return a && b ? checked_add(*a, *b) : std::nullopt; }
constexpr Checked checked_sub(Checked a, Checked b) noexcept { return a && b ? checked_sub(*a, *b) : std::nullopt; }
constexpr Checked checked_mul(Checked a, Checked b) noexcept { return a && b ? checked_mul(*a, *b) : std::nullopt; }

/// floor(a / b) for b >= 1, also for negative a; never overflows.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept {
  return a / b - static_cast<std::int64_t>(a % b < 0);
}

}  // namespace convoke

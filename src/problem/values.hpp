// SPDX-License-Identifier: Apache-2.0 OR MIT
// The values of generated tensors. Every element is a pure function of (seed, operand, index), made with integer
// operations only: the same bits on every platform, in every layout, from every thread.
#pragma once

#include <cstdint>

#include "convoke/tensor.hpp"
#include "problem/problem.hpp"

namespace convoke::problem {

enum class Operand { x = 0, weight = 1, bias = 2 };

/// Makes the elements of one operand. `terms` is the number of terms of the longest sum (Geometry::terms).
class Values {
 public:
  Values(DType dtype, DataKind data, std::uint64_t seed, Operand operand, std::int64_t terms) noexcept;

  /// Bits of element `index`, in row-major order of the logical tensor; in the low 16 bits for bf16 and f16, in the low
  /// 32 for f32.
  std::uint64_t bits(std::uint64_t index) const noexcept;

 private:
  std::uint64_t small_integer(std::uint64_t random) const noexcept;
  std::uint64_t normal(std::uint64_t random) const noexcept;
  std::uint64_t special(std::uint64_t random) const noexcept;

  DType dtype_;
  DataKind data_;
  std::uint64_t key_;
  std::uint64_t amplitude_;  // largest magnitude of `int` data
  unsigned mix_;             // which special values this problem has
};

/// What kind of value some bits are.
enum class ValueClass { zero, negative_zero, subnormal, normal, max_finite, infinite, negative_infinite, nan };
ValueClass class_of(DType dtype, std::uint64_t bits) noexcept;

}  // namespace convoke::problem

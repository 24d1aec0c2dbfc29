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
  DType dtype_;
  DataKind data_;
  std::uint64_t key_;
  std::uint64_t amplitude_;  // largest magnitude of `int` data
  std::uint64_t mix_;        // which special values this problem has
};

/// What kind of value some bits are; `huge` is the largest finite magnitude.
enum class ValueClass { zero, negative_zero, infinite, negative_infinite, nan, subnormal, huge, normal };
ValueClass class_of(DType dtype, std::uint64_t bits) noexcept;

}  // namespace convoke::problem

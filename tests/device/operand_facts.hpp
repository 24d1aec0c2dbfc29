// SPDX-License-Identifier: Apache-2.0 OR MIT
// What a kernel of the tests can see of its operands at run time, computed without the code under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "convoke/tensor.hpp"
#include "kernels/common/kernel.h"

namespace convoke::fake {

inline std::int64_t elements(const convoke_operand& operand) noexcept {
  std::int64_t count = 1;
  for (int axis = 0; axis < operand.rank; ++axis) count *= operand.shape[axis];
  return count;
}

inline std::int64_t element_size(const convoke_operand& operand) noexcept {
  return static_cast<std::int64_t>(size_of(static_cast<DType>(operand.dtype)));
}

/// Row-major without gaps; axes of one element may have any stride, and an empty tensor is dense.
inline bool is_dense(const convoke_operand& operand) noexcept {
  if (elements(operand) == 0) return true;
  std::int64_t stride = 1;
  for (int axis = operand.rank - 1; axis >= 0; --axis) {
    if (operand.shape[axis] != 1 && operand.stride[axis] != stride) return false;
    stride *= operand.shape[axis];
  }
  return true;
}

/// Whether any axis of several elements has a stride that passes.
template <class Test>
bool has_stride(const convoke_operand& operand, Test test) noexcept {
  for (int axis = 0; axis < operand.rank; ++axis)
    if (operand.shape[axis] > 1 && test(operand.stride[axis])) return true;
  return false;
}

/// Whether every element lies in the memory that the operand says it has.
inline bool lies_inside(const convoke_operand& operand) noexcept {
  if (elements(operand) == 0) return true;
  std::int64_t first = operand.offset, last = operand.offset;
  for (int axis = 0; axis < operand.rank; ++axis) {
    const std::int64_t reach = (operand.shape[axis] - 1) * operand.stride[axis];
    (reach < 0 ? first : last) += reach;
  }
  return first >= 0 && (last + 1) * element_size(operand) <= static_cast<std::int64_t>(operand.bytes);
}

/// Runs the portable kernel `convoke::portable::NAME` on these operands, with the rest of `call`.
std::int32_t call_portable(std::string_view name, const convoke_call& call, std::span<const convoke_operand> inputs,
                           const convoke_operand& output) noexcept;

}  // namespace convoke::fake

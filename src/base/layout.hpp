// SPDX-License-Identifier: Apache-2.0 OR MIT
// Signed-stride layouts with an offset: what they touch, whether they are dense, whether two of them meet.
#pragma once

#include <cstdint>
#include <optional>

#include "convoke/error.hpp"
#include "convoke/tensor.hpp"

namespace convoke {

/// Product of the sizes; nullopt where it overflows int64 or a size is negative.
std::optional<std::int64_t> element_count(const Dims& shape) noexcept;

/// First and last element index a layout touches (relative to data, offset included); nullopt for an empty tensor.
/// Requires a spec that passed check_layout.
struct ElementRange {
  std::int64_t first = 0, last = 0;
};
std::optional<ElementRange> touched(const TensorSpec& spec) noexcept;

/// Row-major without gaps, ignoring the strides of axes of size 1; an empty tensor is contiguous. The offset does not
/// matter here.
bool is_contiguous(const TensorSpec& spec) noexcept;

/// Rank, sizes and strides are sane and every element lies in [0, bytes): without arithmetic overflow. `role` names the
/// operand in messages (`x`, `weight`, ...). `bytes` absent: any buffer, but element indices must not be negative.
Result<void> check_layout(const TensorSpec& spec, std::optional<std::size_t> bytes, const char* role);

/// The largest power of two, up to a page of 4096 bytes, that the address is a multiple of.
std::size_t alignment_of(const void* data) noexcept;

/// The same up to a cache line: what to promise of a pointer when planning. What it has beyond that is chance, and
/// would make a plan of its own for each chance.
std::size_t planned_alignment_of(const void* data) noexcept;

/// Whether the stride of any axis with more than one element passes `test`.
template <class Test>
bool any_stride(const TensorSpec& spec, Test test) {
  for (int axis = 0; axis < spec.shape.rank(); ++axis)
    if (spec.shape[axis] > 1 && test(spec.strides[axis])) return true;
  return false;
}

/// Whether two elements with different indices of `spec` share memory. Exact for the ranks we have; where the proof
/// would take too long (never seen on layouts that nest) the answer is true.
bool overlaps_itself(const TensorSpec& spec) noexcept;

/// Whether any byte belongs to an element of both tensors. As exact as overlaps_itself.
bool overlap(const ConstTensor& a, const ConstTensor& b) noexcept;

}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/layout.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/checked.hpp"
#include "base/diophantine.hpp"
#include "base/fail.hpp"

namespace convoke {
namespace {

bool is_empty(const Dims& shape) noexcept {
  return std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size == 0; });
}

/// First and last element; nullopt where either does not fit int64. For shapes that are not empty.
std::optional<ElementRange> element_range(const TensorSpec& spec) noexcept {
  Checked first = spec.offset, last = spec.offset;
  for (int axis = 0; axis < spec.shape.rank(); ++axis) {
    const Checked reach = checked_mul(spec.shape[axis] - 1, spec.strides[axis]);
    if (!reach) return std::nullopt;
    Checked& end = *reach < 0 ? first : last;
    end = checked_add(end, reach);
  }
  if (!first || !last) return std::nullopt;
  return ElementRange{*first, *last};
}

Values values_of(const TensorSpec& spec) {
  return {named("shape", spec.shape), named("strides", spec.strides), named("offset", spec.offset)};
}

std::string text_of(const TensorSpec& spec) {
  return fmt::format("shape {}, strides {}, offset {}", convoke::text_of(spec.shape), convoke::text_of(spec.strides),
                     spec.offset);
}

Result<void> check_form(const TensorSpec& spec, const char* role) {
  if (spec.shape.rank() != spec.strides.rank())
    return fail(ErrorCode::invalid_layout, role, values_of(spec), "{} needs a stride for each axis: {}", role,
                text_of(spec));
  if (!element_count(spec.shape))
    return fail(ErrorCode::invalid_shape, role, values_of(spec),
                "{} has a negative size, or more elements than 64 bits count: {}", role, text_of(spec));
  if (spec.align != 0 && !std::has_single_bit(spec.align))
    return fail(ErrorCode::invalid_layout, role, {named("align", spec.align)},
                "{} promises an alignment of {} bytes, which is no power of two", role, spec.align);
  return {};
}

/// Adds a tensor's axes to the terms, strides in bytes; gives the address of its lowest byte.
Wide add_axes(LinearTerms& terms, const ConstTensor& tensor) noexcept {
  const auto size = static_cast<Wide>(size_of(tensor.spec.dtype));
  const ElementRange range = *element_range(tensor.spec);
  for (int axis = 0; axis < tensor.spec.shape.rank(); ++axis) {
    const Wide stride = tensor.spec.strides[axis] * size;
    terms.add(stride < 0 ? -stride : stride, tensor.spec.shape[axis] - 1);
  }
  return static_cast<Wide>(std::bit_cast<std::uintptr_t>(tensor.data)) + range.first * size;
}

}  // namespace

std::optional<std::int64_t> element_count(const Dims& shape) noexcept {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; })) return std::nullopt;
  if (is_empty(shape)) return 0;
  Checked count = 1;
  for (const std::int64_t size : shape) count = checked_mul(count, Checked(size));
  return count;
}

std::optional<ElementRange> touched(const TensorSpec& spec) noexcept {
  if (is_empty(spec.shape)) return std::nullopt;
  return element_range(spec);
}

bool is_contiguous(const TensorSpec& spec) noexcept {
  if (is_empty(spec.shape)) return true;
  Checked expected = 1;
  for (int axis = spec.shape.rank() - 1; axis >= 0; --axis) {
    if (spec.shape[axis] == 1) continue;
    if (expected != Checked(spec.strides[axis])) return false;
    expected = checked_mul(expected, Checked(spec.shape[axis]));
  }
  return true;
}

Result<void> check_layout(const TensorSpec& spec, std::optional<std::size_t> bytes, const char* role) {
  if (Result<void> form = check_form(spec, role); !form) return form;
  if (is_empty(spec.shape)) return {};
  const std::optional<ElementRange> range = element_range(spec);
  if (!range)
    return fail(ErrorCode::invalid_layout, role, values_of(spec), "{} reaches beyond what 64 bits count: {}", role,
                text_of(spec));
  if (range->first < 0)
    return fail(ErrorCode::invalid_layout, role, values_of(spec),
                "{} reaches before its first byte: its lowest element is {} ({})", role, range->first, text_of(spec));
  // One more than the last byte; 8 bytes an element as everywhere, so that the answer is the same for every dtype.
  const Checked elements = checked_add(range->last, std::int64_t{1});
  if (!checked_mul(elements, Checked(8)))
    return fail(ErrorCode::invalid_layout, role, values_of(spec), "{} reaches beyond what 64 bits count: {}", role,
                text_of(spec));
  const std::size_t needed = static_cast<std::size_t>(*elements) * size_of(spec.dtype);
  if (bytes && needed > *bytes)
    return fail(ErrorCode::invalid_layout, role, values_of(spec),
                "{} reaches past its end: it needs {} bytes and has {} ({})", role, needed, *bytes, text_of(spec));
  return {};
}

// Two indices meet if their difference d, not zero, has sum d[k] * stride[k] = 0. Its sign is free, so the first of its
// entries that is not zero, by falling stride, is at least 1; those after it lie in [-(size - 1), size - 1].
bool overlaps_itself(const TensorSpec& spec) noexcept {
  if (is_empty(spec.shape)) return false;
  LinearTerms axes;
  for (int axis = 0; axis < spec.shape.rank(); ++axis) {
    const Wide stride = spec.strides[axis], last = spec.shape[axis] - 1;
    if (last > 0 && stride == 0) return true;
    if (axes.add(stride < 0 ? -stride : stride, last)) return true;  // two axes of one stride meet at (1, 0) and (0, 1)
  }
  for (int first = 0; first < axes.count(); ++first) {
    // first * d + sum of rest = 0 with d >= 1, shifted so that every unknown starts at 0.
    LinearTerms shifted;
    const LinearTerm leading = axes.by_falling_factor(first);
    shifted.add(leading.factor, leading.last - 1);
    Wide target = -leading.factor;
    for (int k = first + 1; k < axes.count(); ++k) {
      const LinearTerm term = axes.by_falling_factor(k);
      shifted.add(term.factor, 2 * term.last);
      target += term.factor * term.last;
    }
    if (shifted.reaches(target)) return true;
  }
  return false;
}

// Bytes meet if low_a + sum a[k] i[k] + u = low_b + sum b[k] j[k] + v with u, v inside an element. An axis runs the
// other way round (last - j) on the right, so that all unknowns come to stand on the left with a positive factor.
bool overlap(const ConstTensor& a, const ConstTensor& b) noexcept {
  if (is_empty(a.spec.shape) || is_empty(b.spec.shape)) return false;
  LinearTerms terms, terms_b;
  const Wide low_a = add_axes(terms, a);
  const Wide low_b = add_axes(terms_b, b);
  const Wide size_a = static_cast<Wide>(size_of(a.spec.dtype)), size_b = static_cast<Wide>(size_of(b.spec.dtype));
  const Wide end_a = low_a + terms.largest() + size_a, end_b = low_b + terms_b.largest() + size_b;
  if (end_a <= low_b || end_b <= low_a) return false;
  for (int k = 0; k < terms_b.count(); ++k)
    terms.add(terms_b.by_falling_factor(k).factor, terms_b.by_falling_factor(k).last);
  terms.add(1, size_a - 1 + size_b - 1);
  return terms.reaches(end_b - 1 - low_a);
}

std::size_t alignment_of(const void* data) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(data) | 4096U;
  return static_cast<std::size_t>(address & (~address + 1));
}

std::size_t planned_alignment_of(const void* data) noexcept { return std::min<std::size_t>(alignment_of(data), 64); }

}  // namespace convoke

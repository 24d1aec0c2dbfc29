// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "base/layout.hpp"
#include "problem/workload.hpp"

namespace convoke::problem {
namespace {

using Axes = std::array<int, 4>;  // outermost first

constexpr std::int64_t gap = 13;           // elements before an `offset` tensor: odd, so nothing stays aligned
constexpr std::int64_t odd_stride = 1009;  // of axes of size 1, where any stride is right

// Strides of a tensor stored with its axes in this order, each element `steps[axis]` places apart along its axis.
Dims strides_of(const Dims& shape, const Axes& order, const Axes& steps) {
  Dims strides = Dims::filled(4, 1);
  std::int64_t stride = 1;
  for (int i = 3; i >= 0; --i) {
    const int axis = order[static_cast<std::size_t>(i)];
    const std::int64_t step = steps[static_cast<std::size_t>(axis)];
    strides[axis] = stride * step;
    stride *= std::max<std::int64_t>(shape[axis], 1) * step;
  }
  return strides;
}

void make_unit_strides_odd(const Dims& shape, Dims& strides) {
  for (int axis = 0; axis < 4; ++axis)
    if (shape[axis] == 1) strides[axis] = odd_stride + 2 * axis;
}

// One of the 22 orders that are neither row-major nor channels last.
Axes order_of(std::uint64_t seed) {
  constexpr Axes channels_last = {0, 2, 3, 1};
  Axes order = {0, 1, 2, 3};
  for (std::uint64_t left = seed % 22 + 1; left > 0; --left) {
    std::next_permutation(order.begin(), order.end());
    if (order == channels_last) std::next_permutation(order.begin(), order.end());
  }
  return order;
}

// An axis with something to repeat, where there is one.
int expanded_axis(const Dims& shape, std::uint64_t seed) {
  const int first = static_cast<int>(seed % 4);
  for (int i = 0; i < 4; ++i)
    if (shape[(first + i) % 4] > 1) return (first + i) % 4;
  return first;
}

bool fits_memory(const Dims& shape) {
  Checked extent = 1;
  for (const std::int64_t size : shape) extent = checked_mul(extent, Checked(std::max<std::int64_t>(size, 1)));
  return extent && *extent < std::int64_t{1} << 48;
}

}  // namespace

TensorSpec lay_out(DType dtype, const Dims& shape, LayoutKind kind, std::size_t align, std::uint64_t seed) noexcept {
  TensorSpec spec = TensorSpec::dense(dtype, shape);
  spec.align = align;
  if (shape.rank() != 4 || !fits_memory(shape)) return spec;
  constexpr Axes row_major = {0, 1, 2, 3};
  constexpr Axes every = {1, 1, 1, 1};
  switch (kind) {
    case LayoutKind::dense:
      break;
    case LayoutKind::channels_last:
      spec.strides = strides_of(shape, {0, 2, 3, 1}, every);
      break;
    case LayoutKind::sliced:
      spec.strides = strides_of(shape, row_major, {1, 1, 2, 2});
      make_unit_strides_odd(shape, spec.strides);
      break;
    case LayoutKind::permuted:
      spec.strides = strides_of(shape, order_of(seed), every);
      make_unit_strides_odd(shape, spec.strides);
      break;
    case LayoutKind::flipped:
      for (const int axis : {2, 3}) {
        spec.offset += std::max<std::int64_t>(shape[axis] - 1, 0) * spec.strides[axis];
        spec.strides[axis] = -spec.strides[axis];
      }
      break;
    case LayoutKind::expanded: {
      const int axis = expanded_axis(shape, seed);
      Dims stored = shape;
      stored[axis] = 1;
      spec.strides = dense_strides(stored);
      spec.strides[axis] = 0;
      break;
    }
    case LayoutKind::offset:
      spec.offset = gap;
      break;
  }
  if (element_count(shape) == 0 && kind == LayoutKind::flipped) spec.offset = 0;
  return spec;
}

std::size_t bytes_of(const TensorSpec& spec) noexcept {
  const auto range = touched(spec);
  const std::int64_t elements = range ? range->last + 1 : spec.offset;
  return static_cast<std::size_t>(elements) * size_of(spec.dtype);
}

}  // namespace convoke::problem

// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstdint>

#include "convoke/tensor.hpp"

namespace convoke::problem {

/// A place in two layouts of one shape at once, in elements.
struct Walk {
  Dims first_strides, second_strides;
  std::int64_t first_offset = 0, second_offset = 0;
};

/// Calls visit(first, second) with both places of every element, in row-major order of `shape`.
template <class Visit>
void walk(const Dims& shape, const Walk& layouts, Visit&& visit) {
  for (const std::int64_t size : shape)
    if (size == 0) return;
  Dims index = Dims::filled(shape.rank(), 0);
  std::int64_t first = layouts.first_offset;
  std::int64_t second = layouts.second_offset;
  for (;;) {
    visit(first, second);
    int axis = shape.rank() - 1;
    for (; axis >= 0; --axis) {
      first += layouts.first_strides[axis];
      second += layouts.second_strides[axis];
      if (++index[axis] < shape[axis]) break;
      first -= layouts.first_strides[axis] * shape[axis];
      second -= layouts.second_strides[axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

/// The shape without repetition: size 1 on the axes that have stride 0.
inline Dims distinct_shape(const TensorSpec& spec) {
  Dims shape = spec.shape;
  for (int axis = 0; axis < shape.rank(); ++axis)
    if (spec.strides[axis] == 0 && shape[axis] > 1) shape[axis] = 1;
  return shape;
}

}  // namespace convoke::problem

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/tensor.hpp"

#include <algorithm>
#include <limits>

#include "base/checked.hpp"

namespace convoke {

std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return 4;
    case DType::f64:
      return 8;
    case DType::bf16:
    case DType::f16:
      return 2;
  }
  return 1;
}

std::string_view name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f64:
      return "f64";
    case DType::bf16:
      return "bf16";
    case DType::f16:
      return "f16";
  }
  return "unknown";
}

Dims dense_strides(const Dims& shape) noexcept {
  Dims strides = Dims::filled(shape.rank(), 1);
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    // An empty axis counts as one element, so that the axes outside it keep distinct strides.
    stride =
        checked_mul(stride, std::max<std::int64_t>(shape[axis], 1)).value_or(std::numeric_limits<std::int64_t>::max());
  }
  return strides;
}

}  // namespace convoke

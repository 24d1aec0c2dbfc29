// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/fail.hpp"

namespace convoke {

std::string text_of(const Dims& dims) {
  std::string text = "[";
  for (int axis = 0; axis < dims.rank(); ++axis) text += fmt::format("{}{}", axis == 0 ? "" : ", ", dims[axis]);
  return text + "]";
}

}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
// An operand as a typed view. Strides that no element uses are zero here, whatever the operand says, so that index
// arithmetic over valid indices stays inside the memory and cannot overflow.
#ifndef CONVOKE_KERNELS_COMMON_VIEW_H
#define CONVOKE_KERNELS_COMMON_VIEW_H

#include <stdint.h>

#include "kernels/common/kernel.h"

namespace convoke::kernels {
namespace {

/// Element (i, j, ...) is at data + (i * stride[0] + j * stride[1] + ...) elements of T.
template <class T, int Rank>
struct View {
  T* data;
  int64_t size[Rank];
  int64_t stride[Rank];
};

template <class T, int Rank>
View<T, Rank> view_of(const convoke_operand& operand) noexcept {
  View<T, Rank> view{static_cast<T*>(operand.data), {}, {}};
  bool empty = false;
  for (int axis = 0; axis < Rank; ++axis) empty = empty || operand.shape[axis] == 0;
  for (int axis = 0; axis < Rank; ++axis) {
    view.size[axis] = operand.shape[axis];
    view.stride[axis] = empty || operand.shape[axis] == 1 ? 0 : operand.stride[axis];
  }
  if (!empty) view.data += operand.offset;  // an empty tensor may have no memory at all
  return view;
}

}  // namespace
}  // namespace convoke::kernels

#endif

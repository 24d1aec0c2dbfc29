// SPDX-License-Identifier: Apache-2.0 OR MIT
// out[i, j, ...] = convert(x[i, j, ...]) for tensors of one shape and any strides. Elements are reached by memcpy, so
// neither pointer has to be aligned. Threads split the elements.
#ifndef CONVOKE_KERNELS_PORTABLE_ELEMENTWISE_H
#define CONVOKE_KERNELS_PORTABLE_ELEMENTWISE_H

#include "kernels/common/parallel.h"
#include "kernels/common/view.h"
#include "kernels/portable/isa.h"

namespace convoke::portable::CONVOKE_PORTABLE_ISA {
namespace {

/// The common shape with axes merged where both tensors allow it, and the strides of both in elements.
struct Walk {
  int rank = 0;
  int64_t size[CONVOKE_MAX_RANK] = {};
  int64_t from[CONVOKE_MAX_RANK] = {};
  int64_t to[CONVOKE_MAX_RANK] = {};
  int64_t count = 1;  // elements
};

inline Walk make_walk(const convoke_operand& x, const convoke_operand& out) noexcept {
  Walk walk;
  for (int axis = 0; axis < x.rank; ++axis) {
    if (x.shape[axis] == 0) walk.count = 0;
  }
  if (walk.count == 0) return walk;  // the strides of an empty tensor mean nothing
  for (int axis = 0; axis < x.rank; ++axis) {
    const int64_t size = x.shape[axis];
    if (size == 1) continue;
    walk.count *= size;
    const int last = walk.rank - 1;
    // Element (i, j) at i * (size * s) + j * s is element i * size + j at stride s.
    if (last >= 0 && walk.from[last] == size * x.stride[axis] && walk.to[last] == size * out.stride[axis]) {
      walk.size[last] *= size;
    } else {
      walk.size[walk.rank++] = size;
    }
    walk.from[walk.rank - 1] = x.stride[axis];
    walk.to[walk.rank - 1] = out.stride[axis];
  }
  if (walk.rank == 0) walk.size[walk.rank++] = 1;
  return walk;
}

template <class T>
T load(const unsigned char* from) noexcept {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(unsigned char* to, T value) noexcept {
  __builtin_memcpy(to, &value, sizeof value);
}

/// `count` elements along one axis; strides in elements.
template <class To, class From, class Convert>
void convert_run(const unsigned char* from, int64_t from_stride, unsigned char* to, int64_t to_stride, int64_t count,
                 const Convert& convert) noexcept {
  constexpr int64_t from_size = sizeof(From), to_size = sizeof(To);
  if (from_stride == 1 && to_stride == 1) {
    for (int64_t i = 0; i < count; ++i) store<To>(to + i * to_size, convert(load<From>(from + i * from_size)));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      store<To>(to + i * to_stride * to_size, convert(load<From>(from + i * from_stride * from_size)));
    }
  }
}

template <class To, class From, class Convert>
int32_t elementwise(const convoke_call& call, const Convert& convert) noexcept {
  const convoke_operand& x = *call.inputs[0];
  const convoke_operand& out = *call.outputs[0];
  const Walk walk = make_walk(x, out);
  if (walk.count == 0) return CONVOKE_OK;
  const auto* const from = static_cast<const unsigned char*>(x.data) + x.offset * int64_t{sizeof(From)};
  auto* const to = static_cast<unsigned char*>(out.data) + out.offset * int64_t{sizeof(To)};
  const int inner = walk.rank - 1;
  kernels::parallel_ranges(call, walk.count, [&](int64_t begin, int64_t end) noexcept {
    while (begin < end) {
      const int64_t start = begin % walk.size[inner];
      const int64_t run = walk.size[inner] - start < end - begin ? walk.size[inner] - start : end - begin;
      int64_t from_at = start * walk.from[inner], to_at = start * walk.to[inner];
      int64_t rest = begin / walk.size[inner];
      for (int axis = inner - 1; axis >= 0; --axis) {
        from_at += rest % walk.size[axis] * walk.from[axis];
        to_at += rest % walk.size[axis] * walk.to[axis];
        rest /= walk.size[axis];
      }
      convert_run<To, From>(from + from_at * int64_t{sizeof(From)}, walk.from[inner], to + to_at * int64_t{sizeof(To)},
                            walk.to[inner], run, convert);
      begin += run;
    }
  });
  return CONVOKE_OK;
}

}  // namespace
}  // namespace convoke::portable::CONVOKE_PORTABLE_ISA

#endif

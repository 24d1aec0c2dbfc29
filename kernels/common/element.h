// SPDX-License-Identifier: Apache-2.0 OR MIT
// The four element types: how one lies in memory, the type its sums are kept in, and the way between the two.
#ifndef CONVOKE_KERNELS_COMMON_ELEMENT_H
#define CONVOKE_KERNELS_COMMON_ELEMENT_H

#include <stdint.h>

#include "kernels/common/half.h"

namespace convoke::kernels {
namespace {

// `Mask` is as wide as `Sum`, so that a choice between two sums is one vector operation.
struct F32 {
  using Storage = float;
  using Sum = float;
  using Mask = int32_t;
  static Sum widen(Storage value) noexcept { return value; }
  static Storage narrow(Sum sum) noexcept { return sum; }
};

struct F64 {
  using Storage = double;
  using Sum = double;
  using Mask = int64_t;
  static Sum widen(Storage value) noexcept { return value; }
  static Storage narrow(Sum sum) noexcept { return sum; }
};

struct Bf16 {
  using Storage = uint16_t;
  using Sum = float;
  using Mask = int32_t;
  static Sum widen(Storage bits) noexcept { return convoke_bf16_to_f32(bits); }
  static Storage narrow(Sum sum) noexcept { return convoke_f32_to_bf16(sum); }
};

struct F16 {
  using Storage = uint16_t;
  using Sum = float;
  using Mask = int32_t;
  static Sum widen(Storage bits) noexcept { return convoke_f16_to_f32(bits); }
  static Storage narrow(Sum sum) noexcept { return convoke_f32_to_f16(sum); }
};

// One rounding, whatever the compiler's flags; a library call where the machine has no such instruction.
inline float fused(float x, float weight, float sum) noexcept { return __builtin_fmaf(x, weight, sum); }
inline double fused(double x, double weight, double sum) noexcept { return __builtin_fma(x, weight, sum); }

}  // namespace
}  // namespace convoke::kernels

#endif

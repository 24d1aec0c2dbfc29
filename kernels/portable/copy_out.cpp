// SPDX-License-Identifier: Apache-2.0 OR MIT
// out = x, element by element: from dense row-major to any strides that do not overlap. Bits are moved, not values: a
// NaN keeps its payload. Contract: layout.fkc.md, copy_out.
#include "kernels/portable/elementwise.h"
#include "kernels/portable/kernels.h"

namespace convoke::portable::CONVOKE_PORTABLE_ISA {
namespace {

template <class Bits>
int32_t copy_out(const convoke_call* call) noexcept {
  return elementwise<Bits, Bits>(*call, [](Bits bits) noexcept { return bits; });
}

}  // namespace

int32_t copy_out_f32(const convoke_call* call) noexcept { return copy_out<uint32_t>(call); }
int32_t copy_out_f64(const convoke_call* call) noexcept { return copy_out<uint64_t>(call); }
int32_t copy_out_bf16(const convoke_call* call) noexcept { return copy_out<uint16_t>(call); }
int32_t copy_out_f16(const convoke_call* call) noexcept { return copy_out<uint16_t>(call); }

}  // namespace convoke::portable::CONVOKE_PORTABLE_ISA

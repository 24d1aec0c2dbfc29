// SPDX-License-Identifier: Apache-2.0 OR MIT
// out = x, element by element: from any strides to dense row-major. Bits are moved, not values: a NaN keeps its
// payload. Contract: layout.fkc.md, contiguize.
#include "kernels/portable/elementwise.h"
#include "kernels/portable/kernels.h"

namespace convoke::portable::CONVOKE_PORTABLE_ISA {
namespace {

template <class Bits>
int32_t contiguize(const convoke_call* call) noexcept {
  return elementwise<Bits, Bits>(*call, [](Bits bits) noexcept { return bits; });
}

}  // namespace

int32_t contiguize_f32(const convoke_call* call) noexcept { return contiguize<uint32_t>(call); }
int32_t contiguize_f64(const convoke_call* call) noexcept { return contiguize<uint64_t>(call); }
int32_t contiguize_bf16(const convoke_call* call) noexcept { return contiguize<uint16_t>(call); }
int32_t contiguize_f16(const convoke_call* call) noexcept { return contiguize<uint16_t>(call); }

}  // namespace convoke::portable::CONVOKE_PORTABLE_ISA

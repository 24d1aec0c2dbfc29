// SPDX-License-Identifier: Apache-2.0 OR MIT
// Declares the kernels of kernels.inc in the namespace of the instruction set that is being built.
#ifndef CONVOKE_KERNELS_SIMD_KERNELS_H
#define CONVOKE_KERNELS_SIMD_KERNELS_H

#include "kernels/common/kernel.h"
#include "kernels/simd/isa.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

#define CONVOKE_KERNEL(NAME, OP, INPUT, OUTPUT) int32_t NAME(const convoke_call* call) noexcept;
#include "kernels/simd/kernels.inc"
#undef CONVOKE_KERNEL

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

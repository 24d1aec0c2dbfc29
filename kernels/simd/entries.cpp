// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "kernels/simd/entries.hpp"

// This file calls nothing that is built for a newer machine; it only takes addresses.
#if defined(CONVOKE_SIMD_WITH_AVX512)
#define CONVOKE_SIMD_ISA avx512
#include "kernels/simd/kernels.h"
#undef CONVOKE_SIMD_ISA
#undef CONVOKE_KERNELS_SIMD_KERNELS_H
#endif
#if defined(CONVOKE_SIMD_WITH_FMA)
#define CONVOKE_SIMD_ISA fma
#include "kernels/simd/kernels.h"
#undef CONVOKE_SIMD_ISA
#undef CONVOKE_KERNELS_SIMD_KERNELS_H
#endif
#if defined(CONVOKE_SIMD_WITH_NEON)
#define CONVOKE_SIMD_ISA neon
#include "kernels/simd/kernels.h"
#endif

namespace convoke::simd {
namespace {

// One row of one build of a kernel.
#define CONVOKE_ROW(NAME, OP, INPUT, OUTPUT, ISA_BIT, BUILD) \
  {"convoke::simd::" #NAME, CONVOKE_##OP, CONVOKE_##INPUT, CONVOKE_##OUTPUT, ISA_BIT, &BUILD::NAME},

#if defined(CONVOKE_SIMD_WITH_AVX512) && defined(CONVOKE_SIMD_WITH_FMA)
#define CONVOKE_KERNEL(NAME, OP, INPUT, OUTPUT)                                      \
  CONVOKE_ROW(NAME, OP, INPUT, OUTPUT, CONVOKE_ISA_FMA | CONVOKE_ISA_AVX512, avx512) \
  CONVOKE_ROW(NAME, OP, INPUT, OUTPUT, CONVOKE_ISA_FMA, fma)
#elif defined(CONVOKE_SIMD_WITH_NEON)
#define CONVOKE_KERNEL(NAME, OP, INPUT, OUTPUT) CONVOKE_ROW(NAME, OP, INPUT, OUTPUT, CONVOKE_ISA_BASELINE, neon)
#else
#error "convoke: no row for this processor"
#endif

constexpr convoke_entry table[] = {
#include "kernels/simd/kernels.inc"
};
#undef CONVOKE_KERNEL
#undef CONVOKE_ROW

}  // namespace

std::span<const convoke_entry> entries() noexcept { return table; }

}  // namespace convoke::simd

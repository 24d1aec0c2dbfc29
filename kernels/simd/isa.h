// SPDX-License-Identifier: Apache-2.0 OR MIT
// Every source of this folder is built once for each instruction set, into a namespace of that name (why:
// kernels/portable/isa.h). Highway names the vectors; which target it takes follows from the compiler's flags.
#ifndef CONVOKE_KERNELS_SIMD_ISA_H
#define CONVOKE_KERNELS_SIMD_ISA_H

#ifndef CONVOKE_SIMD_ISA
#error "convoke: compile with -DCONVOKE_SIMD_ISA=fma (or avx512, neon)"
#endif

#endif

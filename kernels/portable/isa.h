// SPDX-License-Identifier: Apache-2.0 OR MIT
// Every source of this folder is built once for each instruction set, into a namespace of that name. All else that a
// source defines lies in unnamed namespaces: a linker may keep any one of several equal inline functions, and must
// never be able to hand another object the one that was built for a newer machine (tools/check_isa.py).
#ifndef CONVOKE_KERNELS_PORTABLE_ISA_H
#define CONVOKE_KERNELS_PORTABLE_ISA_H

#ifndef CONVOKE_PORTABLE_ISA
#error "convoke: compile with -DCONVOKE_PORTABLE_ISA=baseline (or fma)"
#endif

#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "kernels/portable/entries.hpp"

// This file calls nothing that is built for a newer machine; it only takes addresses.
#if CONVOKE_PORTABLE_WITH_FMA
#define CONVOKE_PORTABLE_ISA fma
#include "kernels/portable/kernels.h"
#undef CONVOKE_PORTABLE_ISA
#undef CONVOKE_KERNELS_PORTABLE_KERNELS_H
#endif
#define CONVOKE_PORTABLE_ISA baseline
#include "kernels/portable/kernels.h"

namespace convoke::portable {
namespace {

// One row of one build of a kernel.
#define CONVOKE_ROW(NAME, OP, INPUT, OUTPUT, ISA_BIT, BUILD) \
  {"convoke::portable::" #NAME, CONVOKE_##OP, CONVOKE_##INPUT, CONVOKE_##OUTPUT, ISA_BIT, &BUILD::NAME},

constexpr convoke_entry table[] = {
#if CONVOKE_PORTABLE_WITH_FMA
#define CONVOKE_KERNEL(NAME, OP, INPUT, OUTPUT)              \
  CONVOKE_ROW(NAME, OP, INPUT, OUTPUT, CONVOKE_ISA_FMA, fma) \
  CONVOKE_ROW(NAME, OP, INPUT, OUTPUT, CONVOKE_ISA_BASELINE, baseline)
#else
#define CONVOKE_KERNEL(NAME, OP, INPUT, OUTPUT) CONVOKE_ROW(NAME, OP, INPUT, OUTPUT, CONVOKE_ISA_BASELINE, baseline)
#endif
#include "kernels/portable/kernels.inc"
#undef CONVOKE_KERNEL
#undef CONVOKE_ROW
};

}  // namespace

std::span<const convoke_entry> entries() noexcept { return table; }

}  // namespace convoke::portable

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

constexpr convoke_entry table[] = {
#if CONVOKE_PORTABLE_WITH_FMA
#define CONVOKE_KERNEL(NAME)                                  \
  {"convoke::portable::" #NAME, CONVOKE_ISA_FMA, &fma::NAME}, \
      {"convoke::portable::" #NAME, CONVOKE_ISA_BASELINE, &baseline::NAME},
#else
#define CONVOKE_KERNEL(NAME) {"convoke::portable::" #NAME, CONVOKE_ISA_BASELINE, &baseline::NAME},
#endif
#include "kernels/portable/kernels.inc"
#undef CONVOKE_KERNEL
};

}  // namespace

std::span<const convoke_entry> entries() noexcept { return table; }

}  // namespace convoke::portable

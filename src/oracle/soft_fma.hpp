// SPDX-License-Identifier: Apache-2.0 OR MIT
// Fused multiply-add in integer arithmetic: a * b + c with one rounding, to nearest, ties to even. Subnormals are
// exact, zeros signed as IEEE 754-2019 says, every NaN result is the canonical one. No floating-point instruction is
// used, so no compiler flag, processor or thread state can change a bit.
#pragma once

#include <cstdint>

namespace convoke::oracle {

/// binary32, as bits.
std::uint32_t soft_fma32(std::uint32_t a, std::uint32_t b, std::uint32_t c) noexcept;
/// binary64, as bits.
std::uint64_t soft_fma64(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept;

}  // namespace convoke::oracle

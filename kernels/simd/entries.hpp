// SPDX-License-Identifier: Apache-2.0 OR MIT
// The kernels of this folder by symbol.
#pragma once

#include <span>

#include "kernels/common/kernel.h"

namespace convoke::simd {

/// One row for each kernel and instruction set it is built for; rows of one symbol are neighbours, the fastest first.
/// Hosts without a fused multiply-add in hardware have no row. All rows of a symbol return the same bits; what a Pack
/// kernel writes is read by rows of its own instruction set only, which is the one that the host picks for both.
std::span<const convoke_entry> entries() noexcept;

}  // namespace convoke::simd

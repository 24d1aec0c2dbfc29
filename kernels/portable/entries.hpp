// SPDX-License-Identifier: Apache-2.0 OR MIT
// The kernels of this folder by symbol.
#pragma once

#include <span>

#include "kernels/common/kernel.h"

namespace convoke::portable {

/// One row for each kernel and instruction set it is built for. Rows of one symbol are neighbours, the fastest first;
/// the baseline, which every host can run, is last. All rows of a symbol return the same bits.
std::span<const convoke_entry> entries() noexcept;

}  // namespace convoke::portable

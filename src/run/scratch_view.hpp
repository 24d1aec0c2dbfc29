// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>

#include "convoke/error.hpp"
#include "convoke/plan.hpp"
#include "cpu/scratch.hpp"

namespace convoke::executor {

/// Scratch of one run. `own` holds it where it is not the caller's.
struct ScratchView {
  std::byte* data = nullptr;  ///< aligned as routes want it; null where none is needed
  cpu::Scratch own;
};

/// `bytes` bytes of scratch: the caller's, which must be large enough, or the thread's own.
/// Errors: invalid_argument (the caller's is too small), out_of_memory.
Result<ScratchView> acquire_scratch(const RunOptions& options, std::size_t bytes);

}  // namespace convoke::executor

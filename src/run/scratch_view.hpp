// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>

#include "convoke/error.hpp"
#include "convoke/plan.hpp"

namespace convoke::executor {

/// The start of `bytes` bytes of scratch, aligned as routes want it: the caller's if it gave enough, else the thread's
/// own. Errors: invalid_argument (the caller's is too small), out_of_memory.
Result<std::byte*> acquire_scratch(const RunOptions& options, std::size_t bytes);

}  // namespace convoke::executor

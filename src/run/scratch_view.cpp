// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "run/scratch_view.hpp"

#include <memory>

#include "base/fail.hpp"
#include "cpu/scratch.hpp"
#include "plan/route.hpp"

namespace convoke::executor {

Result<std::byte*> acquire_scratch(const RunOptions& options, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (options.scratch == nullptr) {
    void* memory = cpu::thread_scratch(bytes);
    if (memory == nullptr)
      return fail(ErrorCode::out_of_memory, "scratch", {named("bytes", bytes)}, "cannot allocate {} bytes of scratch",
                  bytes);
    return static_cast<std::byte*>(memory);
  }
  void* start = options.scratch;
  std::size_t space = options.scratch_bytes;
  if (std::align(planner::scratch_alignment, bytes, start, space) == nullptr)
    return fail(ErrorCode::invalid_argument, "scratch",
                {named("scratch_bytes", options.scratch_bytes),
                 named("workspace_bytes", bytes + planner::scratch_alignment - 1)},
                "scratch has {} bytes but this plan needs {} (Plan::workspace_bytes)", options.scratch_bytes,
                bytes + planner::scratch_alignment - 1);
  return static_cast<std::byte*>(start);
}

}  // namespace convoke::executor

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "run/scratch_view.hpp"

#include <memory>
#include <utility>

#include "base/fail.hpp"
#include "plan/route.hpp"

namespace convoke::executor {

Result<ScratchView> acquire_scratch(const RunOptions& options, std::size_t bytes) {
  if (bytes == 0) return ScratchView{};
  if (options.scratch == nullptr) {
    cpu::Scratch own = cpu::Scratch::acquire(bytes);
    auto* const data = static_cast<std::byte*>(own.data());
    if (data == nullptr)
      return fail(ErrorCode::out_of_memory, "scratch", {named("bytes", bytes)}, "cannot allocate {} bytes of scratch",
                  bytes);
    return ScratchView{data, std::move(own)};
  }
  void* start = options.scratch;
  std::size_t space = options.scratch_bytes;
  if (std::align(planner::scratch_alignment, bytes, start, space) == nullptr)
    return fail(ErrorCode::invalid_argument, "scratch",
                {named("scratch_bytes", options.scratch_bytes),
                 named("workspace_bytes", bytes + planner::scratch_alignment - 1)},
                "scratch has {} bytes but this plan needs {} (Plan::workspace_bytes)", options.scratch_bytes,
                bytes + planner::scratch_alignment - 1);
  return ScratchView{static_cast<std::byte*>(start), {}};
}

}  // namespace convoke::executor

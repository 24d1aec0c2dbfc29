// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cpu/call.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace convoke::cpu {
namespace {

constexpr std::size_t max_operands = 6;

struct CallersPool {
  const ParallelFor& parallel_for;
  bool failed = false;
};

// Hands the caller's std::function to a kernel that knows only C. Kernels do not throw, so what it throws ends here; a
// pool that drops or invents a range would leave outputs unwritten, or write beyond them, so each is checked.
void run_callers_pool(void* context, std::int64_t count, convoke_range_body body, void* body_context) {
  auto& pool = *static_cast<CallersPool*>(context);
  std::atomic<std::int64_t> covered = 0;
  try {
    pool.parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
      if (begin < 0 || begin >= end || end > count) return;
      body(body_context, begin, end);
      covered += end - begin;
    });
  } catch (...) {
    pool.failed = true;
  }
  pool.failed = pool.failed || covered != count;
}

}  // namespace

convoke_operand to_operand(const TensorSpec& spec, void* data, std::size_t bytes) noexcept {
  convoke_operand operand{};
  operand.size = sizeof operand;
  operand.dtype = static_cast<std::int32_t>(spec.dtype);
  operand.rank = spec.shape.rank();
  operand.data = data;
  operand.bytes = bytes;
  operand.offset = spec.offset;
  for (int axis = 0; axis < spec.shape.rank(); ++axis) {
    operand.shape[axis] = spec.shape[axis];
    operand.stride[axis] = spec.strides[axis];
  }
  return operand;
}

int default_threads() noexcept { return omp_get_max_threads(); }

int usable_threads(int threads) noexcept {
  const int most = std::min(std::max(4 * omp_get_num_procs(), 8), omp_get_thread_limit());
  return std::clamp(threads == 0 ? default_threads() : threads, 1, std::max(most, 1));
}

int run(const Call& call) {
  std::array<const convoke_operand*, max_operands> inputs{}, outputs{};
  for (std::size_t i = 0; i < call.inputs.size(); ++i) inputs[i] = &call.inputs[i];
  for (std::size_t i = 0; i < call.outputs.size(); ++i) outputs[i] = &call.outputs[i];
  const bool own_pool = call.parallel_for != nullptr && *call.parallel_for;
  static const ParallelFor none;
  CallersPool pool{own_pool ? *call.parallel_for : none};
  const convoke_parallel_for parallel_for{&pool, run_callers_pool};
  const convoke_call kernel_call{.size = sizeof(convoke_call),
                                 .version = CONVOKE_KERNEL_VERSION,
                                 .inputs = inputs.data(),
                                 .outputs = outputs.data(),
                                 .input_count = static_cast<std::int32_t>(call.inputs.size()),
                                 .output_count = static_cast<std::int32_t>(call.outputs.size()),
                                 .params = call.params,
                                 .scratch = call.scratch,
                                 .scratch_bytes = call.scratch_bytes,
                                 .threads = call.threads,
                                 .reserved = 0,
                                 .parallel_for = own_pool ? &parallel_for : nullptr};
  const int status = call.function(&kernel_call);
  return pool.failed ? pool_failure : status;
}

}  // namespace convoke::cpu

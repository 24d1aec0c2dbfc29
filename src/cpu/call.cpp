// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cpu/call.hpp"

#include <omp.h>

#include <array>

namespace convoke::cpu {
namespace {

constexpr std::size_t max_operands = 6;

// Hands the caller's std::function to a kernel that knows only C.
void run_callers_pool(void* context, std::int64_t count, convoke_range_body body, void* body_context) {
  const auto& parallel_for = *static_cast<const ParallelFor*>(context);
  parallel_for(count, [=](std::int64_t begin, std::int64_t end) { body(body_context, begin, end); });
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

int run(const Call& call) {
  std::array<const convoke_operand*, max_operands> inputs{}, outputs{};
  for (std::size_t i = 0; i < call.inputs.size(); ++i) inputs[i] = &call.inputs[i];
  for (std::size_t i = 0; i < call.outputs.size(); ++i) outputs[i] = &call.outputs[i];
  const bool own_pool = call.parallel_for != nullptr && *call.parallel_for;
  const convoke_parallel_for parallel_for{const_cast<ParallelFor*>(call.parallel_for), run_callers_pool};
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
  return call.function(&kernel_call);
}

}  // namespace convoke::cpu

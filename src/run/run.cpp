// SPDX-License-Identifier: Apache-2.0 OR MIT
// Walks a plan: checks the tensors against the specs it was made for, then runs its steps.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fail.hpp"
#include "base/guard.hpp"
#include "base/layout.hpp"
#include "convoke/plan.hpp"
#include "cpu/call.hpp"
#include "plan/plan_impl.hpp"
#include "run/device_memory.hpp"
#include "run/scratch_view.hpp"

namespace convoke {
namespace {

using planner::Place;
using planner::Slot;

bool same_layout(const TensorSpec& a, const TensorSpec& b) noexcept {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.offset == b.offset;
}

// The same predicate as when planning: what the plan was promised must be true of the tensor.
Result<void> check_tensor(const ConstTensor& tensor, const TensorSpec& planned, const char* role) {
  if (!same_layout(tensor.spec, planned))
    return fail(ErrorCode::invalid_argument, role,
                {named("planned", planned.shape), named("planned strides", planned.strides),
                 named("shape", tensor.spec.shape), named("strides", tensor.spec.strides)},
                "{} differs from what was planned: {} {} strides {} offset {}, planned {} {} strides {} offset {}",
                role, name_of(tensor.spec.dtype), text_of(tensor.spec.shape), text_of(tensor.spec.strides),
                tensor.spec.offset, name_of(planned.dtype), text_of(planned.shape), text_of(planned.strides),
                planned.offset);
  if (auto ok = check_layout(tensor.spec, tensor.bytes, role); !ok) return ok;
  if (element_count(planned.shape).value_or(0) == 0) return {};
  if (tensor.data == nullptr)
    return fail(ErrorCode::invalid_argument, role, {}, "{} has no data: its pointer is null", role);
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % planned.align != 0)
    return fail(ErrorCode::invalid_argument, role, {named("align", planned.align)},
                "{} is not aligned to the {} bytes that were planned", role, planned.align);
  return {};
}

struct Operands {
  ConstTensor x, weight;
  std::optional<ConstTensor> bias;
  Tensor out;
};

Result<void> check_operands(const Operands& operands, const planner::Request& request) {
  if (operands.bias.has_value() != request.bias.has_value())
    return fail(ErrorCode::invalid_argument, "bias", {}, "the plan was made {} a bias, and run was called {} one",
                request.bias ? "with" : "without", operands.bias ? "with" : "without");
  if (auto ok = check_tensor(operands.x, request.x, "x"); !ok) return ok;
  if (auto ok = check_tensor(operands.weight, request.weight, "weight"); !ok) return ok;
  if (operands.bias)
    if (auto ok = check_tensor(*operands.bias, *request.bias, "bias"); !ok) return ok;
  if (auto ok = check_tensor(operands.out, request.out, "out"); !ok) return ok;
  const auto meets_out = [&](const ConstTensor& input) { return overlap(input, operands.out); };
  for (const auto& [input, role] : {std::pair{&operands.x, "x"}, std::pair{&operands.weight, "weight"}})
    if (meets_out(*input))
      return fail(ErrorCode::overlap, "out", {named("input", role)}, "out shares memory with {}", role);
  if (operands.bias && meets_out(*operands.bias))
    return fail(ErrorCode::overlap, "out", {named("input", "bias")}, "out shares memory with bias");
  return {};
}

// Steps write the scratch while operands are still to be read.
Result<void> check_scratch(const Operands& operands, const RunOptions& options) {
  const auto meets = [&](const void* data, std::size_t bytes) {
    const auto* const a = static_cast<const std::byte*>(options.scratch);
    const auto* const b = static_cast<const std::byte*>(data);
    return std::less<>()(a, b + bytes) && std::less<>()(b, a + options.scratch_bytes);
  };
  if (options.scratch == nullptr) return {};
  const bool overlaps = meets(operands.x.data, operands.x.bytes) ||
                        meets(operands.weight.data, operands.weight.bytes) ||
                        (operands.bias && meets(operands.bias->data, operands.bias->bytes)) ||
                        meets(operands.out.data, operands.out.bytes);
  if (!overlaps) return {};
  return fail(ErrorCode::overlap, "scratch", {named("scratch_bytes", options.scratch_bytes)},
              "scratch shares memory with an operand");
}

// What the route itself holds while it runs.
struct Memory {
  std::byte* scratch = nullptr;
  const executor::DeviceMemory& device;

  void* at(const Slot& slot) const noexcept {
    return slot.place == Place::device ? device.at(slot.scratch_offset) : scratch + slot.scratch_offset;
  }
};

// Kernels take one pointer type for both; they only read inputs.
convoke_operand operand_of(const Slot& slot, const Operands& operands, const Memory& memory) {
  const auto of = [&](const ConstTensor& tensor) {
    return cpu::to_operand(slot.spec, const_cast<void*>(tensor.data), tensor.bytes);
  };
  switch (slot.place) {
    case Place::x:
      return of(operands.x);
    case Place::weight:
      return of(operands.weight);
    case Place::bias:
      return of(*operands.bias);
    case Place::out:
      return of(operands.out);
    case Place::scratch:
    case Place::device:
      break;
  }
  return cpu::to_operand(slot.spec, memory.at(slot), slot.bytes);
}

Result<void> run_step(const planner::Step& step, const Plan::Impl& plan, const Operands& operands, const Memory& memory,
                      const RunOptions& options, int threads) {
  std::vector<convoke_operand> inputs, outputs;
  for (const Slot& slot : step.inputs) inputs.push_back(operand_of(slot, operands, memory));
  for (const Slot& slot : step.outputs) outputs.push_back(operand_of(slot, operands, memory));
  const bind::Operator op = step.binding->op;
  const int status = cpu::run({.function = step.binding->function,
                               .inputs = inputs,
                               .outputs = outputs,
                               .params = bind::convolves(op) || op == bind::Operator::pack ? &plan.params : nullptr,
                               .scratch = step.workspace ? memory.at(*step.workspace) : nullptr,
                               .scratch_bytes = step.workspace ? step.workspace->bytes : 0,
                               .threads = std::min(threads, step.most_threads.value_or(threads)),
                               .parallel_for = &options.parallel_for});
  if (status == cpu::pool_failure)
    return fail(ErrorCode::invalid_argument, "parallel_for", {},
                "parallel_for threw, or did not run every range of [0, count) once; out is incomplete");
  if (status != CONVOKE_OK)
    return fail(ErrorCode::kernel_failure, "kernel", {named("status", status)}, "{} failed with status {}",
                step.binding->id, status);
  return {};
}

Result<void> run_plan(const Plan::Impl& plan, const Operands& operands, const RunOptions& options) {
  if (options.threads < 0)
    return fail(ErrorCode::invalid_argument, "threads", {named("threads", options.threads)},
                "threads = {} must be 0 (all) or more", options.threads);
  if (auto ok = check_operands(operands, plan.request); !ok) return ok;
  if (auto ok = check_scratch(operands, options); !ok) return ok;
  const auto scratch = executor::acquire_scratch(options, plan.route.scratch_bytes);
  if (!scratch) return tl::unexpected(scratch.error());
  const auto device = executor::DeviceMemory::acquire(plan.route.device, plan.route.device_bytes);
  if (!device) return tl::unexpected(device.error());
  const Memory memory{scratch->data, *device};
  const int threads = cpu::usable_threads(options.threads);
  for (const planner::Step& step : plan.route.steps)
    if (auto ok = run_step(step, plan, operands, memory, options, threads); !ok) return ok;
  return {};
}

// A spec whose alignment is what the pointer really has.
TensorSpec measured(const ConstTensor& tensor) {
  TensorSpec spec = tensor.spec;
  spec.align = planned_alignment_of(tensor.data);
  return spec;
}

template <class Params>
Result<void> plan_and_run(const ConstTensor& x, const ConstTensor& weight, const std::optional<ConstTensor>& bias,
                          const Tensor& out, const Params& params, const PlanOptions& options, const RunOptions& run) {
  const std::optional<TensorSpec> bias_spec = bias ? std::optional(measured(*bias)) : std::nullopt;
  const auto planned = plan(measured(x), measured(weight), bias_spec, measured(out), params, options);
  if (!planned) return tl::unexpected(planned.error());
  return planned->run(x, weight, bias, out, run);
}

}  // namespace

Result<void> Plan::run(const ConstTensor& x, const ConstTensor& weight, const std::optional<ConstTensor>& bias,
                       const Tensor& out, const RunOptions& options) const {
  return guarded([&] { return run_plan(*impl_, {x, weight, bias, out}, options); });
}

Result<void> conv2d(const ConstTensor& x, const ConstTensor& weight, const std::optional<ConstTensor>& bias,
                    const Tensor& out, const Conv2dParams& params, const PlanOptions& options, const RunOptions& run) {
  return plan_and_run(x, weight, bias, out, params, options, run);
}

Result<void> conv_transpose2d(const ConstTensor& x, const ConstTensor& weight, const std::optional<ConstTensor>& bias,
                              const Tensor& out, const ConvTranspose2dParams& params, const PlanOptions& options,
                              const RunOptions& run) {
  return plan_and_run(x, weight, bias, out, params, options, run);
}

}  // namespace convoke

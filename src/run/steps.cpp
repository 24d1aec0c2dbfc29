// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "run/steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/fail.hpp"
#include "cpu/call.hpp"
#include "run/device_memory.hpp"
#include "run/scratch_view.hpp"

namespace convoke::executor {
namespace {

using planner::Place;
using planner::Route;
using planner::Slot;
using planner::Step;

// x, weight and bias.
constexpr std::size_t most_inputs = 3;

bool belongs(const Route& route, std::size_t step, Part part) noexcept {
  return part == Part::whole || is_of_weight(route, step) == (part == Part::weight);
}

// The part of the route's scratch that these steps use. It starts at a multiple of what scratch is aligned to, so that
// offsets from there are as aligned as they were.
struct ScratchRange {
  std::size_t begin = 0, end = 0;
};
ScratchRange scratch_of(const Route& route, Part part) noexcept {
  if (part == Part::rest) return {0, route.weight_scratch};
  if (part == Part::whole) return {0, route.scratch_bytes};
  const std::size_t begin = route.weight_scratch / planner::scratch_alignment * planner::scratch_alignment;
  return {begin, route.scratch_bytes};
}

class Steps {
 public:
  Steps(const Plan::Impl& plan, Part part, const Operands& operands, const convoke_operand* packed,
        const RunOptions& options)
      : plan_(plan), part_(part), operands_(operands), packed_(packed), options_(options) {}

  Result<void> run();

 private:
  Result<void> run_step(std::size_t index, int threads);
  std::vector<bool> used_on_device() const;
  void* at(const Slot& slot) const noexcept;
  convoke_operand operand_of(const Slot& slot) const;
  bool is_packed_output(std::size_t step) const noexcept;
  bool is_packed_input(std::size_t step, std::size_t input) const noexcept;

  const Plan::Impl& plan_;
  const Part part_;
  const Operands& operands_;
  const convoke_operand* packed_;
  const RunOptions& options_;
  std::byte* scratch_ = nullptr;
  std::size_t scratch_begin_ = 0;
  const DeviceMemory* device_ = nullptr;
};

bool Steps::is_packed_output(std::size_t step) const noexcept {
  return part_ == Part::weight && step + 1 == plan_.route.weight_end;
}

bool Steps::is_packed_input(std::size_t step, std::size_t input) const noexcept {
  return part_ == Part::rest && step == plan_.route.main_step && input == planner::weight_operand;
}

// Which of the route's device memory these steps touch.
std::vector<bool> Steps::used_on_device() const {
  const Route& route = plan_.route;
  std::vector<bool> used(route.device_bytes.size(), false);
  const auto use = [&](const Slot& slot) {
    if (slot.place == Place::device) used[slot.scratch_offset] = true;
  };
  for (std::size_t i = 0; i < route.steps.size(); ++i) {
    if (!belongs(route, i, part_)) continue;
    const Step& step = route.steps[i];
    for (std::size_t input = 0; input < step.inputs.size(); ++input)
      if (!is_packed_input(i, input)) use(step.inputs[input]);
    if (!is_packed_output(i)) std::ranges::for_each(step.outputs, use);
    if (step.workspace) use(*step.workspace);
  }
  return used;
}

void* Steps::at(const Slot& slot) const noexcept {
  if (slot.place == Place::device) return device_->at(slot.scratch_offset);
  return scratch_ + (slot.scratch_offset - scratch_begin_);
}

// Kernels take one pointer type for both; they only read inputs.
convoke_operand Steps::operand_of(const Slot& slot) const {
  const auto of = [&](const ConstTensor& tensor) {
    return cpu::to_operand(slot.spec, const_cast<void*>(tensor.data), tensor.bytes);
  };
  switch (slot.place) {
    case Place::x:
      return of(operands_.x);
    case Place::weight:
      return of(operands_.weight);
    case Place::bias:
      return of(*operands_.bias);
    case Place::out:
      return of(operands_.out);
    case Place::scratch:
    case Place::device:
      break;
  }
  return cpu::to_operand(slot.spec, at(slot), slot.bytes);
}

Result<void> Steps::run_step(std::size_t index, int threads) {
  const Step& step = plan_.route.steps[index];
  std::array<convoke_operand, most_inputs> inputs{};
  for (std::size_t i = 0; i < step.inputs.size(); ++i)
    inputs[i] = is_packed_input(index, i) ? *packed_ : operand_of(step.inputs[i]);
  const convoke_operand output = is_packed_output(index) ? *packed_ : operand_of(step.outputs.front());
  const bind::Operator op = step.binding->op;
  const int status = cpu::run({.function = step.binding->function,
                               .inputs = std::span(inputs).first(step.inputs.size()),
                               .outputs = std::span(&output, 1),
                               .params = bind::convolves(op) || op == bind::Operator::pack ? &plan_.params : nullptr,
                               .scratch = step.workspace ? at(*step.workspace) : nullptr,
                               .scratch_bytes = step.workspace ? step.workspace->bytes : 0,
                               .threads = std::min(threads, step.most_threads.value_or(threads)),
                               .parallel_for = &options_.parallel_for});
  if (status == cpu::pool_failure)
    return fail(ErrorCode::invalid_argument, "parallel_for", {},
                "parallel_for threw, or did not run every range of [0, count) once; the result is incomplete");
  if (status != CONVOKE_OK)
    return fail(ErrorCode::kernel_failure, "kernel", {named("status", status)}, "{} failed with status {}",
                step.binding->id, status);
  return {};
}

Result<void> Steps::run() {
  const Route& route = plan_.route;
  const ScratchRange range = scratch_of(route, part_);
  const auto scratch = acquire_scratch(options_, range.end - range.begin);
  if (!scratch) return tl::unexpected(scratch.error());
  const auto device = route.device == nullptr
                          ? Result<DeviceMemory>()
                          : DeviceMemory::acquire(route.device, route.device_bytes, used_on_device());
  if (!device) return tl::unexpected(device.error());
  scratch_ = scratch->data;
  scratch_begin_ = range.begin;
  device_ = &*device;
  const int threads = cpu::usable_threads(options_.threads);
  for (std::size_t i = 0; i < route.steps.size(); ++i)
    if (belongs(route, i, part_))
      if (auto ok = run_step(i, threads); !ok) return ok;
  return {};
}

}  // namespace

Result<void> run_steps(const Plan::Impl& plan, Part part, const Operands& operands, const convoke_operand* packed,
                       const RunOptions& options) {
  if (options.threads < 0)
    return fail(ErrorCode::invalid_argument, "threads", {named("threads", options.threads)},
                "threads = {} must be 0 (all) or more", options.threads);
  return Steps(plan, part, operands, packed, options).run();
}

}  // namespace convoke::executor

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/plan/generated_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "tests/device/fake_device.hpp"
#include "tests/device/operand_facts.hpp"

namespace convoke::sweep {
namespace {

using bind::Operator;
using fake::FakeDevice;

std::array<Instance, most_instances> instances;
std::vector<std::string> broken_clauses;

std::int32_t refuse(const Kernel& kernel, const std::string& clause) {
  broken_clauses.push_back(fmt::format("{} was handed what its contract excludes: {}", kernel.name, clause));
  return CONVOKE_RUNTIME_FAILURE;
}

// What a packed weight starts with: how many elements follow, from the last to the first.
using PackedCount = std::uint64_t;

std::int32_t pack(const convoke_operand& from, const convoke_operand& to) noexcept {
  const auto size = static_cast<std::size_t>(fake::element_size(from));
  const auto count = static_cast<PackedCount>(fake::elements(from));
  if (to.bytes < sizeof count + count * size) return CONVOKE_RUNTIME_FAILURE;
  auto* at = static_cast<std::byte*>(to.data);
  std::memcpy(at, &count, sizeof count);
  at += sizeof count + count * size;
  std::array<std::int64_t, CONVOKE_MAX_RANK> index{};
  for (PackedCount i = 0; i < count; ++i) {
    std::int64_t place = from.offset;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(from.rank); ++axis)
      place += index[axis] * from.stride[axis];
    at -= size;
    std::memcpy(at, static_cast<const std::byte*>(from.data) + place * static_cast<std::int64_t>(size), size);
    for (int axis = from.rank - 1; axis >= 0 && ++index[static_cast<std::size_t>(axis)] == from.shape[axis]; --axis)
      index[static_cast<std::size_t>(axis)] = 0;
  }
  return CONVOKE_OK;
}

// The weight as it was before it was packed; nullopt: what is there was not packed.
std::optional<std::vector<std::byte>> unpacked(const convoke_operand& weight) {
  const auto size = static_cast<std::size_t>(fake::element_size(weight));
  PackedCount count = 0;
  if (weight.bytes < sizeof count) return std::nullopt;
  std::memcpy(&count, weight.data, sizeof count);
  if (count != static_cast<PackedCount>(fake::elements(weight))) return std::nullopt;
  if (weight.bytes < sizeof count + count * size) return std::nullopt;
  std::vector<std::byte> memory(count * size);
  const auto* const packed = static_cast<const std::byte*>(weight.data) + sizeof count;
  for (PackedCount i = 0; i < count; ++i) std::memcpy(memory.data() + i * size, packed + (count - 1 - i) * size, size);
  return memory;
}

std::string portable_name(const Instance& instance) {
  const std::string dtype(name_of(instance.dtype));
  switch (instance.kernel->op) {
    case Operator::conv2d:
      return "conv2d_" + dtype;
    case Operator::conv_transpose2d:
      return "conv_transpose2d_" + dtype;
    case Operator::cast:
      return fmt::format("cast_to_{}_{}", name_of(*instance.kernel->cast_to), dtype);
    case Operator::copy_out:
    case Operator::download:
      return "copy_out_" + dtype;
    case Operator::contiguize:
    case Operator::upload:
    case Operator::pack:
      break;
  }
  return "contiguize_" + dtype;
}

void move_to_aligned(convoke_operand& operand, std::vector<std::vector<std::max_align_t>>& memory) {
  const auto size = static_cast<std::uintptr_t>(fake::element_size(operand));
  if (reinterpret_cast<std::uintptr_t>(operand.data) % size == 0 || operand.bytes == 0) return;
  auto& copy = memory.emplace_back(operand.bytes / sizeof(std::max_align_t) + 1);
  std::memcpy(copy.data(), operand.data, operand.bytes);
  operand.data = copy.data();
}

std::int32_t compute(const Instance& instance, const convoke_call& call, std::span<convoke_operand> inputs,
                     const convoke_operand& output) {
  if (instance.kernel->op == Operator::pack) return pack(inputs[0], output);
  std::optional<std::vector<std::byte>> weight;
  if (instance.kernel->packed_bytes != nullptr) {
    weight = unpacked(inputs[1]);
    if (!weight) return refuse(*instance.kernel, "a packed weight");
    inputs[1].data = weight->data();
    inputs[1].bytes = weight->size();
  }
  // The portable convolutions want elements aligned, a contract with `alignment_bytes: 1` does not.
  std::vector<std::vector<std::max_align_t>> moved;
  for (convoke_operand& input : inputs) move_to_aligned(input, moved);
  convoke_operand out = output;
  move_to_aligned(out, moved);
  const std::int32_t status = fake::call_portable(portable_name(instance), call, inputs, out);
  if (out.data != output.data) std::memcpy(output.data, out.data, output.bytes);
  return status;
}

// The operand with a host pointer, where it lies in the memory that the operator finds it in.
bool reach(const Kernel& kernel, bool input, convoke_operand& operand) {
  const Operator here = input ? Operator::download : Operator::upload;
  const Operator there = input ? Operator::upload : Operator::download;
  const bool on_device = kernel.op == here || (kernel.on_device && kernel.op != there);
  if (FakeDevice::is_handle(operand.data) != on_device) return false;
  if (!on_device) return true;
  operand.data = FakeDevice::get().memory(operand.data, operand.bytes);
  return operand.data != nullptr;
}

std::int32_t run(const Instance& instance, const convoke_call& handed) {
  const Kernel& kernel = *instance.kernel;
  convoke_call call = handed;
  std::vector<convoke_operand> inputs;
  for (int i = 0; i < call.input_count; ++i) inputs.push_back(*call.inputs[i]);
  convoke_operand output = *call.outputs[0];
  for (convoke_operand& input : inputs)
    if (!reach(kernel, true, input)) return refuse(kernel, "the memory of an input");
  if (!reach(kernel, false, output)) return refuse(kernel, "the memory of the output");
  const bool transfers = kernel.op == Operator::upload || kernel.op == Operator::download;
  if (call.scratch_bytes > 0) {
    if (FakeDevice::is_handle(call.scratch)) call.scratch = FakeDevice::get().memory(call.scratch, call.scratch_bytes);
    if (FakeDevice::is_handle(handed.scratch) != (kernel.on_device && !transfers) && !transfers)
      return refuse(kernel, "the memory of the scratch");
    if (reinterpret_cast<std::uintptr_t>(call.scratch) % 64 != 0) return refuse(kernel, "the alignment of the scratch");
  }
  if (const auto clause = broken_clause(instance, call, inputs, output)) return refuse(kernel, *clause);
  // Whoever else keeps something there loses it.
  if (call.scratch_bytes > 0) std::memset(call.scratch, 0xa5, call.scratch_bytes);
  return compute(instance, call, inputs, output);
}

template <std::size_t index>
std::int32_t run_instance(const convoke_call* call) noexcept {
  return run(instances[index], *call);
}

template <std::size_t... index>
constexpr std::array<convoke_host_kernel, sizeof...(index)> functions(std::index_sequence<index...>) {
  return {run_instance<index>...};
}

}  // namespace

convoke_host_kernel function_of(std::size_t index) noexcept {
  static constexpr auto all = functions(std::make_index_sequence<most_instances>());
  return all[index];
}

std::span<Instance> bound() noexcept { return instances; }

std::vector<std::string> take_broken() { return std::exchange(broken_clauses, {}); }

}  // namespace convoke::sweep

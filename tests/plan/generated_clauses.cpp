// SPDX-License-Identifier: Apache-2.0 OR MIT
// Whether a call keeps the clauses of a generated contract.
#include <fmt/format.h>

#include <algorithm>

#include "base/host.hpp"
#include "tests/device/operand_facts.hpp"
#include "tests/plan/generated_kernel.hpp"

namespace convoke::sweep {
namespace {

using Broken = std::optional<std::string>;

Broken broken(const OperandClauses& clauses, std::string_view what) { return fmt::format("{}.{}", clauses.role, what); }

Broken broken_flags(const OperandClauses& clauses, const convoke_operand& operand) {
  static const Flags dense;
  const Flags& flags = clauses.flags ? *clauses.flags : dense;
  if (!flags.offset && operand.offset != 0) return broken(clauses, "start_offset");
  if (flags.broadcast_axis && operand.stride[*flags.broadcast_axis] != 0 && operand.shape[*flags.broadcast_axis] != 1)
    return broken(clauses, "broadcast_axes");
  if (fake::is_dense(operand)) return {};
  if (flags.contiguous == Flags::Contiguous::required) return broken(clauses, "contiguous");
  if (!flags.strided) return broken(clauses, "strided");
  const bool broadcast = flags.broadcast || flags.broadcast_axis.has_value();
  if (!broadcast && fake::has_stride(operand, [](std::int64_t stride) { return stride == 0; }))
    return broken(clauses, "broadcast_stride0");
  if (!flags.reverse && fake::has_stride(operand, [](std::int64_t stride) { return stride < 0; }))
    return broken(clauses, "reverse_strides");
  return {};
}

Broken broken_alignment(const OperandClauses& clauses, const convoke_operand& operand, std::size_t alignment) {
  if (fake::elements(operand) == 0) return {};
  const auto address = reinterpret_cast<std::uintptr_t>(operand.data) +
                       static_cast<std::uintptr_t>(operand.offset * fake::element_size(operand));
  return address % alignment == 0 ? Broken{} : broken(clauses, "alignment_bytes");
}

Broken broken_operand(const OperandClauses& clauses, const convoke_operand& operand, const Sizes& sizes, bool packed,
                      std::size_t alignment) {
  if (operand.size != sizeof operand) return broken(clauses, "size");
  if (operand.rank < clauses.min_rank || operand.rank > clauses.max_rank) return broken(clauses, "rank");
  if (!packed && !fake::lies_inside(operand)) return broken(clauses, "bytes");
  if (auto flags = broken_flags(clauses, operand)) return flags;
  if (auto aligned = broken_alignment(clauses, operand, alignment)) return aligned;
  const Seen seen{sizes, operand};
  if (clauses.layout != nullptr && !clauses.layout->holds(seen)) return broken(clauses, clauses.layout->text);
  if (clauses.shape != nullptr && !clauses.shape->holds(seen)) return broken(clauses, clauses.shape->text);
  return {};
}

Sizes sizes_of(const Instance& instance, const convoke_call& call, std::span<const convoke_operand> inputs,
               const convoke_operand& out) {
  Sizes sizes;
  sizes.n = fake::elements(out);
  sizes.dtype_bytes = fake::element_size(out);
  if (!bind::convolves(instance.kernel->op)) return sizes;
  const convoke_operand &x = inputs[0], &weight = inputs[1];
  const auto& params = *static_cast<const convoke_conv_params*>(call.params);
  sizes.N = x.shape[0], sizes.Cin = x.shape[1], sizes.H = x.shape[2], sizes.W = x.shape[3];
  sizes.Cout = out.shape[1], sizes.Ho = out.shape[2], sizes.Wo = out.shape[3];
  sizes.Kh = weight.shape[2], sizes.Kw = weight.shape[3], sizes.groups = params.groups;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    sizes.stride[axis] = params.stride[axis];
    sizes.padding[axis] = params.padding[axis];
    sizes.dilation[axis] = params.dilation[axis];
  }
  sizes.weight_count = fake::elements(weight);
  return sizes;
}

Broken broken_scratch(const Kernel& kernel, const convoke_call& call, const Sizes& sizes) {
  const std::optional<std::int64_t> wanted =
      kernel.workspace == nullptr ? std::optional<std::int64_t>(0) : kernel.workspace->value(sizes);
  if (!wanted) return "workspace_bytes without a value";
  if (call.scratch_bytes < static_cast<std::uint64_t>(*wanted)) return "workspace_bytes";
  if (*wanted > 0 && call.scratch == nullptr) return "scratch";
  return {};
}

Broken broken_call(const Instance& instance, const convoke_call& call, std::span<const convoke_operand> inputs) {
  const Kernel& kernel = *instance.kernel;
  const bool convolves = bind::convolves(kernel.op);
  if (call.size != sizeof call || call.version != CONVOKE_KERNEL_VERSION) return "size and version of the call";
  if (call.threads < 1 || call.output_count != 1) return "threads and outputs of the call";
  if ((call.params != nullptr) != (convolves || kernel.op == bind::Operator::pack)) return "params";
  if (inputs.size() != kernel.inputs.size() && !(kernel.bias_is_optional && inputs.size() == 2)) return "inputs";
  if (!kernel.never.empty()) return kernel.never;
  return {};
}

}  // namespace

Broken broken_clause(const Instance& instance, const convoke_call& call, std::span<const convoke_operand> inputs,
                     const convoke_operand& output) {
  if (auto clause = broken_call(instance, call, inputs)) return clause;
  const Kernel& kernel = *instance.kernel;
  for (const convoke_operand& input : inputs)
    if (input.dtype != static_cast<int>(instance.dtype)) return "dtype of an input";
  if (output.dtype != static_cast<int>(kernel.cast_to.value_or(instance.dtype))) return "dtype of the output";
  const Sizes sizes = sizes_of(instance, call, inputs, output);
  for (const Field& field : kernel.fields)
    if (field.rule != nullptr && !field.rule->holds({sizes, inputs[0]}))
      return fmt::format("op_params.{} {}", field.name, field.rule->text);
  const std::size_t alignment = kernel.alignment_of(instance.dtype);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool packed = kernel.packed_bytes != nullptr && i == 1;
    if (auto clause = broken_operand(kernel.inputs[i], inputs[i], sizes, packed, alignment)) return clause;
  }
  const std::size_t out_alignment = kernel.alignment_of(kernel.cast_to.value_or(instance.dtype));
  const bool packs = kernel.op == bind::Operator::pack;
  if (auto clause = broken_operand(kernel.output, output, sizes, packs, out_alignment)) return clause;
  return broken_scratch(kernel, call, sizes);
}

}  // namespace convoke::sweep

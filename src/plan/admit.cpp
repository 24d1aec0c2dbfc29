// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/admit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "base/host.hpp"
#include "base/layout.hpp"
#include "plan/scope.hpp"

namespace convoke::planner {
namespace {

using contract::Acceptance;
using contract::Contiguity;

// Scratch is aligned to a cache line, or to whatever more the contract wants, up to a page.
constexpr std::size_t scratch_align = 64;
constexpr std::size_t max_scratch_align = 4096;

// What one operand's contract says of its layout.
struct LayoutClause {
  std::string role;
  const contract::LayoutFlags* flags;  // null: dense row-major, at offset 0
  const contract::Constraint* constraint;
  std::size_t alignment;
};

// Axes that the contract wants broadcast must be; a copy would destroy what it wants.
bool has_required_broadcast(const TensorSpec& spec, const contract::LayoutFlags& flags) noexcept {
  return std::ranges::all_of(flags.broadcast_axes, [&](int axis) {
    return axis >= 0 && axis < spec.shape.rank() && (spec.strides[axis] == 0 || spec.shape[axis] == 1);
  });
}

Clause layout_clause(const std::string& role, std::string_view what, std::string wanted, std::string found) {
  return {fmt::format("{}.{}", role, what), std::move(wanted), std::move(found)};
}

std::string strides_text(const TensorSpec& spec) {
  return fmt::format("shape {} strides {}", fmt::join(spec.shape, "x"), fmt::join(spec.strides, ","));
}

// The clause that keeps the kernel from taking the operand as it lies; nullopt: it does.
std::optional<Clause> awkward(const TensorSpec& spec, const LayoutClause& clause, const contract::Scope& scope) {
  static const contract::LayoutFlags dense{.contiguous = Contiguity::required, .broadcast_axes = {}};
  const contract::LayoutFlags& flags = clause.flags == nullptr ? dense : *clause.flags;
  const bool empty = element_count(spec.shape).value_or(0) == 0;
  if (!flags.start_offset && spec.offset != 0)
    return layout_clause(clause.role, "layout.start_offset", "0", fmt::to_string(spec.offset));
  if (!empty && !is_contiguous(spec)) {
    if (flags.contiguous == Contiguity::required)
      return layout_clause(clause.role, "layout.contiguous", "dense row-major", strides_text(spec));
    if (!flags.strided) return layout_clause(clause.role, "layout.strided", "dense row-major", strides_text(spec));
    if (flags.broadcast_stride0 == Acceptance::rejected && any_stride(spec, [](std::int64_t s) { return s == 0; }))
      return layout_clause(clause.role, "layout.broadcast_stride0", "no stride of 0", strides_text(spec));
    if (!flags.reverse_strides && any_stride(spec, [](std::int64_t s) { return s < 0; }))
      return layout_clause(clause.role, "layout.reverse_strides", "no negative stride", strides_text(spec));
  }
  if (element_alignment(spec) < clause.alignment && !empty)
    return layout_clause(clause.role, "alignment_bytes", fmt::to_string(clause.alignment),
                         fmt::to_string(element_alignment(spec)));
  if (clause.constraint != nullptr) {
    const contract::Judgement judgement = clause.constraint->judge(scope);
    if (judgement.verdict != contract::Verdict::holds)
      return layout_clause(clause.role, "layout_constraint", judgement.clause, judgement.found);
  }
  return std::nullopt;
}

Clause judged(std::string name, const contract::Judgement& judgement) {
  std::string found = judgement.verdict == contract::Verdict::unknown ? "cannot be evaluated here: " + judgement.found
                                                                      : judgement.found;
  return {std::move(name), judgement.clause, std::move(found)};
}

// backend, requires.isa: whether the function is here at all.
std::optional<Clause> absent(const bind::Binding& binding) {
  if (binding.contract->backend != contract::Backend::cpu && binding.device == nullptr) {
    const std::string backend(bind::name_of(binding.contract->backend));
    return Clause{"backend", backend, "no device of that kind here"};
  }
  if (binding.function == nullptr && binding.missing_isa == 0)
    return Clause{"entry_point", "a function in this build", "none for " + binding.contract->entry_point};
  const std::string found = fmt::format("{}", fmt::join(isa_names(host().isa), ","));
  if (binding.function == nullptr)
    return Clause{"requires.isa", fmt::format("{}", fmt::join(isa_names(binding.missing_isa), ",")), found};
  for (const std::string& isa : binding.contract->requires_isa)
    if ((isa_of_name(isa) & ~host().isa) != 0) return Clause{"requires.isa", isa, found};
  if (!binding.contract->requires_device.empty())
    return Clause{"requires.device", binding.contract->requires_device.front(), "none"};
  return std::nullopt;
}

// What the planner does not do, a contract may not want: writing into an input, adding to what `out` held, an output of
// another shape or laid out like an input, wider accesses than elements.
std::optional<Clause> refused_by_return(const bind::Binding& binding) {
  const contract::Contract& contract = *binding.contract;
  const bool copies = !bind::convolves(binding.op);
  const std::string_view shape = binding.op == bind::Operator::conv2d ? "conv2d(" : "conv_transpose2d(";
  for (const contract::Output& output : contract.outputs) {
    if (!output.aliasing.empty() && output.aliasing != "none")
      return Clause{output.name + ".aliasing", "none", output.aliasing};
    if (!copies && !output.shape_rule.starts_with(shape))
      return Clause{output.name + ".shape_rule", fmt::format("{}params)", shape), output.shape_rule};
    if (!copies && output.layout_guarantee == contract::LayoutGuarantee::same_as)
      return Clause{output.name + ".layout_guarantee", "contiguous or preallocated", "same_as"};
  }
  if (contract.caps.in_place) return Clause{"caps.in_place", "false", "true"};
  const std::uint64_t granularity = contract.caps.access_granularity_bits.value_or(8);
  for (const DType dtype : binding.dtypes)
    if (granularity > 8 * size_of(dtype))
      return Clause{"access_granularity_bits", fmt::format("at most {}", 8 * size_of(dtype)),
                    fmt::to_string(granularity)};
  return std::nullopt;
}

// op_params first: `groups != 0` must be judged before a shape constraint divides by it.
std::optional<Clause> refused_by_constraint(const bind::Binding& binding, const contract::Scope& scope,
                                            const std::vector<TensorSpec>& operands) {
  const contract::Contract& contract = *binding.contract;
  for (const contract::Field& field : contract.fields) {
    if (!field.constraint) continue;
    const contract::Judgement judgement = field.constraint->judge(scope);
    if (judgement.verdict != contract::Verdict::holds) return judged("op_params." + field.name, judgement);
  }
  for (std::size_t i = 0; i < binding.input_count(); ++i) {
    const contract::Operand& operand = contract.inputs[i];
    const std::int64_t rank = operands[i].shape.rank();
    if (rank < operand.rank.min || (operand.rank.max && rank > *operand.rank.max))
      return Clause{operand.name + ".rank",
                    operand.rank.max ? fmt::format("{}..={}", operand.rank.min, *operand.rank.max)
                                     : fmt::format("{}..", operand.rank.min),
                    fmt::to_string(rank)};
    if (!operand.shape_constraint) continue;
    const contract::Judgement judgement = operand.shape_constraint->judge(scope);
    if (judgement.verdict != contract::Verdict::holds) return judged(operand.name + ".shape_constraint", judgement);
  }
  return std::nullopt;
}

// A promise of 2^k bytes satisfies any smaller power of two; other numbers want the next power.
std::size_t wanted_alignment(const bind::Binding& binding, std::size_t index) {
  const std::uint64_t bytes = binding.contract->caps.alignment_bytes.value_or(size_of(binding.dtypes[index]));
  return bytes > max_scratch_align ? static_cast<std::size_t>(bytes) : std::bit_ceil(static_cast<std::size_t>(bytes));
}

// Of memory that a copy is made into: scratch on the host, an allocation on a device.
std::size_t copy_alignment(const bind::Binding& binding, std::size_t wanted) noexcept {
  if (binding.device != nullptr) return std::max<std::size_t>(1, binding.device->alignment);
  return std::clamp(wanted, scratch_align, max_scratch_align);
}

LayoutClause layout_clause_of(const bind::Binding& binding, std::size_t index) {
  const contract::Contract& contract = *binding.contract;
  const std::size_t alignment = wanted_alignment(binding, index);
  if (index < binding.input_count()) {
    const contract::Operand& operand = contract.inputs[index];
    return {operand.name, operand.layout ? &*operand.layout : nullptr,
            operand.layout_constraint ? &*operand.layout_constraint : nullptr, alignment};
  }
  const contract::Output& output = contract.outputs[index - binding.input_count()];
  return {output.name, output.layout ? &*output.layout : nullptr,
          output.layout_constraint ? &*output.layout_constraint : nullptr, alignment};
}

}  // namespace

std::size_t element_alignment(const TensorSpec& spec) noexcept {
  const std::size_t align = spec.align == 0 ? size_of(spec.dtype) : spec.align;
  const std::uint64_t bytes = static_cast<std::uint64_t>(spec.offset) * size_of(spec.dtype);
  if (bytes == 0) return align;
  return std::min<std::size_t>(align, std::size_t{1} << std::min(std::countr_zero(bytes), 12));
}

tl::expected<Fit, Clause> admit(const bind::Binding& binding, const Request& request,
                                const std::vector<TensorSpec>& operands) {
  std::vector<DType> dtypes;
  for (const TensorSpec& spec : operands) dtypes.push_back(spec.dtype);
  if (binding.dtypes != dtypes) {
    const auto text = [](const std::vector<DType>& list) {
      std::vector<std::string_view> names;
      for (DType dtype : list) names.push_back(name_of(dtype));
      return fmt::format("{}", fmt::join(names, ","));
    };
    return tl::unexpected(Clause{"key", text(binding.dtypes), text(dtypes)});
  }
  if (auto clause = absent(binding)) return tl::unexpected(std::move(*clause));

  Fit fit{operands, std::vector<bool>(operands.size(), false)};
  const RequestScope scope(request, *binding.contract, fit.operands, binding.input_count(), Use::constraint);
  if (auto clause = refused_by_return(binding)) return tl::unexpected(std::move(*clause));
  if (auto clause = refused_by_constraint(binding, scope, operands)) return tl::unexpected(std::move(*clause));

  for (std::size_t i = 0; i < operands.size(); ++i) {
    const LayoutClause clause = layout_clause_of(binding, i);
    if (i < binding.input_count() && clause.flags != nullptr &&
        clause.flags->broadcast_stride0 == Acceptance::required && !has_required_broadcast(operands[i], *clause.flags))
      return tl::unexpected(layout_clause(clause.role, "layout.broadcast_axes",
                                          fmt::format("axes {}", fmt::join(clause.flags->broadcast_axes, ",")),
                                          strides_text(operands[i])));
    const auto why = awkward(operands[i], clause, scope);
    if (!why) continue;
    // A copy would lay out the axes that the contract wants broadcast.
    if (clause.flags != nullptr && clause.flags->broadcast_stride0 == Acceptance::required) return tl::unexpected(*why);
    fit.copied[i] = true;
    fit.operands[i] = TensorSpec::dense(operands[i].dtype, operands[i].shape);
    fit.operands[i].align = copy_alignment(binding, clause.alignment);
    if (auto still = awkward(fit.operands[i], clause, scope)) return tl::unexpected(std::move(*still));
  }
  return fit;
}

}  // namespace convoke::planner

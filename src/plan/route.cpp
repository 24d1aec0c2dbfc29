// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/glob.hpp"
#include "base/layout.hpp"
#include "plan/scope.hpp"

namespace convoke::planner {
namespace {

// Regions of scratch lie one after another, each at its own alignment.
std::optional<std::size_t> reserve(Route& route, std::size_t bytes, std::size_t align) {
  const std::size_t mask = align - 1;
  if (route.scratch_bytes > SIZE_MAX / 2 || bytes > SIZE_MAX / 2) return std::nullopt;
  const std::size_t offset = (route.scratch_bytes + mask) & ~mask;
  route.scratch_bytes = offset + bytes;
  return offset;
}

// The first kernel of a copy operator that takes these two operands as they lie.
const bind::Binding* find_copy(const bind::BindingTable& table, bind::Operator op, const Request& request,
                               const std::vector<TensorSpec>& operands, const std::vector<std::string>& forbid) {
  for (const bind::Binding& binding : table.all()) {
    if (binding.op != op || binding.foreign || binding.alias_of || is_forbidden(forbid, binding.id)) continue;
    const auto fit = admit(binding, request, operands);
    if (fit && !fit->copied[0] && !fit->copied[1]) return &binding;
  }
  return nullptr;
}

tl::expected<Slot, Clause> scratch_slot(Route& route, const TensorSpec& spec) {
  const std::size_t bytes = static_cast<std::size_t>(*element_count(spec.shape)) * size_of(spec.dtype);
  const auto offset = reserve(route, bytes, spec.align);
  if (!offset) return tl::unexpected(Clause{"workspace", "a size that fits the address space", "more"});
  return Slot{Place::scratch, *offset, bytes, spec};
}

Clause no_copy(bind::Operator op, const TensorSpec& spec) {
  return {std::string(bind::token_of(op)), fmt::format("a {} kernel for this layout", bind::token_of(op)),
          fmt::format("none for {} of rank {}", name_of(spec.dtype), spec.shape.rank())};
}

// Reserves what the kernel wants as workspace_bytes; a formula that cannot be evaluated refuses.
tl::expected<void, Clause> add_workspace(Route& route, Step& step, const Request& request,
                                         const std::vector<TensorSpec>& operands) {
  const contract::Contract& contract = *step.binding->contract;
  if (!contract.workspace_bytes) return {};
  const RequestScope scope(request, contract, operands, step.binding->input_count(), Use::cost);
  const std::optional<double> bytes = contract.workspace_bytes->evaluate(scope);
  if (!bytes || *bytes > 0x1p53)
    return tl::unexpected(Clause{"workspace_bytes", contract.workspace_bytes->text(), "no usable value here"});
  step.workspace_bytes = static_cast<std::size_t>(std::ceil(*bytes));
  const auto offset = reserve(route, step.workspace_bytes, 64);
  if (!offset) return tl::unexpected(Clause{"workspace_bytes", "a size that fits the address space", "more"});
  step.workspace_offset = *offset;
  return {};
}

}  // namespace

bool is_forbidden(const std::vector<std::string>& forbid, std::string_view id) noexcept {
  return std::ranges::any_of(forbid, [&](const std::string& glob) { return glob_match(glob, id); });
}

tl::expected<Route, Clause> build_route(const bind::BindingTable& table, const bind::Binding& binding,
                                        const Request& request, const std::vector<std::string>& forbid) {
  std::vector<TensorSpec> operands{request.x, request.weight};
  std::vector<Place> places{Place::x, Place::weight};
  if (request.bias) operands.push_back(*request.bias), places.push_back(Place::bias);
  operands.push_back(request.out), places.push_back(Place::out);

  const auto fit = admit(binding, request, operands);
  if (!fit) return tl::unexpected(fit.error());

  Route route;
  Step main{&binding, {}, {}};
  std::optional<Step> copy_out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool output = places[i] == Place::out;
    Slot slot{places[i], 0, 0, operands[i]};
    if (fit->copied[i]) {
      auto scratch = scratch_slot(route, fit->operands[i]);
      if (!scratch) return tl::unexpected(scratch.error());
      const auto op = output ? bind::Operator::copy_out : bind::Operator::contiguize;
      const std::vector<TensorSpec> ends =
          output ? std::vector{scratch->spec, slot.spec} : std::vector{slot.spec, scratch->spec};
      const bind::Binding* copy = find_copy(table, op, request, ends, forbid);
      if (copy == nullptr) return tl::unexpected(no_copy(op, operands[i]));
      if (output)
        copy_out = Step{copy, {*scratch}, {slot}};
      else
        route.steps.push_back(Step{copy, {slot}, {*scratch}});
      slot = *scratch;
    }
    (output ? main.outputs : main.inputs).push_back(slot);
  }
  if (auto ok = add_workspace(route, main, request, fit->operands); !ok) return tl::unexpected(ok.error());
  route.main_step = route.steps.size();
  route.steps.push_back(std::move(main));
  if (copy_out) route.steps.push_back(std::move(*copy_out));
  return route;
}

}  // namespace convoke::planner

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/candidates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/glob.hpp"
#include "base/host.hpp"
#include "base/layout.hpp"
#include "plan/demand.hpp"

namespace convoke::planner {
namespace {

using bind::Binding;

// Whether every value of `from` is one of `to`.
bool widens(DType from, DType to) noexcept {
  if (to == DType::f64) return from != DType::f64;
  return to == DType::f32 && (from == DType::bf16 || from == DType::f16);
}

std::vector<DType> key_of(const Request& request) { return std::vector<DType>(request.bias ? 4 : 3, request.dtype()); }

std::string key_text(const std::vector<DType>& key) {
  std::string text;
  for (const DType dtype : key) text += (text.empty() ? "" : ",") + std::string(convoke::name_of(dtype));
  return text;
}

// Whether the binding is among those that may convolve at all.
tl::expected<void, Clause> forced(const Binding& binding, const PlanOptions& options) {
  if (options.kernel.empty() || glob_match(options.kernel, binding.id)) return {};
  return tl::unexpected(Clause{"kernel", options.kernel, binding.id});
}

// Filters that need no look at the contract's clauses.
tl::expected<void, Clause> wanted(const bind::BindingTable& table, const Binding& binding, const Request& request,
                                  const Variant& variant, const PlanOptions& options) {
  if (is_forbidden(options.forbid, binding.id))
    return tl::unexpected(Clause{"forbid", fmt::format("{}", fmt::join(options.forbid, " ")), binding.id});
  const std::string_view backend = bind::name_of(binding.contract->backend);
  if (!options.backends.empty() && std::ranges::find(options.backends, backend) == options.backends.end())
    return tl::unexpected(
        Clause{"backend", fmt::format("{}", fmt::join(options.backends, " or ")), std::string(backend)});
  if (auto met = meets(binding, demand_of(options), request, variant.through); !met) return met;
  if (binding.alias_of && options.kernel.empty() && !is_forbidden(options.forbid, table.all()[*binding.alias_of].id))
    return tl::unexpected(Clause{"alias", "a function of its own", "alias of " + table.all()[*binding.alias_of].id});
  return {};
}

// Whether the convolution is handed a tensor of the caller's that is not dense.
bool walks_gaps(const Route& route) noexcept {
  const auto gaps = [](const Slot& slot) {
    return slot.place != Place::scratch && slot.place != Place::device && !is_contiguous(slot.spec);
  };
  const Step& main = route.steps[route.main_step];
  return std::ranges::any_of(main.inputs, gaps) || std::ranges::any_of(main.outputs, gaps);
}

}  // namespace

tl::expected<Variant, Clause> approach(const Binding& binding, const Request& request) {
  const std::vector<DType> key = key_of(request);
  if (binding.dtypes == key) return Variant{};
  const DType worked_in = binding.dtypes.front();
  const bool uniform = std::ranges::all_of(binding.dtypes, [&](DType dtype) { return dtype == worked_in; });
  if (uniform && binding.dtypes.size() == key.size() && widens(key.front(), worked_in))
    return Variant{.dense = false, .through = worked_in};
  return tl::unexpected(Clause{"key", key_text(binding.dtypes), key_text(key)});
}

Result<void> check_options(const PlanOptions& options) {
  if (options.threads < 0)
    return fail(ErrorCode::invalid_argument, "threads", {named("threads", options.threads)},
                "threads = {} must be 0 (all) or more", options.threads);
  const double factor = options.demand ? options.demand->factor : 1;
  if (!(factor > 0) || !std::isfinite(factor))
    return fail(ErrorCode::invalid_argument, "demand", {named("factor", factor)},
                "the factor {} of the demand must be positive and finite", factor);
  return {};
}

Demand demand_of(const PlanOptions& options) {
  return options.demand.value_or(options.kernel.empty() ? Demand::reproducible() : Demand::any());
}

Workshop::Options workshop_options(const PlanOptions& options) {
  return {.forbid = &options.forbid,
          .steps = nullptr,
          .any_copies = demand_of(options).kind == Demand::Kind::any,
          .rates = options.rates,
          .threads = options.threads == 0 ? host().cores : options.threads,
          .workspace_cap = options.workspace_cap,
          .packed_weight = options.packed_weight};
}

std::vector<Candidate> candidates(const bind::BindingTable& table, const Request& request, const PlanOptions& options) {
  std::vector<Candidate> all;
  Workshop workshop(table, request, workshop_options(options));
  for (const Binding& binding : table.all()) {
    if (binding.op != bind::operator_of(request.geometry.op)) continue;
    const auto variant = forced(binding, options).and_then([&] { return approach(binding, request); });
    if (!variant) {
      all.push_back({&binding, {}, tl::unexpected(variant.error())});
      continue;
    }
    auto route = wanted(table, binding, request, *variant, options).and_then([&] {
      return build_route(workshop, binding, *variant);
    });
    const bool copying_might_pay = route && !variant->through && walks_gaps(*route);
    all.push_back({&binding, *variant, std::move(route)});
    if (!copying_might_pay) continue;
    const Variant dense{.dense = true, .through = {}};
    all.push_back({&binding, dense, build_route(workshop, binding, dense)});
  }
  return all;
}

std::optional<std::size_t> cheapest(const std::vector<Candidate>& candidates) {
  std::optional<std::size_t> best;
  const auto rank = [](const Route& route) { return std::tuple(route.ns, determinism_of(route), route.steps.size()); };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i].route) continue;
    if (!best || rank(*candidates[i].route) < rank(*candidates[*best].route)) best = i;
  }
  return best;
}

contract::Determinism determinism_of(const Route& route) noexcept {
  contract::Determinism weakest = contract::Determinism::bitwise;
  for (const Step& step : route.steps) weakest = std::max(weakest, step.binding->contract->determinism);
  return weakest;
}

std::string name_of(const Candidate& candidate) {
  if (candidate.route) return text_of(*candidate.route);
  const Variant& variant = candidate.variant;
  const std::string how = variant.through ? fmt::format("through {}: ", convoke::name_of(*variant.through))
                          : variant.dense ? std::string("dense: ")
                                          : std::string();
  return how + candidate.binding->id;
}

}  // namespace convoke::planner

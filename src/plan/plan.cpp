// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/fail.hpp"
#include "base/geometry.hpp"
#include "base/glob.hpp"
#include "base/guard.hpp"
#include "plan/plan_impl.hpp"

namespace convoke {
namespace {

using planner::Clause;
using planner::Request;
using planner::Route;

// Filters that need no look at the request: force, forbid, aliases, demand.
tl::expected<void, Clause> wanted(const bind::BindingTable& table, const bind::Binding& binding,
                                  const PlanOptions& options, Demand demand) {
  if (!options.kernel.empty() && !glob_match(options.kernel, binding.id))
    return tl::unexpected(Clause{"kernel", options.kernel, binding.id});
  if (planner::is_forbidden(options.forbid, binding.id))
    return tl::unexpected(Clause{"forbid", fmt::format("{}", fmt::join(options.forbid, " ")), binding.id});
  if (auto met = planner::meets(binding, demand); !met) return met;
  if (binding.alias_of && options.kernel.empty() &&
      !planner::is_forbidden(options.forbid, table.all()[*binding.alias_of].id))
    return tl::unexpected(Clause{"alias", "a function of its own", "alias of " + table.all()[*binding.alias_of].id});
  return {};
}

convoke_conv_params kernel_params(const Geometry& geometry) {
  const ConvParams& p = geometry.params;
  return {.size = sizeof(convoke_conv_params),
          .reserved = 0,
          .stride = {p.stride.h, p.stride.w},
          .padding = {p.padding.top, p.padding.left},
          .dilation = {p.dilation.h, p.dilation.w},
          .groups = p.groups};
}

// One line a candidate in the text, and the same among the values: ImplId, and the clause that refused it.
Error nothing_admits(const Request& request, const std::vector<Refusal>& refusals) {
  Error error{ErrorCode::no_kernel,
              refusals.empty() ? "catalog" : refusals.front().clause,
              fmt::format("no kernel admits this {} in {}", name_of(request.geometry.op), name_of(request.dtype())),
              {}};
  for (const Refusal& refusal : refusals) {
    std::string text = fmt::format("{}: wanted {}, found {}", refusal.clause, refusal.wanted, refusal.found);
    error.message += fmt::format("\n  {}: {}", refusal.kernel, text);
    error.values.emplace_back(refusal.kernel, std::move(text));
  }
  if (refusals.empty()) error.message += ": the catalog holds none for this operation";
  return error;
}

std::string reason_for(const Route& route, std::size_t admitted, const PlanOptions& options) {
  const std::size_t copies = route.steps.size() - 1;
  const std::string steps = copies == 0   ? "takes every operand as it lies"
                            : copies == 1 ? "one operand is copied"
                                          : fmt::format("{} operands are copied", copies);
  if (!options.kernel.empty()) return fmt::format("matches '{}'; {}", options.kernel, steps);
  if (admitted == 1) return "the only kernel that meets the demand and admits this; " + steps;
  return fmt::format("the fewest steps of {} kernels that meet the demand and admit this; {}", admitted, steps);
}

Result<Plan> make_plan(Request request, const PlanOptions& options) {
  const Catalog& catalog = options.catalog == nullptr ? Catalog::builtin() : *options.catalog;
  const Demand demand = options.demand.value_or(options.kernel.empty() ? Demand::reproducible : Demand::any);
  std::optional<Route> best;
  std::vector<Refusal> refusals;
  std::size_t admitted = 0;
  for (const bind::Binding& binding : catalog.table().all()) {
    if (binding.op != bind::operator_of(request.geometry.op)) continue;
    auto route = wanted(catalog.table(), binding, options, demand).and_then([&] {
      return planner::build_route(catalog.table(), binding, request, options.forbid);
    });
    if (!route) {
      Clause& clause = route.error();
      refusals.push_back({binding.id, std::move(clause.clause), std::move(clause.wanted), std::move(clause.found)});
      continue;
    }
    ++admitted;
    if (!best || route->steps.size() < best->steps.size()) best = std::move(*route);
  }
  if (!best) return tl::unexpected(nothing_admits(request, refusals));
  const convoke_conv_params params = kernel_params(request.geometry);
  const Dims shape = request.geometry.out_shape();
  std::string kernel = best->steps[best->main_step].binding->id;
  std::string reason = reason_for(*best, admitted, options);
  return Plan(
      std::make_shared<const Plan::Impl>(Plan::Impl{catalog, std::move(request), std::move(*best), params,
                                                    std::move(kernel), std::move(reason), std::move(refusals), shape}));
}

Result<Plan> plan_any(Op op, const TensorSpec& x, const TensorSpec& weight, const std::optional<TensorSpec>& bias,
                      const TensorSpec& out, const ConvParams& params, const PlanOptions& options) {
  return guarded([&] {
    return planner::make_request(op, x, weight, bias, out, params).and_then([&](Request request) {
      return make_plan(std::move(request), options);
    });
  });
}

Result<Dims> shape_of(Op op, const Dims& x, const Dims& weight, const ConvParams& params) {
  return guarded([&] {
    return make_geometry(op, x, weight, std::nullopt, params).map([](const Geometry& geometry) {
      return geometry.out_shape();
    });
  });
}

}  // namespace

Result<Dims> output_shape(const Dims& x, const Dims& weight, const Conv2dParams& params) {
  return shape_of(Op::conv2d, x, weight, to_conv_params(params));
}

Result<Dims> output_shape(const Dims& x, const Dims& weight, const ConvTranspose2dParams& params) {
  return shape_of(Op::conv_transpose2d, x, weight, to_conv_params(params));
}

Result<Plan> plan(const TensorSpec& x, const TensorSpec& weight, const std::optional<TensorSpec>& bias,
                  const TensorSpec& out, const Conv2dParams& params, const PlanOptions& options) {
  return plan_any(Op::conv2d, x, weight, bias, out, to_conv_params(params), options);
}

Result<Plan> plan(const TensorSpec& x, const TensorSpec& weight, const std::optional<TensorSpec>& bias,
                  const TensorSpec& out, const ConvTranspose2dParams& params, const PlanOptions& options) {
  return plan_any(Op::conv_transpose2d, x, weight, bias, out, to_conv_params(params), options);
}

const std::string& Plan::kernel() const noexcept { return impl_->kernel; }

std::vector<std::string> Plan::route() const {
  std::vector<std::string> ids;
  for (const planner::Step& step : impl_->route.steps) ids.push_back(step.binding->id);
  return ids;
}

const std::string& Plan::reason() const noexcept { return impl_->reason; }
const std::vector<Refusal>& Plan::refusals() const noexcept { return impl_->refusals; }
const Dims& Plan::output_shape() const noexcept { return impl_->output_shape; }
double Plan::flops() const noexcept { return impl_->request.geometry.flops(); }

std::size_t Plan::workspace_bytes() const noexcept {
  const std::size_t bytes = impl_->route.scratch_bytes;
  return bytes == 0 ? 0 : bytes + planner::scratch_alignment - 1;
}

}  // namespace convoke

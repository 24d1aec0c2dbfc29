// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/plan.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/duration.hpp"
#include "base/geometry.hpp"
#include "base/guard.hpp"
#include "base/keyed_cache.hpp"
#include "plan/candidates.hpp"
#include "plan/plan_impl.hpp"
#include "plan/plan_key.hpp"

namespace convoke {
namespace planner {
namespace {

convoke_conv_params kernel_params(const Geometry& geometry) {
  const ConvParams& p = geometry.params;
  return {.size = sizeof(convoke_conv_params),
          .reserved = 0,
          .stride = {p.stride.h, p.stride.w},
          .padding = {p.padding.top, p.padding.left},
          .dilation = {p.dilation.h, p.dilation.w},
          .groups = p.groups};
}

}  // namespace

Plan make_plan(std::shared_ptr<const bind::BindingTable> table, Request request, const Variant& variant, Route route,
               Demand demand, std::string reason, std::vector<Refusal> refusals) {
  const convoke_conv_params params = kernel_params(request.geometry);
  const Dims shape = request.geometry.out_shape();
  std::string kernel = route.steps[route.main_step].binding->id;
  return Plan(std::make_shared<const Plan::Impl>(
      Plan::Impl{std::move(table), std::move(request), variant, std::move(route), std::move(demand), params,
                 std::move(kernel), std::move(reason), std::move(refusals), shape}));
}

}  // namespace planner

namespace {

using planner::Candidate;
using planner::Clause;
using planner::Request;
using planner::Route;

// One line a candidate in the text, and the same among the values: ImplId, and the clause that refused it.
Error nothing_admits(const Request& request, const Demand& demand, const std::vector<Refusal>& refusals) {
  Error error{ErrorCode::no_kernel,
              refusals.empty() ? "catalog" : refusals.front().clause,
              fmt::format("no kernel meets the demand {} and admits this {} in {}", text_of(demand),
                          name_of(request.geometry.op), name_of(request.dtype())),
              {}};
  for (const Refusal& refusal : refusals) {
    std::string text = fmt::format("{}: wanted {}, found {}", refusal.clause, refusal.wanted, refusal.found);
    error.message += fmt::format("\n  {}: {}", refusal.kernel, text);
    error.values.emplace_back(refusal.kernel, std::move(text));
  }
  if (refusals.empty()) error.message += ": the catalog holds none for this operation";
  return error;
}

// What the route does to the operands: in words of its steps beside the kernel.
std::string steps_text(const Route& route) {
  if (route.steps.size() == 1) return "takes every operand as it lies";
  std::string text;
  for (const planner::Step& step : route.steps)
    if (!bind::convolves(step.binding->op))
      text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", bind::token_of(step.binding->op), step.role);
  return "with " + text;
}

std::string reason_for(const std::vector<Candidate>& all, std::size_t chosen, const PlanOptions& options) {
  const Route& route = *all[chosen].route;
  const Route* next = nullptr;
  std::size_t admitted = 0;
  for (const Candidate& candidate : all) {
    if (!candidate.route) continue;
    ++admitted;
    if (&*candidate.route != &route && (next == nullptr || candidate.route->ns < next->ns)) next = &*candidate.route;
  }
  const std::string forced = options.kernel.empty() ? "" : fmt::format("matches '{}'; ", options.kernel);
  const std::string steps = steps_text(route);
  if (next == nullptr && !forced.empty()) return forced + steps;
  if (next == nullptr) return "the only route that meets the demand and admits this; " + steps;
  return fmt::format("{}the cheapest of {} routes, priced {}, the next {}; {}", forced, admitted,
                     duration_text(route.ns), duration_text(next->ns), steps);
}

std::vector<Refusal> refusals_of(const std::vector<Candidate>& all) {
  std::vector<Refusal> refusals;
  for (const Candidate& candidate : all) {
    if (candidate.route) continue;
    const Clause& clause = candidate.route.error();
    refusals.push_back({candidate.binding->id, clause.clause, clause.wanted, clause.found});
  }
  return refusals;
}

Result<Plan> plan_cold(const Catalog& catalog, Request request, const PlanOptions& options) {
  auto all = planner::candidates(catalog.table(), request, options);
  auto refusals = refusals_of(all);
  Demand demand = planner::demand_of(options);
  const auto chosen = planner::cheapest(all);
  if (!chosen) return tl::unexpected(nothing_admits(request, demand, refusals));
  std::string reason = reason_for(all, *chosen, options);
  return planner::make_plan(catalog.shared_table(), std::move(request), all[*chosen].variant,
                            *std::move(all[*chosen].route), std::move(demand), std::move(reason), std::move(refusals));
}

Result<Plan> plan_any(Op op, const TensorSpec& x, const TensorSpec& weight, const std::optional<TensorSpec>& bias,
                      const TensorSpec& out, const ConvParams& params, const PlanOptions& options) {
  return guarded([&]() -> Result<Plan> {
    const Catalog& catalog = options.catalog == nullptr ? Catalog::builtin() : *options.catalog;
    thread_local std::vector<std::uint64_t> key;  // kept, so that a hit allocates nothing
    key.clear();
    planner::append_key({op, x, weight, bias, out, params, options}, key);
    if (auto hit = catalog.plans().find(key)) return Plan(std::static_pointer_cast<const Plan::Impl>(std::move(hit)));
    if (auto ok = planner::check_options(options); !ok) return tl::unexpected(ok.error());
    auto request = planner::make_request(op, x, weight, bias, out, params);
    if (!request) return tl::unexpected(request.error());
    auto plan = plan_cold(catalog, *std::move(request), options);
    if (plan) catalog.plans().insert(key, plan->shared_impl());
    return plan;
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
double Plan::price_ns() const noexcept { return impl_->route.ns; }
double Plan::flops() const noexcept { return impl_->request.geometry.flops(); }

std::size_t Plan::workspace_bytes() const noexcept { return planner::workspace_bytes(impl_->route); }

std::size_t Plan::packed_workspace_bytes() const noexcept { return planner::packed_workspace_bytes(impl_->route); }

}  // namespace convoke

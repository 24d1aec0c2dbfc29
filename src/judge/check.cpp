// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "bind/binding_table.hpp"
#include "plan/demand.hpp"
#include "plan/plan_impl.hpp"
#include "plan/scope.hpp"

namespace convoke::judge {
namespace {

using contract::Contract;

// Those that speak for the kernel: its own and, of an alias, that of the binding with the same function.
std::vector<const Contract*> contracts_of(const Plan& plan) {
  const Plan::Impl& impl = plan.impl();
  const bind::Binding& binding = *impl.route.steps[impl.route.main_step].binding;
  std::vector<const Contract*> contracts{binding.contract.get()};
  if (binding.alias_of) contracts.push_back(impl.table->all()[*binding.alias_of].contract.get());
  return contracts;
}

// Of a route through a wider type the law is claimed only where it is the same in both.
bool claims_the_law(const Plan& plan) {
  const Plan::Impl& impl = plan.impl();
  return planner::law_survives(impl.request.dtype(), impl.variant.through) &&
         std::ranges::any_of(contracts_of(plan), [](const Contract* contract) {
           return contract->numerics && contract->numerics->order == "law";
         });
}

std::optional<double> terms_of(const Plan::Impl& impl, const Contract& contract) {
  const planner::Step& step = impl.route.steps[impl.route.main_step];
  std::vector<TensorSpec> operands;
  for (const planner::Slot& slot : step.inputs) operands.push_back(slot.spec);
  for (const planner::Slot& slot : step.outputs) operands.push_back(slot.spec);
  const planner::RequestScope scope(impl.request, contract, operands, step.inputs.size(), planner::Use::cost);
  return contract.numerics->error->terms.evaluate(scope);
}

// The bound that the kernel states, the law's in the type it works in where it states none, or why what it states
// cannot be judged.
tl::expected<oracle::BoundClaim, std::string> bound_claim(const Plan& plan) {
  for (const Contract* contract : contracts_of(plan)) {
    if (!contract->numerics || !contract->numerics->error) continue;
    const contract::Numerics::ErrorBound& error = *contract->numerics->error;
    if (error.scale != "output")
      return tl::unexpected(fmt::format("numerics.error.scale: a bound of scale `{}` cannot be judged", error.scale));
    const std::optional<DType> unit = parse_dtype(error.unit);
    if (!unit) return tl::unexpected(fmt::format("numerics.error.unit: `{}` cannot be judged", error.unit));
    const std::optional<double> terms = terms_of(plan.impl(), *contract);
    if (!terms || *terms > 0x1p53)
      return tl::unexpected(fmt::format("numerics.error.terms: `{}` has no usable value here", error.terms.text()));
    return oracle::BoundClaim{unit, static_cast<std::int64_t>(std::ceil(*terms))};
  }
  const std::optional<DType>& through = plan.impl().variant.through;
  return oracle::BoundClaim{through ? std::optional(accumulator_of(*through)) : std::nullopt, std::nullopt};
}

std::string reason_of(const char* oracle, const oracle::Comparison& comparison) {
  return fmt::format("{} oracle: {} of {} outputs wrong, first {}", oracle, comparison.wrong, comparison.compared,
                     comparison.first ? comparison.first->text : "unknown");
}

// `body` with so much scratch, poisoned and between guard pages.
template <class Body>
auto in_poisoned_scratch(std::size_t bytes, RunOptions run, Body body) -> decltype(body(run)) {
  auto scratch = problem::Buffer::make(bytes, 64, problem::Guard::end);
  if (!scratch) return tl::unexpected(scratch.error());
  run.scratch = scratch->data();
  run.scratch_bytes = scratch->size();
  auto result = body(run);
  if (result && !scratch->slack_intact())
    return fail(ErrorCode::kernel_failure, "scratch", {}, "wrote outside the scratch");
  return result;
}

Check failed(std::string reason) {
  Check check;
  check.reason = std::move(reason);
  return check;
}

}  // namespace

Check check_output(const Plan& plan, const oracle::Request& request, const ConstTensor& out,
                   const CheckOptions& options) {
  const auto claim = bound_claim(plan);
  if (!claim) return failed(claim.error());
  Check check;
  if (claims_the_law(plan)) {
    check.law = oracle::compare_law(request, out, options.sampling);
    if (!check.law->passed()) check.reason = reason_of("law", *check.law);
  }
  check.exact = options.sums_are_exact ? oracle::compare_exact(request, out, options.sampling)
                                       : oracle::compare_bound(request, out, *claim, options.sampling);
  if (!check.exact->passed() && check.reason.empty()) check.reason = reason_of("exact", *check.exact);
  check.passed = check.reason.empty();
  return check;
}

Check check_output(const Plan& plan, const problem::Workload& workload, const CheckOptions& options) {
  const oracle::Request request{*workload.geometry(), workload.x(), workload.weight(), workload.bias()};
  return check_output(plan, request, workload.out(), options);
}

Check check(const Plan& plan, problem::Workload& workload, const CheckOptions& options) {
  workload.reset_out();
  std::optional<PackedWeight> packed;
  if (options.packed) {
    auto made = in_poisoned_scratch(plan.workspace_bytes(), options.run,
                                    [&](const RunOptions& run) { return plan.pack(workload.weight(), run); });
    if (!made) return failed(made.error().message);
    packed = *std::move(made);
  }
  const std::size_t bytes = packed ? plan.packed_workspace_bytes() : plan.workspace_bytes();
  const auto ran = in_poisoned_scratch(bytes, options.run, [&](const RunOptions& run) {
    return packed ? plan.run(workload.x(), *packed, workload.bias(), workload.out(), run)
                  : plan.run(workload.x(), workload.weight(), workload.bias(), workload.out(), run);
  });
  if (!ran) return failed(ran.error().message);
  if (auto untouched = workload.check_untouched(); !untouched) return failed(untouched.error().message);
  return check_output(plan, workload, options);
}

Result<Plan> plan_for(const problem::Workload& workload, const PlanOptions& options) {
  const Geometry& geometry = *workload.geometry();
  const ConvParams& p = geometry.params;
  const std::optional<TensorSpec> bias = workload.bias() ? std::optional(workload.bias()->spec) : std::nullopt;
  const auto make = [&](const auto& params) {
    return plan(workload.x().spec, workload.weight().spec, bias, workload.out().spec, params, options);
  };
  if (geometry.op == Op::conv2d) {
    // An output without pixels comes from padding=same of an empty input alone, which no padding in numbers gives.
    const bool empty = geometry.Ho == 0 || geometry.Wo == 0;
    return make(Conv2dParams{p.stride, empty ? Padding::same_upper() : p.padding, p.dilation, p.groups});
  }
  return make(ConvTranspose2dParams{p.stride, p.padding, p.dilation, p.output_padding, p.groups});
}

std::vector<std::string> kernels_of(const Catalog& catalog, Op op) {
  const bind::Operator wanted = op == Op::conv2d ? bind::Operator::conv2d : bind::Operator::conv_transpose2d;
  std::vector<std::string> ids;
  for (const bind::Binding& binding : catalog.table().all())
    if (binding.op == wanted) ids.push_back(binding.id);
  return ids;
}

}  // namespace convoke::judge

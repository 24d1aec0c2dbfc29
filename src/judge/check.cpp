// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/check.hpp"

#include <fmt/format.h>

#include "bind/binding_table.hpp"
#include "plan/plan_impl.hpp"

namespace convoke::judge {
namespace {

bool claims_the_law(const Plan& plan) {
  const Plan::Impl& impl = plan.impl();
  const bind::Binding* binding = impl.route.steps[impl.route.main_step].binding;
  if (binding->alias_of) binding = &impl.catalog.table().all()[*binding->alias_of];
  const auto& numerics = binding->contract->numerics;
  return numerics && numerics->order == "law";
}

std::string reason_of(const char* oracle, const oracle::Comparison& comparison) {
  return fmt::format("{} oracle: {} of {} outputs wrong, first {}", oracle, comparison.wrong, comparison.compared,
                     comparison.first ? comparison.first->text : "unknown");
}

Check failed(std::string reason) {
  Check check;
  check.reason = std::move(reason);
  return check;
}

}  // namespace

Check check_output(const Plan& plan, const oracle::Request& request, const ConstTensor& out,
                   const CheckOptions& options) {
  Check check;
  check.passed = true;
  if (claims_the_law(plan)) {
    check.law = oracle::compare_law(request, out, options.sampling);
    if (!check.law->passed()) check.reason = reason_of("law", *check.law);
  }
  check.exact = options.sums_are_exact ? oracle::compare_exact(request, out, options.sampling)
                                       : oracle::compare_bound(request, out, {}, options.sampling);
  if (!check.exact->passed() && check.reason.empty()) check.reason = reason_of("exact", *check.exact);
  check.passed = check.reason.empty();
  return check;
}

Check check_output(const Plan& plan, const problem::Workload& workload, const CheckOptions& options) {
  const oracle::Request request{*workload.geometry(), workload.x(), workload.weight(), workload.bias()};
  return check_output(plan, request, workload.out(), options);
}

Check check(const Plan& plan, problem::Workload& workload, const CheckOptions& options) {
  auto scratch = problem::Buffer::make(plan.workspace_bytes(), 64, problem::Guard::end);
  if (!scratch) return failed(scratch.error().message);
  RunOptions run = options.run;
  run.scratch = scratch->data();
  run.scratch_bytes = scratch->size();
  workload.reset_out();
  if (auto ran = plan.run(workload.x(), workload.weight(), workload.bias(), workload.out(), run); !ran)
    return failed(ran.error().message);
  if (auto untouched = workload.check_untouched(); !untouched) return failed(untouched.error().message);
  if (!scratch->slack_intact()) return failed("wrote outside the scratch");
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

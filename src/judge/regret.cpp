// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "base/fail.hpp"
#include "bind/binding_table.hpp"
#include "plan/alternatives.hpp"
#include "plan/plan_impl.hpp"
#include "problem/buffer.hpp"

namespace convoke::judge {
namespace {

Result<planner::Alternatives> alternatives_of(const problem::Workload& workload, const PlanOptions& options) {
  const Geometry& geometry = *workload.geometry();
  const std::optional<TensorSpec> bias = workload.bias() ? std::optional(workload.bias()->spec) : std::nullopt;
  return planner::alternatives(
      {geometry.op, workload.x().spec, workload.weight().spec, bias, workload.out().spec, geometry.params, options});
}

MeasuredRoute unmeasured(const Plan& plan) {
  const planner::Route& route = plan.impl().route;
  const contract::Contract& contract = *route.steps[route.main_step].binding->contract;
  const std::string family = fmt::format("{}/{}", bind::name_of(contract.backend), contract.kernel_source);
  return {.route = plan.reason(),
          .family = family,
          .kernel = fmt::format("{}/{}", family, contract.kernel),
          .price_ns = plan.price_ns()};
}

// The first route whose output is wrong, and why; empty where all are right.
std::string first_wrong(const std::vector<Plan>& plans, problem::Workload& workload, const CheckOptions& options) {
  for (const Plan& plan : plans)
    if (const Check checked = check(plan, workload, options); !checked.passed)
      return fmt::format("{}: {}", plan.reason(), checked.reason);
  return {};
}

// One run of each plan; of a weight that was packed before, where `packed` says so.
Result<std::vector<Subject>> subjects_of(const std::vector<Plan>& plans, problem::Workload& workload,
                                         const RunOptions& run, bool packed) {
  std::vector<Subject> subjects;
  for (const Plan& plan : plans) {
    if (!packed) {
      subjects.emplace_back([&plan, &workload, &run] {
        return plan.run(workload.x(), workload.weight(), workload.bias(), workload.out(), run);
      });
      continue;
    }
    const auto weight = plan.pack(workload.weight(), run);
    if (!weight) return tl::unexpected(weight.error());
    subjects.emplace_back([&plan, &workload, &run, weight = *weight] {
      return plan.run(workload.x(), weight, workload.bias(), workload.out(), run);
    });
  }
  return subjects;
}

}  // namespace

std::size_t MeasuredRoutes::best() const noexcept {
  const auto fastest = std::ranges::min_element(routes, {}, &MeasuredRoute::measured_ns);
  return static_cast<std::size_t>(fastest - routes.begin());
}

double MeasuredRoutes::regret() const noexcept { return routes[chosen].measured_ns / routes[best()].measured_ns - 1; }

Result<MeasuredRoutes> measure_routes(problem::Workload& workload, const RegretOptions& options) {
  auto found = alternatives_of(workload, options.plan);
  if (!found) return tl::unexpected(found.error());
  if (!found->chosen) return fail(ErrorCode::no_kernel, "route", {}, "no route is admitted");
  MeasuredRoutes measured{.routes = {}, .chosen = *found->chosen, .wrong = {}};
  std::size_t scratch_bytes = 0;
  for (const Plan& plan : found->plans) {
    measured.routes.push_back(unmeasured(plan));
    scratch_bytes = std::max(scratch_bytes, plan.workspace_bytes());
  }
  CheckOptions how = options.check;
  how.packed = options.plan.packed_weight;
  measured.wrong = first_wrong(found->plans, workload, how);
  if (!measured.wrong.empty()) return measured;
  auto scratch = problem::Buffer::make(scratch_bytes, 64, problem::Guard::none);
  if (!scratch) return tl::unexpected(scratch.error());
  RunOptions run = options.check.run;
  run.scratch = scratch->data();
  run.scratch_bytes = scratch->size();
  const auto subjects = subjects_of(found->plans, workload, run, how.packed);
  if (!subjects) return tl::unexpected(subjects.error());
  const auto times = medians_ns(*subjects, options.pace);
  if (!times) return tl::unexpected(times.error());
  for (std::size_t i = 0; i < times->size(); ++i) measured.routes[i].measured_ns = (*times)[i];
  return measured;
}

OrderCount order_of(const std::vector<MeasuredRoute>& routes, std::string MeasuredRoute::* alike, double margin) {
  OrderCount count;
  for (auto a = routes.begin(); a != routes.end(); ++a)
    for (auto b = a + 1; b != routes.end(); ++b) {
      if ((*a).*alike != (*b).*alike) continue;
      const auto [shorter, longer] = std::minmax(a->measured_ns, b->measured_ns);
      if (longer <= shorter * (1 + margin)) {
        ++count.close;
        continue;
      }
      ++count.told;
      const bool price_says_a = a->price_ns < b->price_ns, price_says_b = b->price_ns < a->price_ns;
      count.agree += a->measured_ns < b->measured_ns ? price_says_a : price_says_b;
    }
  return count;
}

}  // namespace convoke::judge

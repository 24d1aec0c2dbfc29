// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/ours.hpp"

#include <utility>

#include "judge/check.hpp"

namespace convoke::peers {

Result<Ours> Ours::make(const problem::Problem& problem) {
  auto workload = problem::make_workload(problem, problem::Guard::none);
  if (!workload) return tl::unexpected(workload.error());
  auto kept = std::make_unique<problem::Workload>(*std::move(workload));
  PlanOptions options;
  options.threads = problem.threads;
  options.packed_weight = true;
  auto plan = judge::plan_for(*kept, options);
  if (!plan) return tl::unexpected(plan.error());
  auto weight = plan->pack(kept->weight());
  if (!weight) return tl::unexpected(weight.error());
  auto scratch = problem::Buffer::make(plan->packed_workspace_bytes(), problem::default_align, problem::Guard::none);
  if (!scratch) return tl::unexpected(scratch.error());
  return Ours(std::move(kept), *std::move(plan), *std::move(weight), *std::move(scratch), problem.threads);
}

Ours::Ours(std::unique_ptr<problem::Workload> workload, Plan plan, PackedWeight weight, problem::Buffer scratch,
           int threads)
    : workload_(std::move(workload)), plan_(std::move(plan)), weight_(std::move(weight)), scratch_(std::move(scratch)) {
  options_.threads = threads;
  options_.scratch = scratch_.data();
  options_.scratch_bytes = scratch_.size();
}

Result<void> Ours::run() const {
  return plan_.run(workload_->x(), weight_, workload_->bias(), workload_->out(), options_);
}

}  // namespace convoke::peers

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/demo/trial.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "convoke/plan.hpp"

namespace convoke::demo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t sample_seed = 7;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Runs until the time is used up, at least once. The fastest counts: the others met cold caches or a busy machine.
Result<double> fastest_run(const Plan& plan, const problem::Workload& work, const Effort& effort) {
  RunOptions options;
  options.threads = effort.threads;
  double best = std::numeric_limits<double>::infinity();
  const Clock::time_point start = Clock::now();
  do {
    const Clock::time_point began = Clock::now();
    if (auto done = plan.run(work.x(), work.weight(), work.bias(), work.out(), options); !done)
      return tl::unexpected(std::move(done).error());
    best = std::min(best, seconds_since(began));
  } while (seconds_since(start) < effort.seconds);
  return best;
}

}  // namespace

Trial run_trial(const std::string& what, const problem::Workload& workload, const Effort& effort) {
  Trial trial;
  trial.what = what;
  trial.dtype = workload.x().spec.dtype;
  const Result<Plan> plan = judge::plan_for(workload, {});
  if (!plan) {
    trial.check.reason = plan.error().message;
    return trial;
  }
  trial.kernel = plan->kernel();
  trial.why = plan->reason();
  const Result<double> seconds = fastest_run(*plan, workload, effort);
  if (!seconds) {
    trial.check.reason = seconds.error().message;
    return trial;
  }
  trial.ms = *seconds * 1e3;
  trial.gflops = plan->flops() / *seconds * 1e-9;
  judge::CheckOptions options;
  options.sampling = {effort.outputs, sample_seed};
  trial.check = judge::check_output(*plan, workload, options);
  return trial;
}

}  // namespace convoke::demo

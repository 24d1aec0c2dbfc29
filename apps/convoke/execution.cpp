// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/execution.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <new>
#include <vector>

#include "base/fail.hpp"
#include "judge/check.hpp"
#include "problem/text.hpp"

namespace convoke::cli {
namespace {

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

Timing summary_of(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  const double median = samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back(), static_cast<int>(samples.size())};
}

}  // namespace

Operands operands_of(const problem::Workload& workload, Op op, const ConvParams& params) {
  return {op, params, workload.x(), workload.weight(), workload.bias(), workload.out()};
}

Result<PlanOptions> plan_options(const problem::Problem& problem, const Catalog& catalog) {
  PlanOptions options;
  options.kernel = problem.kernel;
  options.catalog = &catalog;
  options.threads = problem.threads;
  if (problem.demand.empty()) return options;
  auto demand = parse_demand(problem.demand);
  if (!demand) return tl::unexpected(demand.error());
  options.demand = *std::move(demand);
  return options;
}

Result<Plan> make_plan(const Operands& operands, const PlanOptions& options) {
  std::optional<TensorSpec> bias;
  if (operands.bias) bias = operands.bias->spec;
  if (operands.op == Op::conv2d)
    return plan(operands.x.spec, operands.weight.spec, bias, operands.out.spec, to_conv2d_params(operands.params),
                options);
  return plan(operands.x.spec, operands.weight.spec, bias, operands.out.spec,
              to_conv_transpose2d_params(operands.params), options);
}

Result<void> run_plan(const Plan& plan, const Operands& operands, const RunOptions& options) {
  if (operands.packed) return plan.run(operands.x, *operands.packed, operands.bias, operands.out, options);
  return plan.run(operands.x, operands.weight, operands.bias, operands.out, options);
}

Result<void> pack_weight(const Plan& plan, Operands& operands, int threads) {
  RunOptions options;
  options.threads = threads;
  auto packed = plan.pack(operands.weight, options);
  if (!packed) return tl::unexpected(packed.error());
  operands.packed = *std::move(packed);
  return {};
}

Result<Timing> timed_runs(const Plan& plan, const Operands& operands, int threads, const Pace& pace) {
  std::vector<std::byte> scratch;
  try {
    scratch.resize(plan.workspace_bytes());
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "workspace", {}, "cannot allocate {} bytes of scratch",
                plan.workspace_bytes());
  }
  const RunOptions options{
      .threads = threads, .scratch = scratch.data(), .scratch_bytes = scratch.size(), .parallel_for = {}};
  constexpr int most_runs = 1000;
  std::vector<double> samples;
  const auto start = std::chrono::steady_clock::now();
  const auto run_once = [&]() -> Result<double> {
    const auto begin = std::chrono::steady_clock::now();
    if (auto done = run_plan(plan, operands, options); !done) return tl::unexpected(done.error());
    return milliseconds_since(begin);
  };
  const auto warm_up = pace.warm ? Result<double>(0.0) : run_once();
  if (!warm_up) return tl::unexpected(warm_up.error());
  const auto wants_more = [&] {
    const int runs = static_cast<int>(samples.size());
    if (runs == 0 && pace.warm) return true;
    return pace.repeat > 0 ? runs < pace.repeat : runs < most_runs && milliseconds_since(start) < pace.box_ms;
  };
  while (wants_more()) {
    const auto sample = run_once();
    if (!sample) return tl::unexpected(sample.error());
    samples.push_back(*sample);
  }
  if (samples.empty()) samples.push_back(*warm_up);
  return summary_of(std::move(samples));
}

double gflops(const Plan& plan, double milliseconds) noexcept {
  return milliseconds > 0 ? plan.flops() / milliseconds * 1e-6 : 0.0;
}

oracle::Sampling sampling_of(const Geometry& geometry, const Effort& effort) {
  if (effort.terms <= 0) return {0, effort.seed};
  constexpr std::int64_t fewest = 16;
  const auto terms = static_cast<double>(std::max<std::int64_t>(1, geometry.terms()));
  return {std::max(fewest, static_cast<std::int64_t>(effort.terms / terms)), effort.seed};
}

Verdict verify(const Operands& operands, const Geometry& geometry, const Plan& plan, const Effort& effort) {
  judge::CheckOptions options;
  options.sampling = sampling_of(geometry, effort);
  options.sums_are_exact = effort.exact_sums;
  const oracle::Request request{geometry, operands.x, operands.weight, operands.bias};
  const judge::Check checked = judge::check_output(plan, request, operands.out, options);
  if (!checked.passed) return {false, checked.reason};
  return {true, fmt::format("{} of {} outputs {}; largest error {:.2g} of its bound", checked.exact->compared,
                            oracle::output_count(geometry),
                            checked.law ? "equal the law of the sum" : "agree with the exact sum",
                            checked.exact->worst_error_over_bound)};
}

// The planner names each candidate among the error's values, with the clause that refused it.
std::string refusal_of(const Error& error, const std::string& kernel) {
  for (const auto& [name, refusal] : error.values)
    if (error.code == ErrorCode::no_kernel && name == kernel) return refusal;
  return error.message;
}

Error forced_error(Error error, const std::string& kernel) {
  if (error.code != ErrorCode::no_kernel || kernel.empty()) return error;
  std::erase_if(error.values, [](const auto& value) { return value.second.starts_with("kernel: wanted "); });
  if (error.values.empty())
    return {ErrorCode::not_found,
            "kernel",
            fmt::format("no kernel of this operation matches '{}'; 'convoke contracts list' names them all",
                        problem::clipped(kernel)),
            {}};
  error.message.resize(std::min(error.message.find('\n'), error.message.size()));
  for (const auto& [id, refusal] : error.values) error.message += fmt::format("\n  {}: {}", id, refusal);
  return error;
}

}  // namespace convoke::cli

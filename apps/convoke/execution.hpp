// SPDX-License-Identifier: Apache-2.0 OR MIT
// One convolution carried out: planned, run, timed, and held against both oracles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/geometry.hpp"
#include "convoke/catalog.hpp"
#include "convoke/plan.hpp"
#include "oracle/compare.hpp"
#include "problem/problem.hpp"
#include "problem/workload.hpp"

namespace convoke::cli {

/// What a convolution works on; the memory belongs to someone else.
struct Operands {
  Op op = Op::conv2d;
  ConvParams params;
  ConstTensor x, weight;
  std::optional<ConstTensor> bias;
  Tensor out;
  std::optional<PackedWeight> packed = {};  ///< stands in for the weight when a plan runs
};

/// The operands of a workload.
Operands operands_of(const problem::Workload& workload, Op op, const ConvParams& params);

/// The options that a problem line asks for. Errors: unsupported (a demand that this version does not know).
Result<PlanOptions> plan_options(const problem::Problem& problem, const Catalog& catalog);

/// The public plan() of the operation.
Result<Plan> make_plan(const Operands& operands, const PlanOptions& options);
Result<void> run_plan(const Plan& plan, const Operands& operands, const RunOptions& options);
/// Packs the weight as this plan wants it.
Result<void> pack_weight(const Plan& plan, Operands& operands, int threads);

/// How long to measure: `repeat` runs, or, where that is 0, runs until `box_ms` are spent.
struct Pace {
  int repeat = 0;
  double box_ms = 500;
  bool warm = false;  ///< the plan has just run on these operands
};

/// Wall-clock milliseconds of one run, over all timed runs.
struct Timing {
  double median = 0, fastest = 0, slowest = 0;
  int runs = 0;
};

/// Runs once to warm up, unless warm, and then at the given pace; a warm-up longer than the box is the measurement. The
/// output is that of the last run.
Result<Timing> timed_runs(const Plan& plan, const Operands& operands, int threads, const Pace& pace);

/// 10^9 multiplications and additions a second; 0 where nothing was computed.
double gflops(const Plan& plan, double milliseconds) noexcept;

/// Products that the oracles look at for one output: a glance, and what --verify asks for (about a second of either).
inline constexpr double sampled_terms = 1e6, verified_terms = 2e7;

/// How much of an output both oracles look at, and how.
struct Effort {
  bool exact_sums = false;  ///< the data are small integers: bit by bit against the exact sum, not by its bound
  double terms = 0;         ///< most products they may look at, but always a few outputs; 0: all of them
  std::uint64_t seed = 0;   ///< of the sample
};
oracle::Sampling sampling_of(const Geometry& geometry, const Effort& effort);

struct Verdict {
  bool right = true;
  std::string text;  ///< what was compared, or what is wrong
};

/// The output that the operands hold against the exact oracle, and against the law oracle where the contract of the
/// kernel, or of the one it is an alias of, promises the law.
Verdict verify(const Operands& operands, const Geometry& geometry, const Plan& plan, const Effort& effort);

/// What a no_kernel error says about one kernel: `clause: wanted ..., found ...`.
std::string refusal_of(const Error& error, const std::string& kernel);

/// The error of a plan where `kernel` was forced, without the kernels that were not meant; not_found where the glob
/// matches none.
Error forced_error(Error error, const std::string& kernel);

}  // namespace convoke::cli

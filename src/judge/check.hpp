// SPDX-License-Identifier: Apache-2.0 OR MIT
// One plan on one workload, held to what its kernel's contract promises: the one way in which the command line, the
// tests and the benchmarks decide that a result is right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convoke/catalog.hpp"
#include "convoke/plan.hpp"
#include "oracle/compare.hpp"
#include "problem/workload.hpp"

namespace convoke::judge {

/// How a result is checked.
struct CheckOptions {
  RunOptions run;               ///< scratch is replaced by poisoned memory between guard pages
  oracle::Sampling sampling;    ///< which outputs are compared
  bool sums_are_exact = false;  ///< the data are small integers: the exact oracle is compared bit by bit
  bool packed = false;          ///< the weight is packed first, and the run is one with the packed weight
};

/// What became of it.
struct Check {
  bool passed = false;
  std::string reason;                       ///< why not: one line
  std::optional<oracle::Comparison> law;    ///< absent where the kernel does not claim the law
  std::optional<oracle::Comparison> exact;  ///< bound or bits, as CheckOptions says
};

/// Runs `plan` on `workload` with output and scratch poisoned and compares the output with both oracles: bit by bit
/// with the law oracle where the kernel, or one it is an alias of, declares `order: law`, unless the route computes in
/// a type whose law is another; with the exact oracle always, within the bound that the contract states as
/// `numerics.error`, else within the law's in the type that the kernel computes in. Fails also where anything but
/// the output changed, and where the stated bound is one that nothing here can judge (`scale: plane`).
Check check(const Plan& plan, problem::Workload& workload, const CheckOptions& options = {});

/// The same, of an output that `plan` computed already.
Check check_output(const Plan& plan, const oracle::Request& request, const ConstTensor& out,
                   const CheckOptions& options = {});
Check check_output(const Plan& plan, const problem::Workload& workload, const CheckOptions& options = {});

/// Plans `workload` on this operation; its geometry must hold.
Result<Plan> plan_for(const problem::Workload& workload, const PlanOptions& options);

/// ImplIds of all convolution kernels of `op` in `catalog`, aliases included: what a sweep forces one by one.
std::vector<std::string> kernels_of(const Catalog& catalog, Op op);

}  // namespace convoke::judge

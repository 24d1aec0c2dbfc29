// SPDX-License-Identifier: Apache-2.0 OR MIT
// Our side: one convolution through the public functions, with everything done beforehand that a caller who runs it
// again and again does once.
#pragma once

#include <memory>
#include <string>

#include "convoke/plan.hpp"
#include "problem/buffer.hpp"
#include "problem/problem.hpp"
#include "problem/workload.hpp"

namespace convoke::peers {

class Ours {
 public:
  /// Operands, plan, packed weight and scratch of `problem` for problem.threads threads. Errors: those of
  /// make_workload() and plan().
  [[nodiscard]] static Result<Ours> make(const problem::Problem& problem);

  /// What is timed.
  [[nodiscard]] Result<void> run() const;

  const problem::Workload& workload() const noexcept { return *workload_; }
  const Plan& plan() const noexcept { return plan_; }

 private:
  Ours(std::unique_ptr<problem::Workload> workload, Plan plan, PackedWeight weight, problem::Buffer scratch,
       int threads);

  std::unique_ptr<problem::Workload> workload_;
  Plan plan_;
  PackedWeight weight_;
  problem::Buffer scratch_;
  RunOptions options_;
};

}  // namespace convoke::peers

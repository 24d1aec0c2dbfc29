// SPDX-License-Identifier: Apache-2.0 OR MIT
// One random problem against one random catalog: whatever plan() gives is run, and must be right.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoke/plan.hpp"
#include "judge/check.hpp"
#include "problem/problem.hpp"
#include "tests/plan/random_contract.hpp"

namespace convoke::sweep {

struct Counts {
  std::uint64_t problems = 0, plans = 0, refused = 0, failed = 0, held_to_the_law = 0;
  std::map<std::string, std::uint64_t> clauses;  ///< candidates refused, by clause
  std::map<std::string, std::uint64_t> steps;    ///< of the plans that ran, by operator
  std::map<std::string, std::uint64_t> packed;   ///< of these, runs with a packed weight, by how it was made
};

/// Draws the problems of one seed, one after another.
class Sweep {
 public:
  explicit Sweep(std::uint64_t seed) : seed_(seed) {}

  /// Plans and runs problem `index`; nullopt: all is well, else what is not.
  std::optional<std::string> run(std::uint64_t index);
  /// The problem that was run last, as one line.
  std::string line() const { return problem::to_line(problem_); }
  const RandomCatalog& catalog() const noexcept { return *catalog_; }
  const Counts& counts() const noexcept { return counts_; }

 private:
  using Outcome = std::optional<std::string>;
  struct Bias {
    problem::Buffer memory;
    ConstTensor tensor;
  };

  Outcome try_options(Drawer& draw, const PlanOptions& options);
  Result<void> run_packed(const Plan& plan, const RunOptions& options);
  Outcome check_run(Drawer& draw, const Plan& plan, const Demand& demand);
  Outcome check_result(const Plan& plan, const Demand& demand);
  static Outcome check_options(const Plan& plan, const PlanOptions& options, const Demand& demand);
  Outcome check_explanation(const Plan& plan, const PlanOptions& options) const;
  Outcome check_again(const Plan& plan, const PlanOptions& options) const;
  void promise_less(Drawer& draw, TensorSpec& spec) const;
  void draw_specs(Drawer& draw);
  void draw_bias(Drawer& draw);
  Result<Plan> plan(const PlanOptions& options) const;
  std::optional<ConstTensor> bias() const;

  std::uint64_t seed_;
  std::optional<std::uint64_t> catalog_index_;
  std::unique_ptr<RandomCatalog> catalog_;
  problem::Problem problem_;
  std::optional<problem::Workload> workload_;
  std::optional<Bias> bias_;
  TensorSpec x_, weight_, out_;  // as promised to plan()
  std::optional<TensorSpec> bias_spec_;
  Counts counts_;
};

}  // namespace convoke::sweep

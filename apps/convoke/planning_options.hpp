// SPDX-License-Identifier: Apache-2.0 OR MIT
// The options of a command that plans one convolution: which kernels, under what demand, at what prices.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/convoke/run_input.hpp"
#include "convoke/catalog.hpp"
#include "convoke/plan.hpp"
#include "problem/problem.hpp"

namespace CLI {
class App;
}

namespace convoke::cli {

/// As the command line gives them.
struct PlanningWords {
  std::vector<std::string> contracts, forbid, backends;
  std::string rates;
  std::int64_t workspace_cap = -1;  ///< bytes; negative: none
  bool packed = false;              ///< the weight is packed once, which is no part of a route's price or time
};

/// Options of the library, and the table they point to. Movable.
struct Planning {
  std::unique_ptr<const Rates> rates;
  PlanOptions options;
};

/// `problem WORD...` and the operands from files: what load_run_input() reads.
void add_run_words(CLI::App& command, RunWords& words);
/// --contracts, --forbid, --backend, --workspace-cap, --packed and --rates.
void add_planning(CLI::App& command, PlanningWords& words);
/// --packed alone.
void add_packed(CLI::App& command, bool& packed);

/// --contracts takes every word up to the next option: what belongs to the problem line goes back to it.
void settle_words(RunWords& input, PlanningWords& planning);

/// The options of the problem line and of the command line together. Errors: those of the table of rates and of the
/// demand.
Result<Planning> load_planning(const PlanningWords& words, const problem::Problem& problem, const Catalog& catalog);

/// The demand that these options make, forcing included.
Demand demand_of(const PlanOptions& options);

/// The options as a shell takes them, each after a blank: for reproducers.
std::string planning_text(const PlanningWords& words);

}  // namespace convoke::cli

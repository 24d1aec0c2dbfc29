// SPDX-License-Identifier: Apache-2.0 OR MIT
// Fills in rows: checks that both sides compute the same, times them in turn, and repeats what was disturbed.
#pragma once

#include <map>

#include "bench/peers/race.hpp"
#include "bench/peers/row.hpp"
#include "problem/problem.hpp"

namespace convoke::peers {

class Measurement {
 public:
  explicit Measurement(const RacePace& pace) : pace_(pace) {}

  /// `problem` with its name, dtype and threads. What fails is said in Row::wrong.
  [[nodiscard]] Row row(const problem::Problem& problem);

 private:
  struct Sides;
  Result<void> fill(Row& row, const problem::Problem& problem);
  Result<void> time(Row& row, const Sides& sides);
  double& undisturbed(int threads);

  RacePace pace_;
  std::map<int, double> best_fma_ns_;  // threads: the loop at its fastest so far
};

}  // namespace convoke::peers

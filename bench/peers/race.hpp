// SPDX-License-Identifier: Apache-2.0 OR MIT
// Times of several things that are compared by their ratio: short blocks of calls, in turn, until the time is spent. A
// block lets each of them find the caches as it leaves them itself, as a program that calls it again and again would.
#pragma once

#include <span>
#include <vector>

#include "convoke/error.hpp"
#include "judge/stopwatch.hpp"

namespace convoke::peers {

struct RacePace {
  double box_ms = 300;   ///< for all subjects together
  double block_ms = 2;   ///< of calls, before it is the next one's turn
  double slow_ms = 500;  ///< a subject whose call takes longer is timed `slow_calls` times only
  int least = 5, most = 200, slow_calls = 2;
};

/// Of one call, in nanoseconds.
struct Lap {
  double median_ns = 0, fastest_ns = 0;
};

/// Runs every subject once without timing it, then in turn. Errors: the first one of a subject.
[[nodiscard]] Result<std::vector<Lap>> race(std::span<const judge::Subject> subjects, const RacePace& pace);

}  // namespace convoke::peers

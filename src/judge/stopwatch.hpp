// SPDX-License-Identifier: Apache-2.0 OR MIT
// Times of several things that are to be compared: run in turn, so that a machine that slows down slows them all.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "convoke/error.hpp"

namespace convoke::judge {

/// One thing to be timed.
using Subject = std::function<Result<void>()>;

/// Rounds are run until the time is spent, but at least `least` and at most `most` of them.
struct Pace {
  double box_ms = 200;
  int least = 3, most = 1000;
  bool warm = false;  ///< every subject has just run; else a round that does not count goes first
  /// Each run follows one of the same subject that does not count, and finds its operands cached; no round goes first.
  bool twice = false;
};

/// The median time of one run of each subject, in nanoseconds. Errors: the first one of a subject.
Result<std::vector<double>> medians_ns(std::span<const Subject> subjects, const Pace& pace);

/// The middle one; of an even number of values the mean of the two in the middle. There is at least one.
double median_of(std::vector<double> values);

}  // namespace convoke::judge

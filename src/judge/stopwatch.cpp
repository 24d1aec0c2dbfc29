// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/stopwatch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

namespace convoke::judge {
namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

}  // namespace

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Result<std::vector<double>> medians_ns(std::span<const Subject> subjects, const Pace& pace) {
  std::vector<std::vector<double>> samples(subjects.size());
  const auto round = [&](bool counts) -> Result<void> {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (pace.twice)
        if (auto ran = subjects[i](); !ran) return ran;
      const auto start = Clock::now();
      auto ran = subjects[i]();
      const double taken = nanoseconds_since(start);
      if (!ran) return ran;
      if (counts) samples[i].push_back(taken);
    }
    return {};
  };
  if (!pace.warm && !pace.twice)
    if (auto ran = round(false); !ran) return tl::unexpected(ran.error());
  const auto start = Clock::now();
  for (int rounds = 0; rounds < pace.most; ++rounds) {
    if (rounds >= pace.least && nanoseconds_since(start) > pace.box_ms * 1e6) break;
    if (auto ran = round(true); !ran) return tl::unexpected(ran.error());
  }
  std::vector<double> medians;
  for (std::vector<double>& each : samples) medians.push_back(median_of(std::move(each)));
  return medians;
}

}  // namespace convoke::judge

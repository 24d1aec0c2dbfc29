// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/race.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <utility>

namespace convoke::peers {
namespace {

using Clock = std::chrono::steady_clock;

// Shorter ones would measure the clock.
constexpr double least_sample_ns = 50e3;

double nanoseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

Result<double> timed(const judge::Subject& subject, int calls) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i)
    if (auto ran = subject(); !ran) return tl::unexpected(ran.error());
  return nanoseconds_since(start) / calls;
}

// One subject, how its calls are grouped, and the times so far.
class Lane {
 public:
  static Result<Lane> make(const judge::Subject& subject, const RacePace& pace) {
    Lane lane(subject);
    auto first = timed(subject, 1);
    if (!first) return tl::unexpected(first.error());
    // The first call also pays for memory that nobody touched before.
    if (*first < pace.slow_ms * 1e6) first = timed(subject, 1);
    if (!first) return tl::unexpected(first.error());
    const double call_ns = std::max(*first, 1.0);
    lane.slow_ = call_ns >= pace.slow_ms * 1e6;
    lane.calls_ = static_cast<int>(std::ceil(std::min(least_sample_ns / call_ns, 1e4)));
    const double sample_ns = call_ns * lane.calls_;
    lane.samples_ = static_cast<int>(std::clamp(pace.block_ms * 1e6 / sample_ns, 1.0, 1e4));
    if (lane.slow_) lane.times_.push_back(call_ns);
    return lane;
  }

  Result<void> block(const RacePace& pace) {
    if (slow_ && std::ssize(times_) >= pace.slow_calls) return {};
    // Brings back into the caches what the others drove out.
    if (samples_ > 1)
      if (auto ran = (*subject_)(); !ran) return ran;
    for (int i = 0; i < samples_; ++i) {
      const auto sample = timed(*subject_, calls_);
      if (!sample) return tl::unexpected(sample.error());
      times_.push_back(*sample);
    }
    return {};
  }

  Lap lap() && { return {.median_ns = judge::median_of(times_), .fastest_ns = *std::ranges::min_element(times_)}; }

 private:
  explicit Lane(const judge::Subject& subject) : subject_(&subject) {}

  const judge::Subject* subject_;
  bool slow_ = false;
  int calls_ = 1;    // in a sample
  int samples_ = 1;  // in a block
  std::vector<double> times_;
};

}  // namespace

Result<std::vector<Lap>> race(std::span<const judge::Subject> subjects, const RacePace& pace) {
  std::vector<Lane> lanes;
  for (const judge::Subject& subject : subjects) {
    auto lane = Lane::make(subject, pace);
    if (!lane) return tl::unexpected(lane.error());
    lanes.push_back(*std::move(lane));
  }
  const auto start = Clock::now();
  for (int rounds = 0; rounds < pace.most; ++rounds) {
    if (rounds >= pace.least && nanoseconds_since(start) > pace.box_ms * 1e6) break;
    for (Lane& lane : lanes)
      if (auto ran = lane.block(pace); !ran) return tl::unexpected(ran.error());
  }
  std::vector<Lap> laps;
  for (Lane& lane : lanes) laps.push_back(std::move(lane).lap());
  return laps;
}

}  // namespace convoke::peers

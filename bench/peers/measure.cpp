// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/measure.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "bench/peers/fma_peak.hpp"
#include "bench/peers/onednn.hpp"
#include "bench/peers/ours.hpp"
#include "judge/check.hpp"

namespace convoke::peers {
namespace {

// Slower than this part of the best seen: something else ran on our processors.
constexpr double disturbed_below = 0.9;
constexpr int most_attempts = 4;
constexpr std::chrono::milliseconds pause{150};

// What oneDNN's plain loop reached at worst, a thread; one call of it cannot be stopped, so it is not begun.
constexpr double reference_gflops = 0.01;
constexpr double longest_reference_s = 1;

// Of the largest output; oneDNN may keep a 16-bit sum in that type.
double tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 1e-5;
    case DType::f64:
      return 1e-13;
    case DType::bf16:
      return 2e-2;
    case DType::f16:
      return 5e-3;
  }
  return 0;
}

// Compares dense outputs; the data are small integers, and a NaN or an element that nobody wrote is a difference.
Result<void> check_same(const Tensor& ours, const std::vector<std::byte>& theirs, const std::string& who) {
  const DType dtype = ours.spec.dtype;
  const std::size_t step = size_of(dtype);
  const auto* const a = static_cast<const std::byte*>(ours.data);
  double largest = 0, difference = 0;
  for (std::size_t at = 0; at + step <= std::min(theirs.size(), ours.bytes); at += step) {
    const double mine = value_of_bits(dtype, load_bits(a + at, dtype));
    const double other = value_of_bits(dtype, load_bits(theirs.data() + at, dtype));
    largest = std::max(largest, std::abs(other));
    const double gap = std::abs(mine - other);
    difference = gap <= difference ? difference : gap;  // a NaN is kept
    if (std::isnan(difference)) break;
  }
  const double relative = largest > 0 ? difference / largest : difference;
  if (theirs.size() == ours.bytes && relative <= tolerance_of(dtype)) return {};
  return fail(ErrorCode::kernel_failure, "result", {}, "differs from {}: by {:.3g} of the largest output", who,
              relative);
}

// Where there is no peer: a few outputs against the oracles.
Result<void> check_alone(const Ours& ours) {
  judge::CheckOptions options;
  options.sampling.limit = 64;
  const judge::Check checked = judge::check_output(ours.plan(), ours.workload(), options);
  if (checked.passed) return {};
  return fail(ErrorCode::kernel_failure, "result", {}, "{}", checked.reason);
}

bool takes_too_long(const OneDnn& peer, const Ours& ours, int threads) {
  return peer.reference() && ours.plan().flops() > reference_gflops * 1e9 * threads * longest_reference_s;
}

// Our output stands in the workload.
Result<void> check_peer(const Ours& ours, const std::optional<OneDnn>& peer) {
  if (!peer) return {};
  if (auto ran = peer->run(); !ran) return ran;
  const auto out = peer->out();
  if (!out) return tl::unexpected(out.error());
  return check_same(ours.workload().out(), *out, "oneDNN's " + peer->implementation());
}

}  // namespace

struct Measurement::Sides {
  Ours ours;
  std::optional<Ours> f32;
  std::optional<OneDnn> plain, best;

  // In the order of the laps: the loop, ours, and what there is.
  std::vector<judge::Subject> subjects(int threads) const {
    std::vector<judge::Subject> all = {[threads]() -> Result<void> {
                                         run_fma_loop(threads);
                                         return {};
                                       },
                                       [this] { return ours.run(); }};
    if (plain) all.emplace_back([this] { return plain->run(); });
    if (best) all.emplace_back([this] { return best->run(); });
    if (f32) all.emplace_back([this] { return f32->run(); });
    return all;
  }
};

Row Measurement::row(const problem::Problem& problem) {
  Row row;
  row.name = problem.name;
  row.dtype = problem.dtype;
  row.threads = problem.threads;
  row.transposed = problem.op == Op::conv_transpose2d;
  row.dense = problem.params.groups == 1;
  row.square3 = row.dense && !row.transposed && problem.weight[2] == 3 && problem.weight[3] == 3;
  row.reproducer = problem::to_line(problem);
  // Both libraries take their number of threads from here, oneDNN already when a primitive is made.
  omp_set_num_threads(problem.threads);
  if (auto done = fill(row, problem); !done) row.wrong = done.error().message;
  return row;
}

Result<void> Measurement::fill(Row& row, const problem::Problem& problem) {
  auto ours = Ours::make(problem);
  if (!ours) return tl::unexpected(ours.error());
  auto plain = OneDnn::make(ours->workload(), View::plain);
  if (!plain) return tl::unexpected(plain.error());
  auto best = OneDnn::make(ours->workload(), View::best);
  if (!best) return tl::unexpected(best.error());
  Sides sides{*std::move(ours), std::nullopt, *std::move(plain), *std::move(best)};
  if (problem.dtype != DType::f32) {
    problem::Problem in_f32 = problem;
    in_f32.dtype = DType::f32;
    auto f32 = Ours::make(in_f32);
    if (!f32) return tl::unexpected(f32.error());
    sides.f32 = *std::move(f32);
  }
  row.kernel = sides.ours.plan().kernel();
  if (sides.plain) row.plain_kernel = sides.plain->implementation();
  if (sides.best) row.best_kernel = sides.best->implementation();
  for (std::optional<OneDnn>* peer : {&sides.plain, &sides.best})
    if (*peer && takes_too_long(**peer, sides.ours, problem.threads)) peer->reset();
  if (auto ran = sides.ours.run(); !ran) return ran;
  if (!sides.plain && !sides.best)
    if (auto right = check_alone(sides.ours); !right) return right;
  for (const std::optional<OneDnn>* peer : {&sides.plain, &sides.best})
    if (auto same = check_peer(sides.ours, *peer); !same) return same;
  return time(row, sides);
}

double& Measurement::undisturbed(int threads) {
  const auto [entry, fresh] = best_fma_ns_.try_emplace(threads, std::numeric_limits<double>::infinity());
  if (fresh) {
    // Before the first row there is nothing to compare with.
    const judge::Subject loop = [threads]() -> Result<void> {
      run_fma_loop(threads);
      return {};
    };
    if (const auto laps = race(std::span(&loop, 1), {.box_ms = 300, .least = 20, .most = 1000}))
      entry->second = laps->front().fastest_ns;
  }
  return entry->second;
}

Result<void> Measurement::time(Row& row, const Sides& sides) {
  const std::vector<judge::Subject> subjects = sides.subjects(row.threads);
  double& best_ns = undisturbed(row.threads);
  std::vector<Lap> kept;
  while (row.attempts < most_attempts) {
    if (row.attempts > 0) std::this_thread::sleep_for(pause);
    auto laps = race(subjects, pace_);
    if (!laps) return tl::unexpected(laps.error());
    ++row.attempts;
    best_ns = std::min(best_ns, laps->front().fastest_ns);
    if (kept.empty() || laps->front().median_ns < kept.front().median_ns) kept = *std::move(laps);
    row.disturbed = kept.front().median_ns * disturbed_below > best_ns;
    if (!row.disturbed) break;
  }
  auto lap = kept.begin();
  row.fma_gflops = fma_loop_flops(row.threads) / lap++->median_ns;
  row.ours_us = lap->median_ns / 1e3;
  row.gflops = sides.ours.plan().flops() / lap++->median_ns;
  if (sides.plain) row.plain_us = lap++->median_ns / 1e3;
  if (sides.best) row.best_us = lap++->median_ns / 1e3;
  if (sides.f32) row.f32_us = lap->median_ns / 1e3;
  return {};
}

}  // namespace convoke::peers

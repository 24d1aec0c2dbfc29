// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/summary.hpp"

#include <algorithm>
#include <cmath>

#include "judge/stopwatch.hpp"

namespace convoke::peers {
namespace {

using Ratio = std::optional<double> (*)(const Row&);

double geometric_mean(double logs, std::size_t count) {
  return count == 0 ? 0 : std::exp(logs / static_cast<double>(count));
}

// Over the rows that have the ratio, which is absent for the others.
std::optional<RatioSummary> summary_of(const std::vector<const Row*>& rows, Ratio ratio) {
  RatioSummary summary;
  double logs = 0, dense_logs = 0;
  std::size_t dense = 0;
  for (const Row* row : rows) {
    const std::optional<double> value = ratio(*row);
    if (!value) continue;
    logs += std::log(*value);
    if (row->dense) {
      dense_logs += std::log(*value);
      ++dense;
    }
    if (summary.rows++ == 0 || *value < summary.worst) {
      summary.worst = *value;
      summary.worst_name = row->name;
    }
  }
  if (summary.rows == 0) return std::nullopt;
  summary.mean = geometric_mean(logs, summary.rows);
  summary.dense_mean = geometric_mean(dense_logs, dense);
  return summary;
}

Summary summary_of(DType dtype, int threads, const std::vector<Row>& rows) {
  Summary summary;
  summary.dtype = dtype;
  summary.threads = threads;
  std::vector<const Row*> good;
  std::vector<double> peaks;
  for (const Row& row : rows) {
    if (row.dtype != dtype || row.threads != threads) continue;
    if (!row.wrong.empty()) {
      ++summary.wrong;
      continue;
    }
    good.push_back(&row);
    summary.disturbed += row.disturbed ? 1 : 0;
    if (row.square3) peaks.push_back(row.peak());
  }
  summary.rows = good.size();
  summary.plain = summary_of(good, [](const Row& row) { return row.ratio_plain(); });
  summary.best = summary_of(good, [](const Row& row) { return row.ratio_best(); });
  summary.f32 = summary_of(good, [](const Row& row) { return row.ratio_f32(); });
  summary.transposed_plain =
      summary_of(good, [](const Row& row) { return row.transposed ? row.ratio_plain() : std::nullopt; });
  if (!peaks.empty()) summary.square3_peak = judge::median_of(peaks);
  return summary;
}

}  // namespace

std::vector<Summary> summaries_of(const std::vector<Row>& rows) {
  std::vector<Summary> summaries;
  for (const Row& row : rows) {
    const bool known = std::ranges::any_of(summaries, [&](const Summary& summary) {
      return summary.dtype == row.dtype && summary.threads == row.threads;
    });
    if (!known) summaries.push_back(summary_of(row.dtype, row.threads, rows));
  }
  return summaries;
}

}  // namespace convoke::peers

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/json.hpp"

#include "apps/convoke/json_output.hpp"
#include "bench/peers/report.hpp"
#include "bench/peers/summary.hpp"

namespace convoke::peers {
namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// What was measured is null in a row that is wrong.
Json json_of(const Row& row) {
  const bool good = row.wrong.empty();
  const auto number = [good](double value) { return good ? Json(value) : Json(nullptr); };
  return {{"name", row.name},
          {"dtype", name_of(row.dtype)},
          {"threads", row.threads},
          {"ours_us", number(row.ours_us)},
          {"plain_us", or_null(row.plain_us)},
          {"best_us", or_null(row.best_us)},
          {"ratio_plain", or_null(row.ratio_plain())},
          {"ratio_best", or_null(row.ratio_best())},
          {"peak", number(row.peak())},
          {"kernel", row.kernel},
          {"plain_kernel", or_null(row.plain_kernel)},
          {"best_kernel", or_null(row.best_kernel)},
          {"f32_us", or_null(row.f32_us)},
          {"ratio_f32", or_null(row.ratio_f32())},
          {"gflops", number(row.gflops)},
          {"fma_gflops", number(row.fma_gflops)},
          {"dense", row.dense},
          {"attempts", row.attempts},
          {"disturbed", row.disturbed},
          {"wrong", or_null(row.wrong)},
          {"problem", row.reproducer}};
}

Json json_of(const std::optional<RatioSummary>& ratio) {
  if (!ratio) return nullptr;
  return {{"rows", ratio->rows},
          {"mean", ratio->mean},
          {"dense_mean", ratio->dense_mean > 0 ? Json(ratio->dense_mean) : Json(nullptr)},
          {"worst", ratio->worst},
          {"worst_name", ratio->worst_name}};
}

Json json_of(const Summary& summary) {
  return {{"dtype", name_of(summary.dtype)},
          {"threads", summary.threads},
          {"rows", summary.rows},
          {"plain", json_of(summary.plain)},
          {"best", json_of(summary.best)},
          {"transposed_plain", json_of(summary.transposed_plain)},
          {"f32", json_of(summary.f32)},
          {"dense_3x3_median_peak", or_null(summary.square3_peak)},
          {"disturbed", summary.disturbed},
          {"wrong", summary.wrong}};
}

}  // namespace

std::string json_text(const Setting& setting, const std::vector<Row>& rows) {
  Json document = {{"peer", setting.peer},   {"cpu", setting.cpu},    {"openmp", or_null(setting.openmp)},
                   {"bound", setting.bound}, {"rows", Json::array()}, {"summary", Json::array()}};
  for (const Row& row : rows) document["rows"].push_back(json_of(row));
  for (const Summary& summary : summaries_of(rows)) document["summary"].push_back(json_of(summary));
  return cli::json_text(document);
}

}  // namespace convoke::peers

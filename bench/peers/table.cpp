// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "bench/peers/report.hpp"
#include "bench/peers/summary.hpp"

namespace convoke::peers {
namespace {

using cli::Cell;
using cli::Style;

std::string time_text(const std::optional<double>& us) { return us ? fmt::format("{:.1f}", *us) : "-"; }

Cell ratio_cell(const std::optional<double>& ratio) {
  if (!ratio) return {"-"};
  const Style style = *ratio < 0.9 ? Style::red : *ratio >= 1.1 ? Style::green : Style::plain;
  return {fmt::format("{:.2f}", *ratio), style};
}

// `portable/conv2d_f32` of `cpu/portable/conv2d_f32/f32,f32,f32#a5b9bc11`.
std::string short_kernel(std::string_view id) {
  id.remove_prefix(id.starts_with("cpu/") ? 4 : 0);
  const std::size_t family = id.find('/');
  return std::string(id.substr(0, family == std::string_view::npos ? family : id.find('/', family + 1)));
}

void add_row(cli::Table& table, const Row& row, bool with_f32) {
  std::vector<Cell> cells = {row.name, std::string(name_of(row.dtype)), fmt::format("{}", row.threads)};
  if (!row.wrong.empty()) {
    cells.insert(cells.end(), with_f32 ? 7 : 6, Cell(""));
    cells.emplace_back(short_kernel(row.kernel));
    table.add(std::move(cells));
    table.note("WRONG: " + row.wrong, Style::red);
    table.note(row.reproducer);
    return;
  }
  cells.emplace_back(fmt::format("{:.1f}", row.ours_us));
  cells.emplace_back(time_text(row.plain_us));
  cells.emplace_back(time_text(row.best_us));
  cells.push_back(ratio_cell(row.ratio_plain()));
  cells.push_back(ratio_cell(row.ratio_best()));
  cells.emplace_back(fmt::format("{:.1f}", row.peak()));
  if (with_f32) cells.push_back(row.f32_us ? Cell(fmt::format("{:.2f}", *row.ratio_f32())) : Cell("-"));
  cells.emplace_back(short_kernel(row.kernel) + (row.disturbed ? " ~" : ""));
  table.add(std::move(cells));
}

void append_ratio(std::string& text, std::string_view what, const std::optional<RatioSummary>& ratio) {
  if (!ratio) return;
  text += fmt::format("  {:<22}{:.3f}", what, ratio->mean);
  if (ratio->dense_mean > 0) text += fmt::format("   dense {:.3f}", ratio->dense_mean);
  text += fmt::format("   worst {:.2f} {}", ratio->worst, ratio->worst_name);
  text += fmt::format("   ({} {})\n", ratio->rows, ratio->rows == 1 ? "layer" : "layers");
}

std::string summary_text(const Summary& summary) {
  std::string text = fmt::format("{}, {} {}: geometric means (above 1: we are faster)\n", name_of(summary.dtype),
                                 summary.threads, summary.threads == 1 ? "thread" : "threads");
  append_ratio(text, "against plain", summary.plain);
  append_ratio(text, "transposed, plain", summary.transposed_plain);
  append_ratio(text, "against best", summary.best);
  append_ratio(text, "against our own f32", summary.f32);
  if (summary.square3_peak)
    text += fmt::format("  {:<22}{:.1f} % of the loop of multiply-adds\n", "median dense 3x3", *summary.square3_peak);
  if (summary.disturbed > 0)
    text += fmt::format("  {} disturbed (~): the machine was slower than before in every attempt\n",
                        cli::counted(summary.disturbed, "row"));
  if (summary.wrong > 0) text += fmt::format("  {} WRONG\n", cli::counted(summary.wrong, "row"));
  return text;
}

std::string fma_text(const std::vector<Row>& rows) {
  double least = 0, most = 0;
  for (const Row& row : rows) {
    if (!row.wrong.empty()) continue;
    const double each = row.fma_gflops / row.threads;
    least = least == 0 ? each : std::min(least, each);
    most = std::max(most, each);
  }
  return fmt::format("loop of multiply-adds: {:.1f} to {:.1f} GFLOP/s a thread", least, most);
}

}  // namespace

std::string table_text(const Setting& setting, const std::vector<Row>& rows, int width, bool colour) {
  const bool with_f32 = std::ranges::any_of(rows, [](const Row& row) { return row.f32_us.has_value(); });
  std::vector<cli::Column> columns = {{"LAYER"},         {"DTYPE"},          {"T", true},
                                      {"OURS us", true}, {"PLAIN us", true}, {"BEST us", true},
                                      {"/PLAIN", true},  {"/BEST", true},    {"PEAK %", true}};
  if (with_f32) columns.push_back({"/F32", true});
  columns.push_back({"KERNEL"});
  cli::Table table(std::move(columns));
  for (const Row& row : rows) add_row(table, row, with_f32);
  std::string text = fmt::format("{} on {}\n{}; threads {}{}\n\n", setting.peer, setting.cpu, fma_text(rows),
                                 setting.bound ? "bound" : "not bound",
                                 setting.openmp.empty() ? "; two OpenMP libraries: not to be trusted" : "");
  text += table.render(width, colour);
  for (const Summary& summary : summaries_of(rows)) text += "\n" + summary_text(summary);
  return text;
}

}  // namespace convoke::peers

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Layers downwards, one panel beside the other. Right of the line at 1 we are faster. Two dots a layer: filled against
// what oneDNN does at best, hollow against plain tensors; a thin line joins them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "bench/peers/report.hpp"
#include "bench/peers/summary.hpp"

namespace convoke::peers {
namespace {

constexpr double row_height = 16, top = 96, bottom = 56, name_width = 200, panel_width = 330, gap = 44, margin = 24;
// Dark enough on white, and told apart by those who see no red or green.
constexpr std::string_view best_colour = "#0b5fa5", plain_colour = "#c2571a", ink = "#1f2328", faint = "#d8dee4";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
  }
  return out;
}

std::string label(double x, double y, std::string_view text, std::string_view extra = {}) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, extra, escaped(text));
}

std::string stroke(double x1, double y1, double x2, double y2, std::string_view colour, double width) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"/>\n", x1, y1, x2,
      y2, colour, width);
}

// The logarithmic axis that all panels share: whole powers of two around every ratio.
struct Axis {
  int low = -1, high = 1;

  explicit Axis(const std::vector<Row>& rows) {
    for (const Row& row : rows)
      for (const auto& ratio : {row.ratio_plain(), row.ratio_best()}) {
        if (!row.wrong.empty() || !ratio) continue;
        low = std::min(low, static_cast<int>(std::floor(std::log2(*ratio))));
        high = std::max(high, static_cast<int>(std::ceil(std::log2(*ratio))));
      }
  }
  double at(double ratio) const { return panel_width * (std::log2(ratio) - low) / (high - low); }
};

std::string tick_text(int power) {
  return power >= 0 ? fmt::format("{}", 1L << power) : fmt::format("1/{}", 1L << -power);
}

std::vector<std::string> names_of(const std::vector<Row>& rows) {
  std::vector<std::string> names;
  for (const Row& row : rows)
    if (std::ranges::find(names, row.name) == names.end()) names.push_back(row.name);
  return names;
}

std::string axis_svg(const Axis& axis, double left, double height) {
  std::string svg;
  const int step = std::max(1, (axis.high - axis.low + 7) / 8);
  for (int power = axis.low; power <= axis.high; ++power) {
    if (power % step != 0) continue;
    const double x = left + axis.at(std::exp2(power));
    svg += power == 0 ? stroke(x, top - 6, x, height - bottom, ink, 1.5) : stroke(x, top, x, height - bottom, faint, 1);
    svg += label(x, height - bottom + 16, tick_text(power), "text-anchor=\"middle\"");
  }
  return svg;
}

std::string dot(double x, double y, std::string_view colour, bool filled, std::string_view title) {
  return fmt::format(
      "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"><title>{}</title>"
      "</circle>\n",
      x, y, filled ? colour : "white", colour, escaped(title));
}

std::string row_svg(const Row& row, const Axis& axis, double left, double y) {
  if (!row.wrong.empty()) return label(left + 4, y + 4, "wrong", "fill=\"#a40e26\"");
  const auto plain = row.ratio_plain(), best = row.ratio_best();
  std::string svg;
  if (plain && best)
    svg += stroke(left + axis.at(*plain), y, left + axis.at(*best), y, row.disturbed ? "#b0b0b0" : "#8c959f", 1);
  const std::string mark = row.disturbed ? ", disturbed" : "";
  if (plain)
    svg += dot(left + axis.at(*plain), y, plain_colour, false,
               fmt::format("{}: {:.2f} against plain{}", row.name, *plain, mark));
  if (best)
    svg += dot(left + axis.at(*best), y, best_colour, true,
               fmt::format("{}: {:.2f} against best{}", row.name, *best, mark));
  return svg;
}

std::string mean_text(const Summary& summary) {
  std::string text;
  if (summary.plain) text += fmt::format("plain {:.2f}", summary.plain->mean);
  if (summary.best) text += fmt::format("{}best {:.2f}", text.empty() ? "" : ", ", summary.best->mean);
  return text.empty() ? "no peer" : "mean: " + text;
}

std::string panel_svg(const Summary& summary, const std::vector<Row>& rows, const std::vector<std::string>& names,
                      const Axis& axis, double left, double height) {
  const std::string title =
      fmt::format("{}, {} {}", name_of(summary.dtype), summary.threads, summary.threads == 1 ? "thread" : "threads");
  std::string svg = label(left, top - 28, title, "font-weight=\"600\"");
  svg += label(left, top - 12, mean_text(summary), "fill=\"#57606a\"");
  svg += axis_svg(axis, left, height);
  for (const Row& row : rows) {
    if (row.dtype != summary.dtype || row.threads != summary.threads) continue;
    const auto line = std::ranges::find(names, row.name) - names.begin();
    svg += row_svg(row, axis, left, top + row_height * (static_cast<double>(line) + 0.5));
  }
  return svg;
}

std::string legend_svg(const Setting& setting, double y) {
  std::string svg = dot(margin + 4, y - 4, plain_colour, false, "plain");
  svg += label(margin + 14, y, "against plain NCHW");
  svg += dot(margin + 154, y - 4, best_colour, true, "best");
  svg += label(margin + 164, y, "against the layouts that " + setting.peer + " prefers, reorders not counted");
  return svg;
}

}  // namespace

std::string chart_svg(const Setting& setting, const std::vector<Row>& rows) {
  const std::vector<std::string> names = names_of(rows);
  const std::vector<Summary> summaries = summaries_of(rows);
  const Axis axis(rows);
  const double panels = std::max(2.0, static_cast<double>(summaries.size()));  // the title needs the width of two
  const double width = 2 * margin + name_width + panels * (panel_width + gap);
  const double height = top + row_height * static_cast<double>(names.size()) + bottom;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"12\" fill=\"{2}\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, height, ink);
  svg += label(margin, 26, fmt::format("Convoke against {}: times as fast, each layer", setting.peer),
               "font-size=\"16\" font-weight=\"600\"");
  svg += label(margin, 44, setting.cpu, "fill=\"#57606a\"");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double y = top + row_height * static_cast<double>(i);
    if (i % 2 == 0)
      svg += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"#f6f8fa\"/>\n", margin, y,
                         width - 2 * margin, row_height);
    svg += label(margin + name_width - 12, y + 12, names[i], "text-anchor=\"end\"");
  }
  double left = margin + name_width;
  for (const Summary& summary : summaries) {
    svg += panel_svg(summary, rows, names, axis, left, height);
    left += panel_width + gap;
  }
  return svg + legend_svg(setting, height - 14) + "</svg>\n";
}

}  // namespace convoke::peers

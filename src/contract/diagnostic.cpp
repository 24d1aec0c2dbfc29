// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/diagnostic.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

#include "contract/text.hpp"

namespace convoke::contract {
namespace {

/// Blanks that put a caret under byte `column` of `line`: one for each character, tabs kept so that both lines expand
/// alike.
std::string caret_padding(std::string_view line, int column) {
  std::string out;
  const std::size_t before = std::min(line.size(), static_cast<std::size_t>(column - 1));
  for (const char c : line.substr(0, before)) {
    if (c == '\t')
      out.push_back('\t');
    else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u)
      out.push_back(' ');
  }
  return out;
}

std::string tag(const Diagnostic& diagnostic) {
  if (diagnostic.name.empty()) return {};
  if (diagnostic.rule.empty()) return fmt::format(" [{}]", diagnostic.name);
  return fmt::format(" [{} {}]", diagnostic.rule, diagnostic.name);
}

}  // namespace

void sort_by_place(std::vector<Diagnostic>& diagnostics) {
  // Not stable_sort: with libstdc++ it uses a function that Clang warns of as deprecated.
  std::vector<std::size_t> order(diagnostics.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
    const Diagnostic &a = diagnostics[i], &b = diagnostics[j];
    const bool a_whole = a.line == 0, b_whole = b.line == 0;
    return std::tie(a.path, a_whole, a.line, a.column, i) < std::tie(b.path, b_whole, b.line, b.column, j);
  });
  std::vector<Diagnostic> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(diagnostics[i]));
  diagnostics = std::move(sorted);
}

std::string render(const Diagnostic& diagnostic) {
  std::string place = printable(diagnostic.path);
  if (diagnostic.line > 0) place += fmt::format(":{}", diagnostic.line);
  if (diagnostic.line > 0 && diagnostic.column > 0) place += fmt::format(":{}", diagnostic.column);
  const std::string_view kind = diagnostic.severity == Severity::error ? "error" : "warning";
  std::string out = fmt::format("{}: {}: {}{}\n", place, kind, diagnostic.message, tag(diagnostic));
  if (!diagnostic.source_line.empty()) {
    const int column = diagnostic.source_column > 0 ? diagnostic.source_column : diagnostic.column;
    const Excerpt shown = excerpt(diagnostic.source_line, column, source_width + 8);
    out += fmt::format("  {}\n", printable(shown.text));
    if (shown.column > 0) out += fmt::format("  {}^\n", caret_padding(shown.text, shown.column));
  }
  if (!diagnostic.accepted.empty()) out += fmt::format("  note: accepted: {}\n", diagnostic.accepted);
  return out;
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace convoke::contract {
namespace {

/// Bytes of a message that are kept: messages quote values, and a value may be as long as a block.
constexpr std::size_t max_message = 1000;

}  // namespace

Place Report::place(Position at) const {
  Place out{at.line, at.column, {}, 0};
  if (at.line < 1 || static_cast<std::size_t>(at.line) > lines_->size()) return out;
  const Excerpt shown = excerpt((*lines_)[static_cast<std::size_t>(at.line) - 1], at.column, source_width);
  out.source_line = printable(shown.text);
  out.source_column = shown.column;
  return out;
}

void Report::add(Severity severity, Position at, Finding finding) {
  std::size_t& count = severity == Severity::error ? errors_ : warnings_;
  if (++count > max_findings) return;
  Place where = place(at);
  found_.push_back({.severity = severity,
                    .rule = std::string(finding.rule),
                    .name = std::string(finding.name),
                    .message = printable(excerpt(finding.message, 1, max_message).text),
                    .accepted = std::move(finding.accepted),
                    .path = path_,
                    .line = where.line,
                    .column = where.column,
                    .source_line = std::move(where.source_line),
                    .source_column = where.source_column});
}

std::vector<Diagnostic> Report::take() {
  std::vector<Diagnostic> out = std::move(found_);
  sort_by_place(out);
  const std::size_t hidden_errors = errors_ - std::min(errors_, max_findings);
  const std::size_t hidden_warnings = warnings_ - std::min(warnings_, max_findings);
  if (hidden_errors + hidden_warnings > 0) {
    Diagnostic note;
    note.severity = Severity::warning;
    note.name = "TooManyFindings";
    note.message = fmt::format("{} more errors and {} more warnings are not shown", hidden_errors, hidden_warnings);
    note.path = path_;
    out.push_back(std::move(note));
  }
  errors_ = warnings_ = 0;
  found_.clear();
  return out;
}

}  // namespace convoke::contract

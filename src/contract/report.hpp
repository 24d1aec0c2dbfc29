// SPDX-License-Identifier: Apache-2.0 OR MIT
// Collects what is found in one document: many findings in one run, but never more than a person would read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "contract/diagnostic.hpp"
#include "contract/text.hpp"

namespace convoke::contract {

/// What a finding says; the place comes beside it.
struct Finding {
  std::string_view rule;  ///< number in docs/format.md, Findings, or empty
  std::string_view name;
  std::string message;
  std::string accepted = {};
};

class Report {
 public:
  /// Errors and warnings kept of one document, each; what is beyond is counted and told in a closing note.
  static constexpr std::size_t max_findings = 500;

  /// `lines` must outlive the report.
  Report(std::string_view path, const std::vector<std::string_view>& lines) : path_(path), lines_(&lines) {}

  void error(Position at, Finding finding) { add(Severity::error, at, std::move(finding)); }
  void warning(Position at, Finding finding) { add(Severity::warning, at, std::move(finding)); }

  /// Errors so far; a caller compares two readings to learn whether something failed in between.
  std::size_t errors() const noexcept { return errors_; }
  /// The place with the text of its line.
  Place place(Position at) const;
  /// All findings in the order of the file; the report is empty afterwards.
  std::vector<Diagnostic> take();

 private:
  void add(Severity severity, Position at, Finding finding);

  std::string path_;
  const std::vector<std::string_view>* lines_;
  std::vector<Diagnostic> found_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the demo prints: a table that grows row by row, a progress bar on terminals, notes, a closing line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/demo/trial.hpp"

namespace convoke::demo {

class Report {
 public:
  /// `expected` rows in all; `bar`: draw a progress bar below the table.
  Report(int expected, bool bar) : expected_(expected), bar_(bar) {}

  /// Starts a part of the table with a title and the heads of the columns.
  void section(const std::string& title);
  /// Shows on the bar what runs now.
  void announce(const std::string& what);
  void row(const Trial& trial);
  /// A line between or below tables.
  void line(const std::string& text);
  /// Prints the reasons that the rows of this section refer to.
  void notes();

  int rows() const noexcept { return rows_; }
  int wrong() const noexcept { return wrong_; }
  std::int64_t compared() const noexcept { return compared_; }

 private:
  void clear_bar() const;
  std::size_t note_of(const std::string& why);

  int expected_;
  bool bar_;
  int rows_ = 0, wrong_ = 0;
  std::int64_t compared_ = 0;
  std::vector<std::string> notes_;
};

}  // namespace convoke::demo

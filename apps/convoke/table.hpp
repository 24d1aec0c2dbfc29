// SPDX-License-Identifier: Apache-2.0 OR MIT
// A table for people: columns as wide as their cells, the last one wrapped so that the whole fits the width.
#pragma once

#include <string>
#include <vector>

#include "apps/convoke/output.hpp"

namespace convoke::cli {

struct Cell {
  std::string text;
  Style style = Style::plain;

  Cell(std::string cell_text, Style cell_style = Style::plain) : text(std::move(cell_text)), style(cell_style) {}
  Cell(const char* cell_text) : text(cell_text) {}
};

struct Column {
  std::string title;
  bool right = false;  ///< numbers: aligned at their end
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One row; missing cells at the end are empty, surplus ones are dropped.
  void add(std::vector<Cell> cells);
  /// A line below the last row, indented and never wrapped: a reproducer that can be copied in one piece.
  void note(std::string_view text, Style style = Style::dim);

  bool empty() const noexcept { return rows_.empty(); }
  /// The table as text, every line ended. Only the last column is wrapped, and only when its title is not `right`.
  std::string render(int width, bool colour) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::vector<Cell> notes;
  };
  std::vector<std::size_t> widths(int width) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

/// Cuts `text` into pieces of at most `width` columns, at a blank, which is dropped, or after `/`, `,` or `:` where
/// there is one.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/table.hpp"

#include <algorithm>
#include <utility>

namespace convoke::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 16;

// Columns a UTF-8 text takes, one a code point: the program prints nothing wider.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const Cell& cell, std::size_t width, bool right, bool colour) {
  const std::size_t used = columns_of(cell.text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  const std::string text = styled(cell.text, cell.style, colour);
  return right ? blanks + text : text + blanks;
}

void append_line(std::string& out, std::string line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
  out += line;
  out += '\n';
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> pieces;
  std::string_view rest = text;
  while (columns_of(rest) > width) {
    std::size_t bytes = 0, columns = 0, last_break = 0;
    while (columns < width) {
      ++bytes;
      while (bytes < rest.size() && (static_cast<unsigned char>(rest[bytes]) & 0xC0U) == 0x80U) ++bytes;
      ++columns;
      if (std::string_view(" /,:").find(rest[bytes - 1]) != std::string_view::npos) last_break = bytes;
    }
    const std::size_t cut = last_break == 0 ? bytes : last_break;
    pieces.emplace_back(rest.substr(0, rest[cut - 1] == ' ' ? cut - 1 : cut));
    rest.remove_prefix(cut);
  }
  pieces.emplace_back(rest);
  return pieces;
}

void Table::add(std::vector<Cell> cells) {
  cells.resize(columns_.size(), Cell(""));
  for (Cell& cell : cells) cell.text = escaped(cell.text);
  rows_.push_back({std::move(cells), {}});
}

void Table::note(std::string_view text, Style style) {
  if (!rows_.empty()) rows_.back().notes.emplace_back(escaped(text), style);
}

std::vector<std::size_t> Table::widths(int width) const {
  std::vector<std::size_t> result;
  std::size_t total = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = columns_of(columns_[i].title);
    for (const Row& row : rows_) widest = std::max(widest, columns_of(row.cells[i].text));
    result.push_back(widest);
    total += widest + (i == 0 ? 0 : gap);
  }
  const auto limit = static_cast<std::size_t>(std::max(width, 0));
  if (!result.empty() && total > limit && !columns_.back().right) {
    const std::size_t others = total - result.back();
    result.back() = std::max(narrowest, limit > others ? limit - others : 0);
  }
  return result;
}

std::string Table::render(int width, bool colour) const {
  const std::vector<std::size_t> size = widths(width);
  std::string out;
  const auto add_line = [&](const std::vector<Cell>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
      line += (i == 0 ? "" : std::string(gap, ' ')) + padded(cells[i], size[i], columns_[i].right, colour);
    append_line(out, std::move(line));
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.emplace_back(column.title, Style::bold);
  add_line(titles);
  for (const Row& row : rows_) {
    const std::vector<std::string> pieces = wrapped(row.cells.back().text, size.back());
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      std::vector<Cell> cells = piece == 0 ? row.cells : std::vector<Cell>(columns_.size(), Cell(""));
      cells.back() = Cell(pieces[piece], row.cells.back().style);
      add_line(cells);
    }
    for (const Cell& note : row.notes) append_line(out, "    " + styled(note.text, note.style, colour));
  }
  return out;
}

}  // namespace convoke::cli

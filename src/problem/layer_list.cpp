// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/layer_list.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/fail.hpp"
#include "base/file.hpp"
#include "problem/text.hpp"

namespace convoke::problem {
namespace {

// The columns; the numbers begin at `n`.
enum Column : std::size_t { op, name, network, n, cin, h, w, cout, kh, kw, sh, sw, ph, pw, dh, dw, groups, oph, opw };
constexpr std::size_t columns = opw + 1;
constexpr std::array<std::string_view, columns> column_names = {"op",   "name", "network", "n",   "cin", "h",  "w",
                                                                "cout", "kh",   "kw",      "sh",  "sw",  "ph", "pw",
                                                                "dh",   "dw",   "groups",  "oph", "opw"};
// What a column that is not there holds; nullptr: it must be there.
constexpr std::array<const char*, columns> defaults = {nullptr, nullptr, "",      nullptr, nullptr, nullptr, nullptr,
                                                       nullptr, nullptr, nullptr, "1",     "1",     "0",     "0",
                                                       "1",     "1",     "1",     "0",     "0"};

class ListReader {
 public:
  explicit ListReader(std::string_view path) : path_(path) {}

  Result<std::vector<Layer>> read(std::string_view text) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    std::vector<Layer> layers;
    bool header_seen = false;
    for (const std::string_view raw : split(text, '\n')) {
      ++line_;
      if (trimmed(raw).empty()) continue;
      if (!header_seen) {
        if (auto header = read_header(raw); !header) return tl::unexpected(header.error());
        header_seen = true;
        continue;
      }
      auto layer = read_row(raw);
      if (!layer) return tl::unexpected(layer.error());
      layers.push_back(*std::move(layer));
    }
    if (!header_seen) return complaint("op", "the list is empty: its first line must name the columns");
    return layers;
  }

 private:
  tl::unexpected<Error> complaint(std::string_view column, std::string_view text) const {
    return fail(ErrorCode::invalid_file, std::string(column), {named("line", line_)}, "{}:{}:{}: {}", path_, line_,
                clipped(column), text);
  }

  Result<void> read_header(std::string_view line) {
    for (const std::string_view cell : split(line, ',')) {
      const std::string_view title = trimmed(cell);
      const auto found = std::ranges::find(column_names, title);
      if (found == column_names.end())
        return complaint(title, fmt::format("unknown column {}{}", ticked(title), suggestion(title, column_names)));
      const auto column = static_cast<std::size_t>(found - column_names.begin());
      if (std::ranges::find(order_, column) != order_.end()) return complaint(title, "the column is there twice");
      order_.push_back(column);
    }
    for (std::size_t column = 0; column < columns; ++column)
      if (defaults[column] == nullptr && std::ranges::find(order_, column) == order_.end())
        return complaint(column_names[column], "the column is missing");
    return {};
  }

  Result<Layer> read_row(std::string_view line) {
    const auto row = split(line, ',');
    if (row.size() != order_.size())
      return complaint(column_names[order_[std::min(row.size(), order_.size() - 1)]],
                       fmt::format("{} cells, but the header names {} columns", row.size(), order_.size()));
    std::array<std::string_view, columns> cells;
    for (std::size_t column = 0; column < columns; ++column)
      cells[column] = defaults[column] == nullptr ? "" : defaults[column];
    for (std::size_t i = 0; i < row.size(); ++i) cells[order_[i]] = trimmed(row[i]);

    std::array<std::int64_t, columns> number{};
    for (std::size_t column = n; column < columns; ++column) {
      const auto value = parse_integer(cells[column]);
      if (!value) return complaint(column_names[column], fmt::format("{} is not a number", ticked(cells[column])));
      number[column] = *value;
    }
    return make_layer(cells, number);
  }

  Result<Layer> make_layer(const std::array<std::string_view, columns>& cells,
                           const std::array<std::int64_t, columns>& number) {
    Layer layer;
    Problem& p = layer.problem;
    if (cells[op] != name_of(Op::conv2d) && cells[op] != name_of(Op::conv_transpose2d))
      return complaint("op", fmt::format("{} is neither conv2d nor conv_transpose2d", ticked(cells[op])));
    if (cells[name].empty()) return complaint("name", "the layer has no name");
    if (!names_.emplace(cells[name]).second)
      return complaint("name", fmt::format("{} is there twice", ticked(cells[name])));
    p.op = cells[op] == name_of(Op::conv2d) ? Op::conv2d : Op::conv_transpose2d;
    p.name = cells[name];
    layer.network = cells[network];
    layer.line = line_;
    p.params = {.stride = {number[sh], number[sw]},
                .padding = {number[ph], number[pw]},
                .dilation = {number[dh], number[dw]},
                .output_padding = {number[oph], number[opw]},
                .groups = number[groups]};
    // The weight's second size is a quotient, so this must hold before there is a shape to judge.
    const std::int64_t divided = p.op == Op::conv2d ? number[cin] : number[cout];
    if (number[groups] < 1 || divided % number[groups] != 0)
      return complaint("groups", fmt::format("groups must be at least 1 and divide cin and cout, got {}, {} and {}",
                                             number[groups], number[cin], number[cout]));
    p.x = {number[n], number[cin], number[h], number[w]};
    p.weight = p.op == Op::conv2d ? Dims{number[cout], number[cin] / number[groups], number[kh], number[kw]}
                                  : Dims{number[cin], number[cout] / number[groups], number[kh], number[kw]};
    if (const auto geometry = geometry_of(p); !geometry)
      return complaint(geometry.error().rule, fmt::format("{}; the layer is {}", geometry.error().message, to_line(p)));
    return layer;
  }

  std::string_view path_;
  int line_ = 0;
  std::vector<std::size_t> order_;  // column of each cell
  std::set<std::string, std::less<>> names_;
};

}  // namespace

Result<std::vector<Layer>> parse_layer_list(std::string_view text, std::string_view path) {
  return ListReader(path).read(text);
}

Result<std::vector<Layer>> read_layer_list(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_layer_list(*text, path);
}

}  // namespace convoke::problem

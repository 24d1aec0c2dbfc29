// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/problem.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <vector>

#include "base/checked.hpp"
#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "problem/text.hpp"

namespace convoke::problem {
namespace {

constexpr std::array<std::string_view, layout_kinds> layout_names = {"dense",   "channels_last", "sliced", "permuted",
                                                                     "flipped", "expanded",      "offset"};
constexpr std::array<std::string_view, data_kinds> data_names = {"int", "normal", "special"};

template <class Kind, std::size_t count>
bool read_word(Kind& kind, std::string_view text, const std::array<std::string_view, count>& names) {
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) return false;
  kind = static_cast<Kind>(found - names.begin());
  return true;
}

// One or more numbers with `separator` between; empty where one of them is none.
std::vector<std::int64_t> numbers(std::string_view text, char separator) {
  std::vector<std::int64_t> values;
  for (const std::string_view piece : split(text, separator)) {
    const auto value = parse_integer(piece);
    if (!value) return {};
    values.push_back(*value);
  }
  return values;
}

bool read_dims(Dims& dims, std::string_view text) {
  const auto values = numbers(text, 'x');
  if (values.empty() || values.size() > Dims::max_rank) return false;
  dims = {};
  for (const std::int64_t value : values) dims.push_back(value);
  return true;
}

bool read_extent(Extent2& extent, std::string_view text) {
  const auto values = numbers(text, 'x');
  if (values.empty() || values.size() > 2) return false;
  extent = {values.front(), values.back()};
  return true;
}

bool read_padding(Padding& padding, std::string_view text) {
  if (text == "same") {
    padding = Padding::same_upper();
    return true;
  }
  if (const auto values = numbers(text, ','); values.size() == 4) {
    padding = {values[0], values[2], values[1], values[3]};
    return true;
  }
  Extent2 both;
  if (!read_extent(both, text)) return false;
  padding = {both.h, both.w};
  return true;
}

template <class Unsigned>
bool read_unsigned(Unsigned& result, std::string_view text) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), result);
  return code == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool read_align(std::size_t& align, std::string_view text) {
  return read_unsigned(align, text) && std::has_single_bit(align) && align <= max_align;
}

bool read_threads(int& threads, std::string_view text) {
  const auto value = parse_integer(text);
  if (!value || *value < 0 || *value > max_threads) return false;
  threads = static_cast<int>(*value);
  return true;
}

bool is_factor(std::string_view text) {
  constexpr std::string_view plane = ",plane";
  if (text.ends_with(plane)) text.remove_suffix(plane.size());
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos &&
         std::ranges::count(text, '.') <= 1 && text.front() != '.' && text.back() != '.';
}

bool read_demand(std::string& demand, std::string_view text) {
  const auto inside = [text](std::string_view word) {
    const bool fits = text.size() > word.size() + 2 && text.starts_with(word) && text[word.size()] == '(' &&
                      text.find(')') == text.size() - 1;
    return fits ? text.substr(word.size() + 1, text.size() - word.size() - 2) : std::string_view{};
  };
  const bool known = text == "reproducible" || text == "any" || text == "fast" || is_factor(inside("accurate")) ||
                     !inside("order").empty();
  if (known) demand = text;
  return known;
}

bool read_bias(bool& bias, std::string_view text) {
  bias = text == "1";
  return text == "1" || text == "0";
}

bool read_dtype(DType& dtype, std::string_view text) {
  const auto found = parse_dtype(text);
  if (!found || name_of(*found) != text) return false;
  dtype = *found;
  return true;
}

bool read_kernel(std::string& kernel, std::string_view text) {
  kernel = text;
  return !text.empty();
}

struct LineKey {
  std::string_view name, wanted;
  bool (*read)(Problem& problem, std::string_view text);
};

constexpr std::string_view shape_text = "a shape such as 1x64x56x56";
constexpr std::string_view extent_text = "a number, or height and width such as 2x1";
constexpr std::string_view layout_text = "dense, channels_last, sliced, permuted, flipped, expanded or offset";

// In the order that to_line prints them.
constexpr std::array<LineKey, 18> line_keys = {{
    {"x", shape_text, [](Problem& p, std::string_view text) { return read_dims(p.x, text); }},
    {"weight", shape_text, [](Problem& p, std::string_view text) { return read_dims(p.weight, text); }},
    {"bias", "0 or 1", [](Problem& p, std::string_view text) { return read_bias(p.bias, text); }},
    {"stride", extent_text, [](Problem& p, std::string_view text) { return read_extent(p.params.stride, text); }},
    {"padding", "a number, height and width such as 2x1, top,bottom,left,right such as 0,1,0,1, or same",
     [](Problem& p, std::string_view text) { return read_padding(p.params.padding, text); }},
    {"dilation", extent_text, [](Problem& p, std::string_view text) { return read_extent(p.params.dilation, text); }},
    {"output_padding", extent_text,
     [](Problem& p, std::string_view text) { return read_extent(p.params.output_padding, text); }},
    {"groups", "a number",
     [](Problem& p, std::string_view text) {
       const auto value = parse_integer(text);
       p.params.groups = value.value_or(1);
       return value.has_value();
     }},
    {"dtype", "f32, f64, bf16 or f16", [](Problem& p, std::string_view text) { return read_dtype(p.dtype, text); }},
    {"x.layout", layout_text,
     [](Problem& p, std::string_view text) { return read_word(p.x_layout, text, layout_names); }},
    {"weight.layout", layout_text,
     [](Problem& p, std::string_view text) { return read_word(p.weight_layout, text, layout_names); }},
    {"out.layout", "dense, channels_last, sliced, permuted, flipped or offset",
     [](Problem& p, std::string_view text) {
       return read_word(p.out_layout, text, layout_names) && p.out_layout != LayoutKind::expanded;
     }},
    {"align", "a power of two from 1 to 4096",
     [](Problem& p, std::string_view text) { return read_align(p.align, text); }},
    {"data", "int, normal or special",
     [](Problem& p, std::string_view text) { return read_word(p.data, text, data_names); }},
    {"seed", "a number from 0 to 2^64 - 1",
     [](Problem& p, std::string_view text) { return read_unsigned(p.seed, text); }},
    {"threads", "a number from 0 to 4096",
     [](Problem& p, std::string_view text) { return read_threads(p.threads, text); }},
    {"kernel", "a glob over kernel names",
     [](Problem& p, std::string_view text) { return read_kernel(p.kernel, text); }},
    {"demand", "reproducible, any, fast, accurate(factor), accurate(factor,plane) or order(name)",
     [](Problem& p, std::string_view text) { return read_demand(p.demand, text); }},
}};

constexpr auto key_names = [] {
  std::array<std::string_view, line_keys.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = line_keys[i].name;
  return names;
}();

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string_view> words;
  for (std::size_t begin = line.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(blanks, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(blanks, end);
  }
  return words;
}

class LineReader {
 public:
  Result<Problem> read(std::string_view line) {
    for (const std::string_view word : words_of(line)) {
      const std::size_t equals = word.find('=');
      const Result<void> done =
          equals == std::string_view::npos ? read_op(word) : read_key(word.substr(0, equals), word.substr(equals + 1));
      if (!done) return tl::unexpected(done.error());
    }
    if (!op_seen_)
      return fail(ErrorCode::invalid_file, "op", {}, "op: a problem line needs conv2d or conv_transpose2d");
    for (const std::size_t required : {0u, 1u})
      if (!seen_[required])
        return fail(ErrorCode::invalid_file, std::string(key_names[required]), {}, "{}: the problem line needs it",
                    key_names[required]);
    return std::move(problem_);
  }

 private:
  Result<void> read_op(std::string_view word) {
    constexpr std::array<std::string_view, 2> ops = {"conv2d", "conv_transpose2d"};
    Op op{};
    if (!read_word(op, word, ops))
      return fail(ErrorCode::invalid_file, "op", {named("op", word)},
                  "op: {} is neither an operation (conv2d, conv_transpose2d) nor key=value{}", ticked(word),
                  suggestion(word, ops));
    if (op_seen_) return fail(ErrorCode::invalid_file, "op", {named("op", word)}, "op: two operations in one line");
    problem_.op = op;
    op_seen_ = true;
    return {};
  }

  Result<void> read_key(std::string_view name, std::string_view text) {
    const auto found = std::ranges::find(key_names, name);
    if (found == key_names.end())
      return fail(ErrorCode::invalid_file, std::string(name), {named("key", name)}, "unknown key {}{}", ticked(name),
                  suggestion(name, key_names));
    const auto number = static_cast<std::size_t>(found - key_names.begin());
    const LineKey& key = line_keys[number];
    if (seen_[number])
      return fail(ErrorCode::invalid_file, std::string(name), {named("value", text)}, "{}: given twice", name);
    seen_[number] = true;
    if (!key.read(problem_, text))
      return fail(ErrorCode::invalid_file, std::string(name), {named("value", text)}, "{}: {} is not {}", name,
                  ticked(text), key.wanted);
    return {};
  }

  Problem problem_;
  bool op_seen_ = false;
  std::array<bool, line_keys.size()> seen_{};
};

std::string text_of_sizes(const Dims& dims) {
  std::string text;
  for (const std::int64_t size : dims) text += fmt::format("{}{}", text.empty() ? "" : "x", size);
  return text;
}

std::string text_of_extent(const Extent2& extent) {
  return extent.h == extent.w ? std::to_string(extent.h) : fmt::format("{}x{}", extent.h, extent.w);
}

std::string text_of_padding(const Padding& p) {
  if (p.same) return "same";
  if (p.top == p.bottom && p.left == p.right) return text_of_extent({p.top, p.left});
  return fmt::format("{},{},{},{}", p.top, p.bottom, p.left, p.right);
}

bool same_params(const ConvParams& a, const ConvParams& b) {
  return a.stride == b.stride && a.padding == b.padding && a.dilation == b.dilation &&
         a.output_padding == b.output_padding && a.groups == b.groups;
}

}  // namespace

std::string_view name_of(LayoutKind kind) noexcept { return layout_names[static_cast<std::size_t>(kind)]; }
std::string_view name_of(DataKind kind) noexcept { return data_names[static_cast<std::size_t>(kind)]; }

bool operator==(const Problem& a, const Problem& b) noexcept {
  return a.op == b.op && a.x == b.x && a.weight == b.weight && a.bias == b.bias && same_params(a.params, b.params) &&
         a.dtype == b.dtype && a.x_layout == b.x_layout && a.weight_layout == b.weight_layout &&
         a.out_layout == b.out_layout && a.align == b.align && a.data == b.data && a.seed == b.seed &&
         a.threads == b.threads && a.kernel == b.kernel && a.demand == b.demand;
}

Result<Problem> parse_problem(std::string_view line) { return LineReader().read(line); }

std::string to_line(const Problem& p) {
  const Problem plain;
  std::string line = fmt::format("{} x={} weight={}", name_of(p.op), text_of_sizes(p.x), text_of_sizes(p.weight));
  const auto add = [&line](bool said, std::string_view key, const auto& text) {
    if (said) line += fmt::format(" {}={}", key, text);
  };
  add(p.bias, "bias", 1);
  add(p.params.stride != plain.params.stride, "stride", text_of_extent(p.params.stride));
  add(p.params.padding != plain.params.padding, "padding", text_of_padding(p.params.padding));
  add(p.params.dilation != plain.params.dilation, "dilation", text_of_extent(p.params.dilation));
  add(p.params.output_padding != plain.params.output_padding, "output_padding",
      text_of_extent(p.params.output_padding));
  add(p.params.groups != plain.params.groups, "groups", p.params.groups);
  add(p.dtype != plain.dtype, "dtype", name_of(p.dtype));
  add(p.x_layout != plain.x_layout, "x.layout", name_of(p.x_layout));
  add(p.weight_layout != plain.weight_layout, "weight.layout", name_of(p.weight_layout));
  add(p.out_layout != plain.out_layout, "out.layout", name_of(p.out_layout));
  add(p.align != plain.align, "align", p.align);
  add(p.data != plain.data, "data", name_of(p.data));
  add(p.seed != plain.seed, "seed", p.seed);
  add(p.threads != plain.threads, "threads", p.threads);
  add(!p.kernel.empty(), "kernel", p.kernel);
  add(!p.demand.empty(), "demand", p.demand);
  return line;
}

std::optional<std::int64_t> output_channels(Op op, const Dims& weight, std::int64_t groups) noexcept {
  if (weight.rank() != 4) return std::nullopt;
  return op == Op::conv2d ? std::optional(weight[0]) : checked_mul(weight[1], groups);
}

Result<Geometry> geometry_of(const Problem& problem) {
  std::optional<Dims> bias;
  if (problem.bias)
    if (const auto channels = output_channels(problem.op, problem.weight, problem.params.groups))
      bias = Dims{*channels};
  return make_geometry(problem.op, problem.x, problem.weight, bias, problem.params);
}

}  // namespace convoke::problem

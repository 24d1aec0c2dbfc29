// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/case_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/layout.hpp"
#include "problem/case_view.hpp"
#include "problem/text.hpp"
#include "problem/walk.hpp"

namespace convoke::problem {
namespace {

template <class T>
using Read = tl::expected<T, std::string>;  // or what is wrong

std::string shown(const Json& value) {
  return ticked(value.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace));
}

Read<std::string> read_text(const Json& value) {
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) return refuse(shown(value) + " is not a text");
  return value.get<std::string>();
}

Read<std::vector<std::int64_t>> read_integers(const Json& value) {
  std::vector<std::int64_t> numbers;
  if (!value.is_array()) return refuse(shown(value) + " is not a list of whole numbers");
  for (const Json& item : value) {
    const bool large =
        item.is_number_unsigned() && item.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
    if (!item.is_number_integer() || large) return refuse(shown(item) + " is not a whole number");
    numbers.push_back(item.get<std::int64_t>());
  }
  return numbers;
}

Read<Dims> read_shape(const Json& value) {
  const auto numbers = read_integers(value);
  if (!numbers) return refuse(numbers.error());
  if (numbers->size() > Dims::max_rank) return refuse(fmt::format("a shape has at most {} sizes", Dims::max_rank));
  Dims shape;
  for (const std::int64_t number : *numbers) shape.push_back(number);
  if (!element_count(shape)) return refuse(text_of(shape) + " is not a shape");
  return shape;
}

Read<double> read_value(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  return refuse(shown(value) + " is neither a number nor inf, -inf or nan");
}

// Appends the numbers of nested lists that have the shape `shape`, from `axis` on.
Read<void> append_values(const Json& value, const Dims& shape, int axis, std::vector<double>& values) {
  if (axis == shape.rank()) {
    const auto number = read_value(value);
    if (!number) return refuse(number.error());
    values.push_back(*number);
    return {};
  }
  if (!value.is_array() || std::ssize(value) != shape[axis])
    return refuse(
        fmt::format("the lists of a tensor must be equally long: {} is not a list of {}", shown(value), shape[axis]));
  for (const Json& item : value)
    if (auto done = append_values(item, shape, axis + 1, values); !done) return done;
  return {};
}

// Nested lists; the first element of each list says how deep they go.
Read<CaseTensor> read_tensor(const Json& value) {
  CaseTensor tensor;
  int depth = 0;
  for (const Json* level = &value; level->is_array(); level = &level->front()) {
    if (++depth > Dims::max_rank) return refuse(fmt::format("more than {} axes", Dims::max_rank));
    tensor.shape.push_back(std::ssize(*level));
    if (level->empty()) break;
  }
  if (depth == 0) return refuse(shown(value) + " is not a list");
  if (auto done = append_values(value, tensor.shape, 0, tensor.values); !done) return refuse(done.error());
  return tensor;
}

Read<Extent2> read_extent(const Json& value) {
  const auto numbers = read_integers(value.is_array() ? value : Json::array({value}));
  if (!numbers) return refuse(numbers.error());
  if (numbers->empty() || numbers->size() > 2) return refuse(shown(value) + " is neither a number nor [height, width]");
  return Extent2{numbers->front(), numbers->back()};
}

Read<Padding> read_padding(const Json& value) {
  if (value == "same") return Padding::same_upper();
  if (const auto four = read_integers(value); four && four->size() == 4)
    return Padding{(*four)[0], (*four)[2], (*four)[1], (*four)[3]};
  const auto both = read_extent(value);
  if (!both)
    return refuse(shown(value) + " is neither a number, [height, width], [top, bottom, left, right] nor \"same\"");
  return Padding{both->h, both->w};
}

bool same_value(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

// Whether the view shows the values that the case gives for the operand.
bool shows(const CaseView& view, const CaseTensor& tensor) {
  bool same = true;
  walk(tensor.shape, {view.strides, dense_strides(tensor.shape), view.offset, 0},
       [&](std::int64_t at, std::int64_t index) {
         same = same &&
                same_value(view.base[static_cast<std::size_t>(at)], tensor.values[static_cast<std::size_t>(index)]);
       });
  return same;
}

Read<std::vector<std::string>> read_texts(const Json& value) {
  std::vector<std::string> texts;
  if (!value.is_array()) return refuse(shown(value) + " is not a list of texts");
  for (const Json& item : value) {
    auto text = read_text(item);
    if (!text) return refuse(text.error());
    texts.push_back(*std::move(text));
  }
  return texts;
}

// The steps of a view in the order they apply: slice, permute, expand.
Read<void> apply_steps(const Json& value, View& view) {
  if (value.contains("slice")) {
    const auto axes = read_texts(value.at("slice"));
    if (!axes) return refuse("slice: " + axes.error());
    if (auto done = view.slice(*axes); !done) return refuse("slice: " + done.error());
  }
  if (value.contains("permute")) {
    const auto order = read_integers(value.at("permute"));
    if (!order) return refuse("permute: " + order.error());
    if (auto done = view.permute(*order); !done) return refuse("permute: " + done.error());
  }
  if (value.contains("expand")) {
    const auto shape = read_integers(value.at("expand"));
    if (!shape) return refuse("expand: " + shape.error());
    if (auto done = view.expand(*shape); !done) return refuse("expand: " + done.error());
  }
  return {};
}

Read<void> check_keys(const Json& value, std::span<const std::string_view> known) {
  if (!value.is_object()) return refuse(shown(value) + " is not an object");
  for (const auto& [key, unused] : value.items())
    if (std::ranges::find(known, key) == known.end())
      return refuse(fmt::format("unknown key {}{}", ticked(key), suggestion(key, known)));
  return {};
}

Read<void> apply_view(const Json& value, CaseOperand& operand) {
  constexpr std::array<std::string_view, 5> known = {"base", "slice", "permute", "expand", "empty_shape"};
  if (auto keys = check_keys(value, known); !keys) return keys;
  if (value.contains("empty_shape")) {
    const auto shape = read_shape(value.at("empty_shape"));
    if (!shape) return refuse("empty_shape: " + shape.error());
    if (value.size() != 1 || element_count(*shape) != 0 || !operand.tensor.values.empty())
      return refuse("empty_shape: must stand alone, hold a size of 0, and the tensor be []");
    operand.tensor.shape = *shape;
    return {};
  }
  if (!value.contains("base")) return refuse("base: missing");
  auto base = read_tensor(value.at("base"));
  if (!base) return refuse("base: " + base.error());
  View view(base->shape);
  if (auto done = apply_steps(value, view); !done) return done;
  operand.view = CaseView{std::move(base->values), view.strides(), view.offset()};
  if (view.shape() != operand.tensor.shape || !shows(*operand.view, operand.tensor))
    return refuse("the view does not show the values given for the tensor");
  return {};
}

class CaseReader {
 public:
  CaseReader(std::string_view path, const Json& value) : path_(path), value_(value) {}

  Result<Case> read() {
    constexpr std::array<std::string_view, 12> known = {
        "id", "why", "op", "dtypes", "x", "weight", "bias", "view", "params", "expect", "expect_shape", "expect_error"};
    // Before anything is judged, so that every complaint can say whose it is.
    if (const auto id = value_.find("id"); id != value_.end() && id->is_string()) case_.id = id->get<std::string>();
    if (auto keys = check_keys(value_, known); !keys) return complaint("case", keys.error());
    read_key("id", true, [this](const Json& v) { return store(case_.id, read_text(v)); });
    read_key("why", false, [this](const Json& v) { return store(case_.why, read_text(v)); });
    read_key("op", true, [this](const Json& v) { return read_op(v); });
    read_key("dtypes", true, [this](const Json& v) { return read_dtypes(v); });
    read_key("x", true, [this](const Json& v) { return store(case_.x.tensor, read_tensor(v)); });
    read_key("weight", true, [this](const Json& v) { return store(case_.weight.tensor, read_tensor(v)); });
    read_key("bias", false, [this](const Json& v) { return store(case_.bias.emplace().tensor, read_tensor(v)); });
    read_key("params", false, [this](const Json& v) { return read_params(v); });
    read_key("view", false, [this](const Json& v) { return read_views(v); });
    read_key("expect", false, [this](const Json& v) { return store(case_.expect.emplace(), read_tensor(v)); });
    read_key("expect_shape", false,
             [this](const Json& v) { return store(case_.expect_shape.emplace(), read_shape(v)); });
    read_key("expect_error", false,
             [this](const Json& v) { return store(case_.expect_error.emplace(), read_text(v)); });
    check_expectation();
    check_exact("x", case_.x);
    check_exact("weight", case_.weight);
    if (case_.bias) check_exact("bias", *case_.bias);
    if (error_) return tl::unexpected(*std::move(error_));
    return std::move(case_);
  }

 private:
  tl::unexpected<Error> complaint(std::string_view key, std::string_view text) const {
    const std::string id = case_.id.empty() ? "without an id" : clipped(case_.id);
    return fail(ErrorCode::invalid_file, std::string(key), {named("case", id)}, "{}: case {}: {}: {}", path_, id, key,
                text);
  }

  // The first error stays; what follows it is not looked at.
  template <class ReadValue>
  void read_key(std::string_view key, bool required, const ReadValue& read_value_of) {
    if (error_) return;
    const auto found = value_.find(key);
    if (found == value_.end()) {
      if (required) error_ = complaint(key, "missing").value();
      return;
    }
    if (const Read<void> done = read_value_of(*found); !done) error_ = complaint(key, done.error()).value();
  }

  template <class T>
  static Read<void> store(T& place, Read<T> value) {
    if (!value) return refuse(value.error());
    place = *std::move(value);
    return {};
  }

  Read<void> read_op(const Json& value) {
    for (const Op op : {Op::conv2d, Op::conv_transpose2d})
      if (value == name_of(op)) {
        case_.op = op;
        return {};
      }
    return refuse(shown(value) + " is neither conv2d nor conv_transpose2d");
  }

  Read<void> read_dtypes(const Json& value) {
    const auto texts = read_texts(value);
    if (!texts || texts->empty()) return refuse("not a list of dtypes such as [\"F32\"]");
    for (const std::string& text : *texts) {
      const auto dtype = parse_dtype(text);
      if (!dtype) return refuse(ticked(text) + " is not one of F32, F64, BF16, F16");
      if (std::ranges::find(case_.dtypes, *dtype) != case_.dtypes.end()) return refuse(text + " is there twice");
      case_.dtypes.push_back(*dtype);
    }
    return {};
  }

  Read<void> read_params(const Json& value) {
    constexpr std::array<std::string_view, 5> known = {"stride", "padding", "dilation", "groups", "output_padding"};
    if (auto keys = check_keys(value, known); !keys) return keys;
    ConvParams& p = case_.params;
    for (const auto& [key, item] : value.items()) {
      Read<void> done;
      if (key == "padding") {
        done = store(p.padding, read_padding(item));
      } else if (key == "groups") {
        const auto number = read_integers(Json::array({item}));
        done = number ? Read<void>{} : refuse(number.error());
        if (number) p.groups = number->front();
      } else {
        done = store(key == "stride" ? p.stride : key == "dilation" ? p.dilation : p.output_padding, read_extent(item));
      }
      if (!done) return refuse(key + ": " + done.error());
    }
    return {};
  }

  Read<void> read_views(const Json& value) {
    constexpr std::array<std::string_view, 3> known = {"x", "weight", "bias"};
    if (auto keys = check_keys(value, known); !keys) return keys;
    for (const auto& [key, item] : value.items()) {
      if (key == "bias" && !case_.bias) return refuse("bias: the case has none");
      CaseOperand& operand = key == "x" ? case_.x : key == "weight" ? case_.weight : *case_.bias;
      if (auto done = apply_view(item, operand); !done) return refuse(key + ": " + done.error());
    }
    return {};
  }

  void check_expectation() {
    if (error_) return;
    const int given =
        int{case_.expect.has_value()} + int{case_.expect_shape.has_value()} + int{case_.expect_error.has_value()};
    if (given != 1)
      error_ = complaint("expect", "exactly one of expect, expect_shape and expect_error must be there").value();
  }

  // A value that a dtype would round makes the exact result a matter of opinion.
  void check_exact(std::string_view key, const CaseOperand& operand) {
    if (error_) return;
    for (const DType dtype : case_.dtypes)
      for (const auto* values : {&operand.tensor.values, operand.view ? &operand.view->base : nullptr}) {
        if (values == nullptr) continue;
        for (const double value : *values)
          if (!same_value(value_of_bits(dtype, bits_of_value(dtype, value)), value)) {
            error_ = complaint(key, fmt::format("{} is not a value of {}", value, name_of(dtype))).value();
            return;
          }
      }
  }

  std::string_view path_;
  const Json& value_;
  Case case_;
  std::optional<Error> error_;
};

// The parser repeats the token it stumbled over, however long that is.
Error shortened(Error error, std::string_view path) {
  constexpr std::size_t longest = 200;
  std::string& message = error.message;
  if (message.size() > path.size() + longest) message.replace(path.size() + longest, std::string::npos, "...");
  return error;
}

}  // namespace

Result<CaseFile> parse_case_file(std::string_view text, std::string_view path) {
  auto json = parse_json(text, path);
  if (!json) return tl::unexpected(shortened(json.error(), path));
  constexpr std::array<std::string_view, 2> known = {"about", "cases"};
  const auto complaint = [path](std::string_view key, std::string_view what) {
    return fail(ErrorCode::invalid_file, std::string(key), {}, "{}: {}: {}", path, key, what);
  };
  if (const auto keys = check_keys(*json, known); !keys) return complaint("file", keys.error());
  CaseFile file;
  if (json->contains("about")) {
    auto about = read_text(json->at("about"));
    if (!about) return complaint("about", about.error());
    file.about = *std::move(about);
  }
  if (!json->contains("cases") || !json->at("cases").is_array()) return complaint("cases", "not a list of cases");
  std::set<std::string> ids;
  for (const Json& value : json->at("cases")) {
    auto read = CaseReader(path, value).read();
    if (!read) return tl::unexpected(read.error());
    if (!ids.insert(read->id).second) return complaint("id", fmt::format("case {} is there twice", clipped(read->id)));
    file.cases.push_back(*std::move(read));
  }
  return file;
}

Result<CaseFile> read_case_file(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_case_file(*text, path);
}

}  // namespace convoke::problem

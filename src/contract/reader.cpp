// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/reader.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "contract/text.hpp"

namespace convoke::contract {
namespace {

const YamlNode& empty_map() {
  static const YamlNode node = [] {
    YamlNode map;
    map.kind = YamlNode::Kind::map;
    return map;
  }();
  return node;
}

std::string_view kind_name(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "nothing";
    case YamlNode::Kind::scalar:
      return "a word";
    case YamlNode::Kind::sequence:
      return "a list";
    case YamlNode::Kind::map:
      return "a mapping";
  }
  return "";
}

/// What a required key takes, for the note where it is missing.
std::string_view wanted_at(std::string_view key) noexcept {
  struct Row {
    std::string_view key, wanted;
  };
  constexpr Row rows[] = {
      {"kernel", "the name of a kernel"},
      {"entry_point", "the name of a symbol"},
      {"accept", "a mapping with `inputs`"},
      {"inputs", "at least one input"},
      {"dtypes", "a list such as [F32], or a `dtype_class`"},
      {"dtype_rule", "passthrough(role), fixed(dtype), cast(param), dequant(role) or bundle"},
      {"cost", "a mapping with `provenance`"},
      {"precision", "a mapping, such as { bit_stable_on_same_hardware: true }"},
      {"determinism", "bitwise, same_hardware_bitwise or nondeterministic"},
      {"scale", "output or plane"},
      {"unit", "a dtype, such as F32"},
      {"operand", "the name of an input"},
      {"terms", "a cost expression"},
      {"bytes", "a cost expression"},
  };
  for (const Row& row : rows)
    if (row.key == key) return row.wanted;
  return "a value that is not empty";
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Reader::Reader(const YamlNode* node, std::string_view path, Report& report)
    : node_(&empty_map()), path_(path), report_(&report), at_(node != nullptr ? node->at : Position{}) {
  if (node == nullptr || node->is_null()) return;
  if (node->kind == YamlNode::Kind::map)
    node_ = node;
  else
    bad_type(*node, {}, "a mapping");
  used_.assign(node_->items.size(), false);
}

std::string Reader::name(std::string_view key) const {
  if (path_.empty() || key.empty()) return path_.empty() ? std::string(key) : path_;
  return fmt::format("{}.{}", path_, key);
}

Position Reader::place(std::string_view key) const {
  const YamlNode* value = node_->find(key);
  return value != nullptr ? value->at : at_;
}

const YamlNode* Reader::get(std::string_view key) {
  if (std::ranges::find(asked_, key) == asked_.end()) asked_.push_back(key);
  const YamlNode* value = node_->find(key);
  if (value == nullptr) return nullptr;
  used_[static_cast<std::size_t>(value - node_->items.data())] = true;
  return value->is_null() ? nullptr : value;
}

void Reader::bad_type(const YamlNode& node, std::string_view key, std::string_view wanted) {
  const std::string found = node.kind == YamlNode::Kind::scalar
                                ? fmt::format("`{}`{}", node.value, node.plain ? "" : " in quotes")
                                : std::string(kind_name(node));
  report_->error(node.at, {"3", "BadScalarType", fmt::format("`{}` is {}", name(key), found), std::string(wanted)});
}

const YamlNode* Reader::scalar(std::string_view key, std::string_view wanted) {
  const YamlNode* node = get(key);
  if (node == nullptr || node->kind == YamlNode::Kind::scalar) return node;
  bad_type(*node, key, wanted);
  return nullptr;
}

std::optional<std::string> Reader::text(std::string_view key) {
  const YamlNode* node = scalar(key, "one word or a text in quotes");
  if (node == nullptr) return std::nullopt;
  return std::string(trim(node->value));
}

std::optional<std::string> Reader::required(std::string_view key) {
  const std::size_t before = report_->errors();
  std::optional<std::string> value = text(key);
  if (value && !value->empty()) return value;
  if (report_->errors() == before) missing(key);
  return std::nullopt;
}

void Reader::missing(std::string_view key) {
  report_->error(place(key),
                 {"2", "MissingField", fmt::format("`{}` is required", name(key)), std::string(wanted_at(key))});
}

std::optional<bool> Reader::flag(std::string_view key) {
  const YamlNode* node = scalar(key, "true or false");
  if (node == nullptr) return std::nullopt;
  if (node->plain && node->value == "true") return true;
  if (node->plain && node->value == "false") return false;
  bad_type(*node, key, "true or false");
  return std::nullopt;
}

std::optional<std::uint64_t> Reader::natural(std::string_view key) {
  constexpr std::string_view wanted = "a whole number from 0, without quotes";
  const YamlNode* node = scalar(key, wanted);
  if (node == nullptr) return std::nullopt;
  const auto value = parse_number<std::uint64_t>(node->value);
  if (value && node->plain) return value;
  bad_type(*node, key, wanted);
  return std::nullopt;
}

std::optional<double> Reader::real(std::string_view key) {
  constexpr std::string_view wanted = "a finite number from 0, without quotes";
  const YamlNode* node = scalar(key, wanted);
  if (node == nullptr) return std::nullopt;
  const auto value = parse_number<double>(node->value);
  if (value && node->plain && *value >= 0 && *value <= 1e308) return value;
  bad_type(*node, key, wanted);
  return std::nullopt;
}

const YamlNode* Reader::map(std::string_view key) {
  const YamlNode* node = get(key);
  if (node == nullptr || node->kind == YamlNode::Kind::map) return node;
  bad_type(*node, key, "a mapping");
  return nullptr;
}

const std::vector<YamlNode>* Reader::list(std::string_view key) {
  const YamlNode* node = get(key);
  if (node == nullptr) return nullptr;
  if (node->kind == YamlNode::Kind::sequence) return &node->items;
  bad_type(*node, key, "a list");
  return nullptr;
}

std::vector<Word> Reader::words(std::string_view key) {
  std::vector<Word> out;
  const std::vector<YamlNode>* items = list(key);
  if (items == nullptr) return out;
  for (const YamlNode& item : *items) {
    if (item.kind == YamlNode::Kind::scalar)
      out.push_back({std::string(trim(item.value)), item.at});
    else
      bad_type(item, key, "a list of words");
  }
  return out;
}

void Reader::finish() {
  for (std::size_t i = 0; i < used_.size(); ++i) {
    if (used_[i]) continue;
    const YamlNode& entry = node_->items[i];
    report_->warning(entry.key_at,
                     {"", "UnknownKey", fmt::format("the key `{}` is not known and is ignored", name(entry.key)),
                      nearest_or(entry.key, asked_, one_of(asked_))});
  }
}

Position inside(const YamlNode& scalar, std::size_t offset) {
  // Inside double quotes an escape would move what follows it; those values keep the place of their first byte.
  const bool verbatim = scalar.value.find_first_of("\n\"\\'") == std::string::npos;
  if (!verbatim || offset > scalar.value.size()) return scalar.at;
  return {scalar.at.line, scalar.at.column + static_cast<int>(offset) + (scalar.plain ? 0 : 1)};
}

}  // namespace convoke::contract

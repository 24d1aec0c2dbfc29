// SPDX-License-Identifier: Apache-2.0 OR MIT
// A Scope out of maps, for tests; by default that of one convolution: x 2x64x56x56, weight 32x16x3x3, bias 32,
// groups 4.
#pragma once

#include <fmt/core.h>

#include <map>
#include <string>
#include <vector>

#include "contract/expression.hpp"

namespace convoke::contract {

class MapScope : public Scope {
 public:
  std::map<std::string, std::vector<std::int64_t>, std::less<>> shapes, tuples;
  std::map<std::string, std::int64_t, std::less<>> scalars, facts;  // facts: `x stride 0`, `x offset 0`
  std::map<std::string, bool, std::less<>> words;

  std::optional<std::int64_t> dim(std::string_view role, std::int64_t axis) const override {
    const auto found = shapes.find(role);
    if (found == shapes.end()) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(found->second.size());
    const std::int64_t position = axis < 0 ? axis + rank : axis;
    if (position < 0 || position >= rank) return std::nullopt;
    return found->second[static_cast<std::size_t>(position)];
  }
  std::optional<std::int64_t> rank(std::string_view role) const override {
    const auto found = shapes.find(role);
    if (found == shapes.end()) return std::nullopt;
    return static_cast<std::int64_t>(found->second.size());
  }
  std::optional<std::int64_t> scalar(std::string_view name) const override { return value(scalars, name); }
  std::optional<std::vector<std::int64_t>> tuple(std::string_view name) const override { return value(tuples, name); }
  std::optional<std::int64_t> layout(std::string_view role, std::string_view what, std::int64_t axis) const override {
    return value(facts, fmt::format("{} {} {}", role, what, axis));
  }
  std::optional<bool> word(std::string_view name) const override { return value(words, name); }

 private:
  template <class Map>
  static std::optional<typename Map::mapped_type> value(const Map& map, std::string_view name) {
    const auto found = map.find(name);
    return found == map.end() ? std::nullopt : std::optional(found->second);
  }
};

inline MapScope convolution_scope() {
  MapScope scope;
  scope.shapes = {{"x", {2, 64, 56, 56}}, {"weight", {32, 16, 3, 3}}, {"bias", {32}}, {"out", {2, 32, 54, 54}}};
  scope.scalars = {{"groups", 4}, {"Cin", 64}, {"Cout", 32}, {"n", 2 * 32 * 54 * 54}, {"dtype_bytes", 4}};
  scope.tuples = {{"x_shape", {2, 64, 56, 56}}, {"w_shape", {32, 16, 3, 3}}, {"out_shape", {2, 32, 54, 54}},
                  {"stride", {1, 1}},           {"padding", {0, 0}},         {"dilation", {1, 1}}};
  return scope;
}

}  // namespace convoke::contract

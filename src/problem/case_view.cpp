// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/case_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include "problem/text.hpp"

namespace convoke::problem {
namespace {

// More than any base written out in a file; keeps the sums below from overflowing.
constexpr std::int64_t largest = std::int64_t{1} << 31;

struct Slice {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};

std::optional<Slice> parse_slice(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
  std::array<std::optional<std::int64_t>, 3> numbers;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (trimmed(parts[i]).empty()) continue;
    numbers[i] = parse_integer(trimmed(parts[i]));
    if (!numbers[i] || *numbers[i] < -largest || *numbers[i] > largest) return std::nullopt;
  }
  if (numbers[2] == 0) return std::nullopt;
  return Slice{numbers[0], numbers[1], numbers[2].value_or(1)};
}

// A bound counted from the end where it is negative, cut to what the direction can reach.
std::int64_t bound(std::optional<std::int64_t> given, std::int64_t otherwise, std::int64_t size, bool forward) {
  if (!given) return otherwise;
  const std::int64_t value = *given < 0 ? *given + size : *given;
  return forward ? std::clamp<std::int64_t>(value, 0, size) : std::clamp<std::int64_t>(value, -1, size - 1);
}

}  // namespace

tl::expected<void, std::string> View::slice(const std::vector<std::string>& axes) {
  if (axes.size() != static_cast<std::size_t>(shape_.rank()))
    return refuse(fmt::format("{} slices for {} axes", axes.size(), shape_.rank()));
  for (int axis = 0; axis < shape_.rank(); ++axis)
    if (auto done = slice_axis(axis, axes[static_cast<std::size_t>(axis)]); !done) return done;
  return {};
}

tl::expected<void, std::string> View::slice_axis(int axis, std::string_view text) {
  const auto slice = parse_slice(text);
  if (!slice) return refuse(fmt::format("{} is not start:stop:step with a step other than 0", ticked(text)));
  const std::int64_t size = shape_[axis];
  const bool forward = slice->step > 0;
  const std::int64_t start = bound(slice->start, forward ? 0 : size - 1, size, forward);
  const std::int64_t stop = bound(slice->stop, forward ? size : -1, size, forward);
  const std::int64_t distance = std::max<std::int64_t>(forward ? stop - start : start - stop, 0);
  const std::int64_t stride = std::abs(slice->step);
  shape_[axis] = (distance + stride - 1) / stride;
  if (shape_[axis] > 0) offset_ += start * strides_[axis];
  strides_[axis] *= slice->step;
  return {};
}

tl::expected<void, std::string> View::permute(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> sorted = order;
  std::ranges::sort(sorted);
  bool permutation = order.size() == static_cast<std::size_t>(shape_.rank());
  for (std::size_t i = 0; permutation && i < sorted.size(); ++i)
    permutation = sorted[i] == static_cast<std::int64_t>(i);
  if (!permutation) return refuse(fmt::format("not an order of {} axes", shape_.rank()));
  Dims shape, strides;
  for (const std::int64_t axis : order) {
    shape.push_back(shape_[static_cast<int>(axis)]);
    strides.push_back(strides_[static_cast<int>(axis)]);
  }
  shape_ = shape;
  strides_ = strides;
  return {};
}

tl::expected<void, std::string> View::expand(const std::vector<std::int64_t>& shape) {
  if (shape.size() != static_cast<std::size_t>(shape_.rank()))
    return refuse(fmt::format("{} sizes for {} axes", shape.size(), shape_.rank()));
  for (int axis = 0; axis < shape_.rank(); ++axis) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    if (size == shape_[axis]) continue;
    if (shape_[axis] != 1 || size < 1 || size > largest)
      return refuse(fmt::format("axis {} of size {} cannot become {}", axis, shape_[axis], size));
    shape_[axis] = size;
    strides_[axis] = 0;
  }
  return {};
}

}  // namespace convoke::problem

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The views of case files: a base tensor, sliced, permuted and expanded as NumPy would, none of it copied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "convoke/tensor.hpp"

namespace convoke::problem {

/// A layout over a base tensor; starts as the whole of it, dense. Every step keeps all elements inside the base. The
/// errors are texts.
class View {
 public:
  explicit View(const Dims& base) : shape_(base), strides_(dense_strides(base)) {}

  /// One `start:stop:step` for each axis, any part left out, negative numbers as in Python.
  tl::expected<void, std::string> slice(const std::vector<std::string>& axes);
  /// Axis i of the result is axis order[i] of what was.
  tl::expected<void, std::string> permute(const std::vector<std::int64_t>& order);
  /// Repeats axes of size 1 up to these sizes; the others must stay.
  tl::expected<void, std::string> expand(const std::vector<std::int64_t>& shape);

  const Dims& shape() const noexcept { return shape_; }
  const Dims& strides() const noexcept { return strides_; }
  std::int64_t offset() const noexcept { return offset_; }

 private:
  tl::expected<void, std::string> slice_axis(int axis, std::string_view text);

  Dims shape_, strides_;
  std::int64_t offset_ = 0;
};

}  // namespace convoke::problem

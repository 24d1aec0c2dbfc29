// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/scope.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/layout.hpp"

namespace convoke::planner {
namespace {

std::optional<int> axis_of(std::int64_t axis, int rank) noexcept {
  const std::int64_t index = axis < 0 ? axis + rank : axis;
  if (index < 0 || index >= rank) return std::nullopt;
  return static_cast<int>(index);
}

// The tuples and arrays of op_params; absent for other names.
std::optional<Dims> dims_of(const Geometry& g, std::string_view name) noexcept {
  if (name == "x_shape") return g.x_shape();
  if (name == "w_shape") return g.weight_shape();
  if (name == "out_shape") return g.out_shape();
  if (name == "stride") return Dims{g.params.stride.h, g.params.stride.w};
  if (name == "padding") return Dims{g.params.padding.top, g.params.padding.left};
  if (name == "dilation") return Dims{g.params.dilation.h, g.params.dilation.w};
  if (name == "output_padding" && g.op == Op::conv_transpose2d)
    return Dims{g.params.output_padding.h, g.params.output_padding.w};
  return std::nullopt;
}

}  // namespace

const TensorSpec* RequestScope::operand(std::string_view role) const noexcept {
  for (std::size_t i = 0; i < inputs_; ++i)
    if (contract_.inputs[i].name == role) return &operands_[i];
  for (std::size_t i = 0; i < contract_.outputs.size(); ++i)
    if (contract_.outputs[i].name == role) return &operands_[inputs_ + i];
  return nullptr;
}

std::optional<std::int64_t> RequestScope::dim(std::string_view role, std::int64_t axis) const {
  const TensorSpec* spec = operand(role);
  if (spec == nullptr) return std::nullopt;
  const std::optional<int> index = axis_of(axis, spec->shape.rank());
  return index ? std::optional(spec->shape[*index]) : std::nullopt;
}

std::optional<std::int64_t> RequestScope::rank(std::string_view role) const {
  const TensorSpec* spec = operand(role);
  return spec == nullptr ? std::nullopt : std::optional<std::int64_t>(spec->shape.rank());
}

std::optional<std::int64_t> RequestScope::scalar(std::string_view name) const {
  const Geometry& g = request_.geometry;
  if (name == "n") return use_ == Use::cost ? element_count(operands_.back().shape) : std::nullopt;
  if (name == "threads") return threads_;
  const std::array<std::pair<std::string_view, std::int64_t>, 11> values = {{
      {"groups", g.params.groups},
      {"N", g.N},
      {"Cin", g.Cin},
      {"H_in", g.H},
      {"W_in", g.W},
      {"Cout", g.Cout},
      {"H_out", g.Ho},
      {"W_out", g.Wo},
      {"Kh", g.Kh},
      {"Kw", g.Kw},
      {"dtype_bytes", static_cast<std::int64_t>(size_of(operands_.back().dtype))},
  }};
  for (const auto& [key, value] : values)
    if (key == name) return value;
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> RequestScope::tuple(std::string_view name) const {
  const std::optional<Dims> dims = dims_of(request_.geometry, name);
  return dims ? std::optional(std::vector<std::int64_t>(dims->begin(), dims->end())) : std::nullopt;
}

std::optional<std::int64_t> RequestScope::element(std::string_view name, std::int64_t index) const {
  const std::optional<Dims> dims = dims_of(request_.geometry, name);
  if (!dims) return std::nullopt;
  const std::optional<int> axis = axis_of(index, dims->rank());
  return axis ? std::optional((*dims)[*axis]) : std::nullopt;
}

std::optional<std::int64_t> RequestScope::layout(std::string_view role, std::string_view what,
                                                 std::int64_t axis) const {
  const TensorSpec* spec = operand(role);
  if (spec == nullptr) return std::nullopt;
  if (what == "dtype") return static_cast<std::int64_t>(spec->dtype);
  if (what == "offset") return spec->offset;
  if (what == "align") return static_cast<std::int64_t>(spec->align);
  const std::optional<int> index = axis_of(axis, spec->shape.rank());
  if (!index) return std::nullopt;
  if (what == "stride") return spec->strides[*index];
  if (what == "shape") return spec->shape[*index];
  return std::nullopt;
}

std::optional<bool> RequestScope::word(std::string_view name) const {
  const Geometry& g = request_.geometry;
  const auto any_input = [this](auto test) {
    return std::any_of(operands_.begin(), operands_.begin() + static_cast<std::ptrdiff_t>(inputs_), test);
  };
  if (name == "always") return true;
  if (name == "depthwise") return g.params.groups == g.Cin && g.Cout == g.Cin;
  if (name == "all_inputs_contiguous") return !any_input([](const TensorSpec& spec) { return !is_contiguous(spec); });
  if (name == "any_input_strided") return any_input([](const TensorSpec& spec) { return !is_contiguous(spec); });
  if (name == "any_input_broadcast")
    return any_input([](const TensorSpec& spec) { return any_stride(spec, [](std::int64_t s) { return s == 0; }); });
  if (name == "any_input_reversed")
    return any_input([](const TensorSpec& spec) { return any_stride(spec, [](std::int64_t s) { return s < 0; }); });
  return std::nullopt;
}

}  // namespace convoke::planner

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/request.hpp"

#include "base/fail.hpp"
#include "base/layout.hpp"

namespace convoke::planner {
namespace {

constexpr std::size_t max_align = 4096;

Result<void> check_operand(const TensorSpec& spec, DType dtype, const char* role) {
  if (spec.dtype != dtype)
    return fail(ErrorCode::unsupported, "dtype", {named(role, name_of(spec.dtype))},
                "{} is {} but x is {}: all operands must have one dtype", role, name_of(spec.dtype), name_of(dtype));
  if ((spec.align & (spec.align - 1)) != 0 || spec.align > max_align)
    return fail(ErrorCode::invalid_argument, "align", {named("align", spec.align)},
                "{}: align = {} must be 0 or a power of two up to {}", role, spec.align, max_align);
  return check_layout(spec, std::nullopt, role);
}

// Zero promises what C++ promises of a typed pointer: the size of an element.
TensorSpec with_alignment(TensorSpec spec) {
  if (spec.align == 0) spec.align = size_of(spec.dtype);
  return spec;
}

}  // namespace

Result<Request> make_request(Op op, const TensorSpec& x, const TensorSpec& weight,
                             const std::optional<TensorSpec>& bias, const TensorSpec& out, const ConvParams& params) {
  const std::optional<Dims> bias_shape = bias ? std::optional(bias->shape) : std::nullopt;
  auto geometry = make_geometry(op, x.shape, weight.shape, bias_shape, params);
  if (!geometry) return tl::unexpected(geometry.error());
  if (static_cast<int>(x.dtype) < 0 || static_cast<int>(x.dtype) > static_cast<int>(DType::f16))
    return fail(ErrorCode::unsupported, "dtype", {named("x", static_cast<int>(x.dtype))},
                "dtype {} is not one of f32, f64, bf16, f16", static_cast<int>(x.dtype));
  if (auto ok = check_operand(x, x.dtype, "x"); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_operand(weight, x.dtype, "weight"); !ok) return tl::unexpected(ok.error());
  if (bias)
    if (auto ok = check_operand(*bias, x.dtype, "bias"); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_operand(out, x.dtype, "out"); !ok) return tl::unexpected(ok.error());
  if (!(out.shape == geometry->out_shape()))
    return fail(ErrorCode::invalid_shape, "out", {named("out", out.shape), named("wanted", geometry->out_shape())},
                "out is {} but {} of these operands is {}", text_of(out.shape), name_of(op),
                text_of(geometry->out_shape()));
  if (overlaps_itself(out))
    return fail(ErrorCode::overlap, "out", {named("out", out.shape), named("strides", out.strides)},
                "out overlaps itself: two elements of shape {} with strides {} share memory", text_of(out.shape),
                text_of(out.strides));
  Request request{*geometry, with_alignment(x), with_alignment(weight), with_alignment(out), std::nullopt};
  if (bias) request.bias = with_alignment(*bias);
  return request;
}

}  // namespace convoke::planner

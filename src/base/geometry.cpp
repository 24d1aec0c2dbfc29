// SPDX-License-Identifier: Apache-2.0 OR MIT
// The rules in the order in which they are judged: ranks and signs of the sizes, the parameters, channels and groups,
// the bias, then each axis, then that all counts fit. The first broken rule is the error.
#include "base/geometry.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/fail.hpp"

namespace convoke {
namespace {

using Status = Result<void>;

constexpr std::int64_t bytes_at_most = 8;  // of an element

// Two numbers in the problem line's manner: 2x1 is height 2, width 1.
std::string both(const Extent2& e) { return fmt::format("{}x{}", e.h, e.w); }

// And its padding=t,b,l,r.
std::string all_four(const Padding& p) { return fmt::format("{},{},{},{}", p.top, p.bottom, p.left, p.right); }

Status judge_shape(const char* role, const char* axes, int rank, const Dims& shape) {
  if (shape.rank() != rank)
    return fail(ErrorCode::invalid_shape, role, {named(role, shape)}, "{} must have {} {} {}, its shape is {}", role,
                rank, rank == 1 ? "axis" : "axes", axes, text_of(shape));
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; }))
    return fail(ErrorCode::invalid_shape, role, {named(role, shape)}, "{} has a negative size, its shape is {}", role,
                text_of(shape));
  return {};
}

Status judge_shapes(Op op, const Dims& x, const Dims& weight, const std::optional<Dims>& bias) {
  const char* weight_axes = op == Op::conv2d ? "[Cout, Cin/groups, Kh, Kw]" : "[Cin, Cout/groups, Kh, Kw]";
  if (Status status = judge_shape("x", "[N, Cin, H, W]", 4, x); !status) return status;
  if (Status status = judge_shape("weight", weight_axes, 4, weight); !status) return status;
  if (bias) return judge_shape("bias", "[Cout]", 1, *bias);
  return {};
}

Status judge_at_least(const char* name, const Extent2& found, std::int64_t least) {
  if (found.h >= least && found.w >= least) return {};
  return fail(ErrorCode::invalid_argument, name, {named(name, both(found))}, "{} must be at least {}, it is {}", name,
              least, both(found));
}

Status judge_padding(Op op, const Padding& padding) {
  if (padding.same && op == Op::conv_transpose2d)
    return fail(ErrorCode::unsupported, "padding", {named("padding", "same")},
                "padding=same is defined for conv2d only; give conv_transpose2d its padding in numbers");
  if (padding.same || std::min({padding.top, padding.left, padding.bottom, padding.right}) >= 0) return {};
  return fail(ErrorCode::invalid_argument, "padding", {named("padding", all_four(padding))},
              "padding must be at least 0 at every edge, it is {} (top, bottom, left, right)", all_four(padding));
}

Status judge_params(Op op, const ConvParams& p) {
  if (Status status = judge_at_least("stride", p.stride, 1); !status) return status;
  if (Status status = judge_padding(op, p.padding); !status) return status;
  if (Status status = judge_at_least("dilation", p.dilation, 1); !status) return status;
  if (op == Op::conv2d && p.output_padding != Extent2{0})
    return fail(ErrorCode::invalid_argument, "output_padding", {named("output_padding", both(p.output_padding))},
                "output_padding belongs to conv_transpose2d, conv2d has none; it is {}", both(p.output_padding));
  if (Status status = judge_at_least("output_padding", p.output_padding, 0); !status) return status;
  const bool fits = p.output_padding.h < std::max(p.stride.h, p.dilation.h) &&
                    p.output_padding.w < std::max(p.stride.w, p.dilation.w);
  if (!fits)
    return fail(ErrorCode::invalid_argument, "output_padding",
                {named("output_padding", both(p.output_padding)), named("stride", both(p.stride)),
                 named("dilation", both(p.dilation))},
                "output_padding must be less than the larger of stride and dilation on each axis, it is {} with stride "
                "{} and dilation {}",
                both(p.output_padding), both(p.stride), both(p.dilation));
  if (p.groups < 1)
    return fail(ErrorCode::invalid_argument, "groups", {named("groups", p.groups)},
                "groups must be at least 1, it is {}", p.groups);
  return {};
}

Status judge_groups(const char* role, std::int64_t channels, std::int64_t groups) {
  if (channels % groups == 0) return {};
  return fail(ErrorCode::invalid_shape, "groups", {named("groups", groups), named(role, channels)},
              "groups must divide {}: groups is {}, {} is {}", role, groups, role, channels);
}

/// Kernel and channels; gives Cout.
Result<std::int64_t> judge_weight(Op op, const Dims& x, const Dims& weight, std::int64_t groups) {
  if (weight[2] < 1 || weight[3] < 1)
    return fail(ErrorCode::invalid_shape, "kernel", {named("weight", weight)},
                "the kernel must be at least 1x1, it is {}x{}", weight[2], weight[3]);
  if (Status status = judge_groups("Cin", x[1], groups); !status) return tl::unexpected(status.error());
  const Values values = {named("x", x), named("weight", weight), named("groups", groups)};
  if (op == Op::conv2d) {
    if (Status status = judge_groups("Cout", weight[0], groups); !status) return tl::unexpected(status.error());
    if (weight[1] != x[1] / groups)
      return fail(ErrorCode::invalid_shape, "channel", values,
                  "weight takes {} input channels a group, x has {} channels in {} group(s), {} each", weight[1], x[1],
                  groups, x[1] / groups);
    return weight[0];
  }
  if (weight[0] != x[1])
    return fail(ErrorCode::invalid_shape, "channel", values, "weight takes {} input channels, x has {} channels",
                weight[0], x[1]);
  const Checked Cout = checked_mul(weight[1], groups);
  if (!Cout)
    return fail(ErrorCode::invalid_shape, "overflow", values,
                "Cout overflows 64 bits: weight has {} output channels a group, groups is {}", weight[1], groups);
  return *Cout;
}

Status judge_bias(const std::optional<Dims>& bias, std::int64_t Cout) {
  if (!bias || (*bias)[0] == Cout) return {};
  return fail(ErrorCode::invalid_shape, "bias", {named("bias", *bias), named("Cout", Cout)},
              "bias must have one element for each of the {} output channels, it has {}", Cout, (*bias)[0]);
}

/// One spatial axis of the request.
struct Axis {
  const char* name;  // `height` or `width`
  std::int64_t size, kernel, stride, dilation, begin, end, output_padding;

  Values values() const {
    return {named("axis", name),
            named("size", size),
            named("kernel", kernel),
            named("stride", stride),
            named("dilation", dilation),
            named("padding", fmt::format("{},{}", begin, end)),
            named("output_padding", output_padding)};
  }
  tl::unexpected<Error> overflow() const {
    return fail(
        ErrorCode::invalid_shape, "overflow", values(),
        "the {} of the output overflows 64 bits: input {}, kernel {}, stride {}, dilation {}, padding {} and {}", name,
        size, kernel, stride, dilation, begin, end);
  }
  /// Pixels that one window spans.
  Checked window() const { return checked_add(checked_mul(dilation, kernel - 1), Checked(1)); }
};

/// Resolves padding=same: the windows of ceil(size / stride) outputs, the odd pixel at the end.
Result<std::int64_t> resolve_same(Axis& axis) {
  const std::int64_t out = axis.size / axis.stride + static_cast<std::int64_t>(axis.size % axis.stride != 0);
  const Checked spanned = checked_add(checked_mul(out - 1, axis.stride), axis.window());
  const Checked missing = checked_sub(spanned, Checked(axis.size));
  if (!missing) return axis.overflow();
  const std::int64_t total = std::max<std::int64_t>(*missing, 0);
  axis.begin = total / 2;
  axis.end = total - axis.begin;
  if (!checked_add(axis.size, total)) return axis.overflow();
  return out;
}

Result<std::int64_t> conv_output(const Axis& axis) {
  const Checked padded = checked_add(checked_add(axis.size, axis.begin), Checked(axis.end));
  const Checked window = axis.window();
  if (!padded || !window) return axis.overflow();
  if (*window > *padded)
    return fail(ErrorCode::invalid_shape, "kernel", axis.values(),
                "the kernel is larger than the padded input: its {} is {} (kernel {}, dilation {}), the input's {} "
                "(input {}, padding {} and {})",
                axis.name, *window, axis.kernel, axis.dilation, *padded, axis.size, axis.begin, axis.end);
  return (*padded - *window) / axis.stride + 1;
}

Result<std::int64_t> transposed_output(const Axis& axis) {
  const Checked spread = checked_mul(checked_sub(axis.size, std::int64_t{1}), Checked(axis.stride));
  const Checked full = checked_add(checked_add(spread, axis.window()), Checked(axis.output_padding));
  const Checked cropped = checked_add(axis.begin, axis.end);
  const Checked out = checked_sub(full, cropped);
  if (!out) return axis.overflow();
  if (*out < 0)
    return fail(ErrorCode::invalid_shape, "padding", axis.values(),
                "padding takes more than there is: the {} of the output would be {} (input {}, kernel {}, stride {}, "
                "dilation {}, padding {} and {}, output_padding {})",
                axis.name, *out, axis.size, axis.kernel, axis.stride, axis.dilation, axis.begin, axis.end,
                axis.output_padding);
  return *out;
}

Result<std::int64_t> judge_axis(Op op, bool same, Axis& axis) {
  if (op == Op::conv_transpose2d) return transposed_output(axis);
  return same ? resolve_same(axis) : conv_output(axis);
}

/// Sizes of 0 count as 1 here: then every product of some of the sizes fits too, and code that walks an empty tensor
/// may multiply them in any order.
Status judge_count(const char* role, const Dims& shape) {
  Checked bytes = bytes_at_most;
  for (const std::int64_t size : shape) bytes = checked_mul(bytes, Checked(std::max<std::int64_t>(size, 1)));
  if (bytes) return {};
  return fail(ErrorCode::invalid_shape, "overflow", {named(role, shape)},
              "{} is too large: 8 bytes for each element of shape {} overflow 64 bits", role, text_of(shape));
}

/// Pairs of an input and a kernel position that can meet at one output of a transposed axis, at most.
std::int64_t transposed_terms(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
  // Two neighbouring pairs lie dilation/gcd inputs and stride/gcd kernel positions apart.
  const std::int64_t common = std::gcd(stride, dilation);
  const auto steps = [](std::int64_t count, std::int64_t by) { return count / by + std::int64_t{count % by != 0}; };
  return std::min(steps(size, dilation / common), steps(kernel, stride / common));
}

}  // namespace

std::string_view name_of(Op op) noexcept { return op == Op::conv2d ? "conv2d" : "conv_transpose2d"; }

ConvParams to_conv_params(const Conv2dParams& p) noexcept {
  return {.stride = p.stride, .padding = p.padding, .dilation = p.dilation, .output_padding = 0, .groups = p.groups};
}

ConvParams to_conv_params(const ConvTranspose2dParams& p) noexcept {
  return {.stride = p.stride,
          .padding = p.padding,
          .dilation = p.dilation,
          .output_padding = p.output_padding,
          .groups = p.groups};
}

Conv2dParams to_conv2d_params(const ConvParams& p) noexcept {
  return {.stride = p.stride, .padding = p.padding, .dilation = p.dilation, .groups = p.groups};
}

ConvTranspose2dParams to_conv_transpose2d_params(const ConvParams& p) noexcept {
  return {.stride = p.stride,
          .padding = p.padding,
          .dilation = p.dilation,
          .output_padding = p.output_padding,
          .groups = p.groups};
}

double Geometry::flops() const noexcept {
  const auto pixels = op == Op::conv2d ? static_cast<double>(Ho) * static_cast<double>(Wo)
                                       : static_cast<double>(H) * static_cast<double>(W);
  return 2.0 * static_cast<double>(N) * static_cast<double>(Cin) * static_cast<double>(Cout / params.groups) * pixels *
         static_cast<double>(Kh) * static_cast<double>(Kw);
}

std::int64_t Geometry::terms() const noexcept {
  const std::int64_t channels = Cin / params.groups;
  if (op == Op::conv2d) return channels * Kh * Kw + 1;
  return channels * transposed_terms(H, Kh, params.stride.h, params.dilation.h) *
             transposed_terms(W, Kw, params.stride.w, params.dilation.w) +
         1;
}

Result<Geometry> make_geometry(Op op, const Dims& x, const Dims& weight, const std::optional<Dims>& bias,
                               const ConvParams& params) {
  if (Status status = judge_shapes(op, x, weight, bias); !status) return tl::unexpected(status.error());
  if (Status status = judge_params(op, params); !status) return tl::unexpected(status.error());
  const Result<std::int64_t> Cout = judge_weight(op, x, weight, params.groups);
  if (!Cout) return tl::unexpected(Cout.error());
  if (Status status = judge_bias(bias, *Cout); !status) return tl::unexpected(status.error());

  const auto& [stride, padding, dilation, output_padding, groups] = params;
  Axis height = {"height", x[2], weight[2], stride.h, dilation.h, padding.top, padding.bottom, output_padding.h};
  Axis width = {"width", x[3], weight[3], stride.w, dilation.w, padding.left, padding.right, output_padding.w};
  const Result<std::int64_t> Ho = judge_axis(op, padding.same, height);
  if (!Ho) return tl::unexpected(Ho.error());
  const Result<std::int64_t> Wo = judge_axis(op, padding.same, width);
  if (!Wo) return tl::unexpected(Wo.error());

  Geometry geometry = {op, x[0], x[1], x[2], x[3], *Cout, weight[2], weight[3], *Ho, *Wo, params};
  geometry.params.padding = Padding(height.begin, width.begin, height.end, width.end);
  for (const auto& [role, shape] : {std::pair{"x", geometry.x_shape()}, std::pair{"weight", geometry.weight_shape()},
                                    std::pair{"out", geometry.out_shape()}})
    if (Status status = judge_count(role, shape); !status) return tl::unexpected(status.error());
  return geometry;
}

}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The rules for sizes and parameters, their texts and codes: the one place where a request is judged.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "convoke/error.hpp"
#include "convoke/params.hpp"
#include "convoke/tensor.hpp"

namespace convoke {

enum class Op { conv2d, conv_transpose2d };

/// `conv2d` or `conv_transpose2d`.
std::string_view name_of(Op op) noexcept;

/// The parameters of either operation; output_padding is zero for conv2d.
struct ConvParams {
  Extent2 stride = 1;
  Padding padding = 0;
  Extent2 dilation = 1;
  Extent2 output_padding = 0;
  std::int64_t groups = 1;
};

ConvParams to_conv_params(const Conv2dParams& params) noexcept;
ConvParams to_conv_params(const ConvTranspose2dParams& params) noexcept;
/// The public parameters of one operation; those it does not have are left out.
Conv2dParams to_conv2d_params(const ConvParams& params) noexcept;
ConvTranspose2dParams to_conv_transpose2d_params(const ConvParams& params) noexcept;

/// A request whose sizes fit: only make_geometry makes one, so holding it is the proof. `params.padding.same` has been
/// resolved into numbers. Every element count and byte size (at 8 bytes an element) of x, weight and out fits int64,
/// and so does every product of some of their sizes, even where another size is 0.
struct Geometry {
  Op op = Op::conv2d;
  std::int64_t N = 0, Cin = 0, H = 0, W = 0;
  std::int64_t Cout = 0, Kh = 0, Kw = 0, Ho = 0, Wo = 0;
  ConvParams params;

  Dims x_shape() const noexcept { return {N, Cin, H, W}; }
  Dims weight_shape() const noexcept {
    return op == Op::conv2d ? Dims{Cout, Cin / params.groups, Kh, Kw} : Dims{Cin, Cout / params.groups, Kh, Kw};
  }
  Dims out_shape() const noexcept { return {N, Cout, Ho, Wo}; }
  /// Multiplications and additions of the dense formula.
  double flops() const noexcept;
  /// Terms of the longest sum of one output, the bias counted: conv2d (Cin/groups)*Kh*Kw + 1.
  std::int64_t terms() const noexcept;
};

/// Judges shapes and parameters in a fixed order and computes the output shape. `bias` is absent or its shape.
Result<Geometry> make_geometry(Op op, const Dims& x, const Dims& weight, const std::optional<Dims>& bias,
                               const ConvParams& params);

}  // namespace convoke

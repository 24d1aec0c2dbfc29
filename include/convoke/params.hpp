// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstdint>

namespace convoke {

/// A pair of sizes along height and width. One number means both.
struct Extent2 {
  std::int64_t h = 1, w = 1;

  constexpr Extent2() = default;
  constexpr Extent2(std::int64_t both) : h(both), w(both) {}
  constexpr Extent2(std::int64_t height, std::int64_t width) : h(height), w(width) {}
  friend constexpr bool operator==(const Extent2&, const Extent2&) = default;
};

/// Absent taps at the four edges, in pixels. The two ends of an axis may differ, as ONNX allows.
struct Padding {
  std::int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool same = false;  ///< ONNX SAME_UPPER: output size = ceil(input / stride), the odd pixel at the end

  constexpr Padding() = default;
  constexpr Padding(std::int64_t all) : top(all), left(all), bottom(all), right(all) {}
  constexpr Padding(std::int64_t height, std::int64_t width) : top(height), left(width), bottom(height), right(width) {}
  constexpr Padding(std::int64_t t, std::int64_t l, std::int64_t b, std::int64_t r)
      : top(t), left(l), bottom(b), right(r) {}
  static constexpr Padding same_upper() {
    Padding padding;
    padding.same = true;
    return padding;
  }
  friend constexpr bool operator==(const Padding&, const Padding&) = default;
};

/// Parameters of conv2d, named as in PyTorch and ONNX (Conv).
/// x [N, Cin, H, W], weight [Cout, Cin/groups, Kh, Kw], bias [Cout], out [N, Cout, Ho, Wo] with
/// Ho = floor((H + top + bottom - dilation.h * (Kh - 1) - 1) / stride.h) + 1, and Wo likewise.
struct Conv2dParams {
  Extent2 stride = 1;       ///< each >= 1
  Padding padding = 0;      ///< each >= 0
  Extent2 dilation = 1;     ///< each >= 1
  std::int64_t groups = 1;  ///< >= 1; divides Cin and Cout
};

/// Parameters of conv_transpose2d, named as in PyTorch and ONNX (ConvTranspose).
/// x [N, Cin, H, W], weight [Cin, Cout/groups, Kh, Kw], bias [Cout], out [N, Cout, Ho, Wo] with
/// Ho = (H - 1) * stride.h - top - bottom + dilation.h * (Kh - 1) + output_padding.h + 1, and Wo likewise.
struct ConvTranspose2dParams {
  Extent2 stride = 1;
  Padding padding = 0;  ///< `same` is refused: the formula above has no such solution in general
  Extent2 dilation = 1;
  Extent2 output_padding = 0;  ///< each >= 0 and < max(stride, dilation) of its axis
  std::int64_t groups = 1;
};

}  // namespace convoke

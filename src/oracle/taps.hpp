// SPDX-License-Identifier: Apache-2.0 OR MIT
// Which taps of one output are present, in the order of the law of the sum.
#pragma once

#include <cstddef>
#include <cstdint>

#include "oracle/request.hpp"

namespace convoke::oracle {

/// Along one axis the taps that meet one output are an arithmetic progression of pairs: input + i * input_step with
/// kernel + i * kernel_step, i of [0, count).
struct AxisTaps {
  std::int64_t count = 0;
  std::int64_t input = 0, input_step = 0;
  std::int64_t kernel = 0, kernel_step = 0;
};

/// Sizes and parameters of one axis.
struct AxisSizes {
  std::int64_t input, kernel, stride, dilation, padding;  // padding at the beginning
};

/// conv2d: rising kernel positions, input = out * stride + kernel * dilation - padding.
AxisTaps conv_taps(const AxisSizes& axis, std::int64_t out) noexcept;
/// conv_transpose2d: rising input positions, out = input * stride + kernel * dilation - padding.
AxisTaps transposed_taps(const AxisSizes& axis, std::int64_t out) noexcept;

/// The taps of one output: (ci, h, w) in that order, with element numbers of x and weight.
struct Taps {
  AxisTaps h, w;
  std::int64_t channels = 0;
  std::int64_t x = 0, weight = 0;                  // elements of channel 0 at row 0, column 0
  std::int64_t x_channel = 0, weight_channel = 0;  // from one channel to the next
  std::int64_t x_row = 0, weight_row = 0, x_column = 0, weight_column = 0;

  std::int64_t count() const noexcept { return channels * h.count * w.count; }
};
Taps taps_of(const Request& request, const At& at) noexcept;

/// Calls visit(x element, weight element) for each present tap in the order ci, kh, kw (conv2d) or ci, hi, wi
/// (conv_transpose2d).
template <class Visit>
void for_each_tap(const Taps& taps, Visit visit) {
  for (std::int64_t ci = 0; ci < taps.channels; ++ci)
    for (std::int64_t i = 0; i < taps.h.count; ++i) {
      const std::int64_t x = taps.x + ci * taps.x_channel + (taps.h.input + i * taps.h.input_step) * taps.x_row;
      const std::int64_t weight =
          taps.weight + ci * taps.weight_channel + (taps.h.kernel + i * taps.h.kernel_step) * taps.weight_row;
      for (std::int64_t j = 0; j < taps.w.count; ++j)
        visit(x + (taps.w.input + j * taps.w.input_step) * taps.x_column,
              weight + (taps.w.kernel + j * taps.w.kernel_step) * taps.weight_column);
    }
}

/// Address of an element, whatever its alignment.
inline const std::byte* address_of(const ConstTensor& tensor, std::int64_t element) noexcept {
  return static_cast<const std::byte*>(tensor.data) + element * static_cast<std::int64_t>(size_of(tensor.spec.dtype));
}

}  // namespace convoke::oracle

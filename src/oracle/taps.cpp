// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/taps.hpp"

#include <algorithm>
#include <numeric>

namespace convoke::oracle {
namespace {

// For b >= 1.
std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept { return a / b + std::int64_t{a % b > 0}; }
std::int64_t floor_div(std::int64_t a, std::int64_t b) noexcept { return a / b - std::int64_t{a % b < 0}; }

}  // namespace

AxisTaps conv_taps(const AxisSizes& axis, std::int64_t out) noexcept {
  const std::int64_t origin = out * axis.stride - axis.padding;  // input position of kernel position 0
  const std::int64_t first = std::max<std::int64_t>(ceil_div(-origin, axis.dilation), 0);
  const std::int64_t last = std::min(floor_div(axis.input - 1 - origin, axis.dilation), axis.kernel - 1);
  if (last < first) return {};
  return {last - first + 1, origin + first * axis.dilation, axis.dilation, first, 1};
}

AxisTaps transposed_taps(const AxisSizes& axis, std::int64_t out) noexcept {
  const std::int64_t padded = out + axis.padding;  // input * stride + kernel * dilation
  const std::int64_t lowest = padded - axis.dilation * (axis.kernel - 1);
  const std::int64_t first = std::max<std::int64_t>(ceil_div(lowest, axis.stride), 0);
  const std::int64_t last = std::min(floor_div(padded, axis.stride), axis.input - 1);
  const std::int64_t common = std::gcd(axis.stride, axis.dilation);
  const std::int64_t step = axis.dilation / common;
  // Every `step`-th input position meets a whole kernel position, or none does.
  for (std::int64_t input = first; input <= last && input - first < step; ++input) {
    const std::int64_t rest = padded - input * axis.stride;
    if (rest % axis.dilation == 0)
      return {(last - input) / step + 1, input, step, rest / axis.dilation, -(axis.stride / common)};
  }
  return {};
}

Taps taps_of(const Request& request, const At& at) noexcept {
  const Geometry& g = request.geometry;
  const ConvParams& p = g.params;
  const Dims& xs = request.x.spec.strides;
  const Dims& ws = request.weight.spec.strides;
  const AxisSizes height = {g.H, g.Kh, p.stride.h, p.dilation.h, p.padding.top};
  const AxisSizes width = {g.W, g.Kw, p.stride.w, p.dilation.w, p.padding.left};
  const std::int64_t channels = g.Cin / p.groups, group_size = g.Cout / p.groups;
  const std::int64_t group = at.co / group_size;

  const bool conv = g.op == Op::conv2d;
  Taps taps;
  taps.h = conv ? conv_taps(height, at.oh) : transposed_taps(height, at.oh);
  taps.w = conv ? conv_taps(width, at.ow) : transposed_taps(width, at.ow);
  taps.channels = channels;
  taps.x = request.x.spec.offset + at.n * xs[0] + group * channels * xs[1];
  // weight is [Cout, Cin/groups, ...] for conv2d and [Cin, Cout/groups, ...] transposed.
  taps.weight =
      request.weight.spec.offset + (conv ? at.co * ws[0] : group * channels * ws[0] + at.co % group_size * ws[1]);
  taps.x_channel = xs[1], taps.x_row = xs[2], taps.x_column = xs[3];
  taps.weight_channel = conv ? ws[1] : ws[0];
  taps.weight_row = ws[2], taps.weight_column = ws[3];
  return taps;
}

}  // namespace convoke::oracle

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Both convolutions as one: along each axis, output i of a phase and tap t read input in_first + i * out_to_in +
// t * tap_to_in, and the taps are counted in the order of the law, which is rising input. conv2d has one phase. The
// outputs of conv_transpose2d with equal remainder by the stride form a phase: they share their taps, and from one to
// the next the input moves by one (kernels/portable/conv_transpose2d.cpp says why).
#ifndef CONVOKE_KERNELS_SIMD_AXIS_H
#define CONVOKE_KERNELS_SIMD_AXIS_H

#include <stdint.h>

#include "kernels/simd/vector.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

struct Range {
  int64_t begin, end;
};

struct Axis {
  int64_t outputs, out_first, out_step;  // output i of the phase lies at out_first + i * out_step of `out`
  int64_t taps, k_first, k_step;         // tap t is kernel index k_first + t * k_step
  int64_t in_size, in_first, out_to_in, tap_to_in;

  int64_t input(int64_t output, int64_t tap) const noexcept { return in_first + output * out_to_in + tap * tap_to_in; }

  /// The taps of an output that lie inside the input: neighbours, since tap_to_in > 0.
  Range taps_inside(int64_t output) const noexcept {
    const int64_t first = input(output, 0);
    Range range{first < 0 ? min_of(ceil_div(-first, tap_to_in), taps) : 0, taps};
    if (first + (taps - 1) * tap_to_in >= in_size) {
      range.end = first >= in_size ? 0 : (in_size - 1 - first) / tap_to_in + 1;
    }
    return range.begin < range.end ? range : Range{0, 0};
  }

  /// Whether each of some outputs, if any, has all taps inside the input. For taps > 0.
  bool all_inside(Range some) const noexcept {
    return some.begin >= some.end || (input(some.begin, 0) >= 0 && input(some.end - 1, taps - 1) < in_size);
  }

  /// The outputs of [begin, end) for which `tap` lies inside the input.
  Range outputs_inside(int64_t tap, Range among) const noexcept {
    const int64_t first = input(0, tap);
    Range range = among;
    if (first < 0) range.begin = max_of(range.begin, ceil_div(-first, out_to_in));
    const int64_t past = first >= in_size ? 0 : (in_size - 1 - first) / out_to_in + 1;
    range.end = min_of(range.end, past);
    return range.begin < range.end ? range : Range{among.begin, among.begin};
  }
};

inline Axis conv_axis(int64_t in_size, int64_t out_size, int64_t kernel, int64_t stride, int64_t padding,
                      int64_t dilation) noexcept {
  return {out_size, 0, 1, kernel, 0, 1, in_size, -padding, stride, dilation};
}

constexpr int64_t gcd(int64_t a, int64_t b) noexcept {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// The kernel indices k with (phase + padding - k * dilation) % stride == 0: k_last, k_last - step, ... down to 0.
struct PhaseTaps {
  int64_t count, last, step;
};

inline PhaseTaps phase_taps(int64_t kernel, int64_t stride, int64_t padding, int64_t dilation, int64_t phase) noexcept {
  const int64_t period = stride / gcd(stride, dilation);
  const int64_t search = min_of(period, kernel);
  for (int64_t k = 0; k < search; ++k) {
    if ((phase + padding - k * dilation) % stride != 0) continue;
    const int64_t count = (kernel - 1 - k) / period + 1;
    return {count, k + (count - 1) * period, period};
  }
  return {0, 0, 1};
}

inline Axis transposed_axis(int64_t in_size, int64_t out_size, int64_t kernel, int64_t stride, int64_t padding,
                            int64_t dilation, int64_t phase) noexcept {
  const PhaseTaps taps = phase_taps(kernel, stride, padding, dilation, phase);
  const int64_t outputs = phase < out_size ? (out_size - 1 - phase) / stride + 1 : 0;
  // phase + padding - last * dilation is a multiple of the stride where there is a tap at all.
  return {outputs,   phase,
          stride,    taps.count,
          taps.last, -taps.step,
          in_size,   (phase + padding - taps.last * dilation) / stride,
          1,         dilation / gcd(stride, dilation)};
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Weights to the order in which tiles read them (PackedLayout), widened to the type of the sums: exact. Threads take
// blocks of channels.
#ifndef CONVOKE_KERNELS_SIMD_PACK_H
#define CONVOKE_KERNELS_SIMD_PACK_H

#include <type_traits>

#include "kernels/simd/convolution.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// A block whose taps lie one after the other for every channel: a transposition, [width][taps] to [taps][width]. Takes
/// the whole vectors of channels and returns how many channels that were.
template <class E>
int64_t transpose_block(const typename E::Storage* from, int64_t channel_stride, int64_t channels, int64_t taps,
                        int64_t width, typename E::Sum* to) noexcept {
  if constexpr (std::is_same_v<typename E::Storage, float>) {
    constexpr int64_t N = lanes<float>;
    const Tag<float> d;
    int64_t done = 0;
    for (; done + N <= channels; done += N) {
      const float* const rows = from + done * channel_stride;
      int64_t tap = 0;
      for (; tap + 4 <= taps; tap += 4) {
        transpose_four(rows + tap, channel_stride,
                       [&](int64_t i, Vector<float> values) { hn::StoreU(values, d, to + (tap + i) * width + done); });
      }
      for (; tap < taps; ++tap) {
        for (int64_t lane = 0; lane < N; ++lane) to[tap * width + done + lane] = rows[lane * channel_stride + tap];
      }
    }
    return done;
  } else {
    return 0;
  }
}

/// The taps of one block in one phase: [Cin_group][rows.count][cols.count][width].
template <class E>
void pack_phase(const View<const typename E::Storage, 4>& weight, const Filter& filter, int64_t group, int64_t first,
                int64_t width, const PhaseTaps& rows, const PhaseTaps& cols, typename E::Sum* to) noexcept {
  using Sum = typename E::Sum;
  const bool transposed = filter.operation == Operation::conv_transpose2d;
  // Taps are in rising order of the input: falling kernel indices where the convolution is transposed.
  const int64_t row_step = transposed ? -rows.step : 1, col_step = transposed ? -cols.step : 1;
  const int64_t count = min_of(width, filter.Cout_group - first);
  const int64_t co = transposed ? first : group * filter.Cout_group + first;
  const int64_t ci = transposed ? group * filter.Cin_group : 0;
  const int64_t co_stride = weight.stride[transposed ? 1 : 0], ci_stride = weight.stride[transposed ? 0 : 1];
  const int64_t taps = filter.Kh * filter.Kw;
  const bool runs = !transposed && (filter.Kw == 1 || weight.stride[3] == 1) &&
                    (filter.Kh == 1 || weight.stride[2] == filter.Kw) && (filter.Cin_group == 1 || ci_stride == taps);
  const int64_t done =
      runs ? transpose_block<E>(weight.data + co * co_stride, co_stride, count, filter.Cin_group * taps, width, to) : 0;
  if (done == width) return;
  for (int64_t i = 0; i < filter.Cin_group; ++i) {
    for (int64_t r = 0; r < rows.count; ++r) {
      for (int64_t c = 0; c < cols.count; ++c) {
        const auto* const from = weight.data + co * co_stride + (ci + i) * ci_stride +
                                 (rows.last + r * row_step) * weight.stride[2] +
                                 (cols.last + c * col_step) * weight.stride[3];
        for (int64_t lane = done; lane < count; ++lane) to[lane] = E::widen(from[lane * co_stride]);
        for (int64_t lane = count; lane < width; ++lane) to[lane] = Sum(0);
        to += width;
      }
    }
  }
}

/// Kernel indices of a phase of one axis; those of conv2d rise from 0.
inline PhaseTaps taps_of(const Filter& filter, int axis, int64_t phase) noexcept {
  if (filter.operation == Operation::conv2d) return {filter.kernel(axis), 0, 1};
  const convoke_conv_params& p = filter.params;
  return phase_taps(filter.kernel(axis), p.stride[axis], p.padding[axis], p.dilation[axis], phase);
}

template <class E>
int32_t pack_weight(Operation operation, const PackedLayout& layout, const convoke_call& call) noexcept {
  const auto& params = *static_cast<const convoke_conv_params*>(call.params);
  const Filter filter = filter_of(operation, *call.inputs[0], params);
  const auto weight = kernels::view_of<const typename E::Storage, 4>(*call.inputs[0]);
  auto* const packed = static_cast<typename E::Sum*>(call.outputs[0]->data);
  if (filter.Cout_group == 0 || filter.Cin_group * filter.Kh * filter.Kw == 0) return CONVOKE_OK;
  const int64_t blocks = layout.blocks(filter);
  kernels::parallel_ranges(call, filter.groups * blocks, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t group = unit / blocks, block = unit % blocks, width = layout.width(filter, block);
      auto* to = packed + layout.offset(filter, group, block);
      for (int64_t row = 0; row < filter.phases(0); ++row) {
        const PhaseTaps rows = taps_of(filter, 0, row);
        if (rows.count == 0) continue;
        for (int64_t col = 0; col < filter.phases(1); ++col) {
          const PhaseTaps cols = taps_of(filter, 1, col);
          pack_phase<E>(weight, filter, group, block * layout.wide, width, rows, cols, to);
          to += filter.Cin_group * rows.count * cols.count * width;
        }
      }
    }
  });
  return CONVOKE_OK;
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

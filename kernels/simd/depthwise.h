// SPDX-License-Identifier: Apache-2.0 OR MIT
// One input channel a group. out[n, co, oh, ow] = bias[co] + sum over kh, kw of x[n, co / multiplier, oh * sh + kh * dh
// - ph, ...] * weight[co, 0, kh, kw], in that order, taps outside x left out. Lanes over output pixels; planes are
// taken two at a time, strip by strip. Contract: depthwise.fkc.md.
#ifndef CONVOKE_KERNELS_SIMD_DEPTHWISE_H
#define CONVOKE_KERNELS_SIMD_DEPTHWISE_H

#include "kernels/simd/arena.h"
#include "kernels/simd/depthwise_channels.h"
#include "kernels/simd/depthwise_strip.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// Planes, or pieces of their rows, then of their columns, where a band of a whole one would be too large.
template <class E>
class Depthwise {
 public:
  using Sum = typename E::Sum;
  static constexpr int N = lanes<Sum>;
  static constexpr int64_t together = 2;  // strips that march side by side
  static constexpr int64_t band_room = worker_bytes / 4;

  Depthwise(const Operands<E>& operands, const View<const typename E::Storage, 4>& weight) noexcept
      : operands_(operands), weight_(weight) {
    const Filter& filter = operands_.filter;
    rows_ = filter.axis(0, operands_.x.size[2], operands_.out.size[2], 0);
    cols_ = filter.axis(1, operands_.x.size[3], operands_.out.size[3], 0);
    strips_ = ceil_div(cols_.outputs, N);
    planes_ = operands_.out.size[0] * operands_.out.size[1];
    direct_ = std::is_same_v<typename E::Storage, Sum> && cols_.out_to_in == 1 && !HWY_MEM_OPS_MIGHT_FAULT &&
              (operands_.x.stride[3] == 1 || operands_.x.size[3] == 1);
    row_pieces_ = 1;
    piece_strips_ = strips_;
    while (!direct_ && band_bytes() > band_room) {
      if (row_pieces_ < rows_.outputs) {
        row_pieces_ *= 2;
      } else if (piece_strips_ > 1) {
        piece_strips_ = ceil_div(piece_strips_, 2);
      } else {
        break;  // the contract's constraints leave room for one row of one strip
      }
    }
  }

  /// Two planes, so that strips of narrow ones find company.
  int64_t units() const noexcept { return ceil_div(planes_, 2) * row_pieces_ * col_pieces(); }

  void run(int64_t unit, unsigned char* scratch) const noexcept {
    const int64_t col_piece = unit % col_pieces(), row_piece = unit / col_pieces() % row_pieces_;
    const int64_t first = unit / col_pieces() / row_pieces_ * 2;
    const Range strips{col_piece * piece_strips_, min_of((col_piece + 1) * piece_strips_, strips_)};
    const Range rows{row_piece * rows_.outputs / row_pieces_, (row_piece + 1) * rows_.outputs / row_pieces_};
    if (rows.begin >= rows.end) return;
    const BandShape shape = band_of(rows, strips);
    const int64_t each = strips.end - strips.begin, count = min_of(2, planes_ - first) * each;
    Strip<E> group[together];
    int64_t waiting = 0;
    Arena arena(scratch);
    // A strip of the first plane may wait for one of the second, so each has a band.
    Sum* const first_band = arena.take<Sum>(direct_ ? 0 : shape.channel_pitch);
    Sum* const bands[2] = {first_band, arena.take<Sum>(direct_ ? 0 : shape.channel_pitch)};
    const Arena start = arena;
    for (int64_t i = 0; i < count; ++i) {
      if (waiting == 0) arena = start;
      Strip<E>& strip = group[waiting++];
      strip = make_strip(first + i / each, strips.begin + i % each, rows, arena);
      set_input(strip, first + i / each, i % each, strips.begin, shape, bands[i / each]);
      if (waiting < together && i + 1 < count) continue;
      run_group(group, waiting);
      waiting = 0;
    }
  }

 private:
  int64_t col_pieces() const noexcept { return ceil_div(strips_, piece_strips_); }
  BandShape band_of(Range rows, Range strips) const noexcept {
    const Range cols{strips.begin * N, min_of(strips.end * N, cols_.outputs)};
    return band_shape<Sum>(rows_, cols_, {rows, cols}, strips.end * N - cols.end);
  }
  int64_t band_bytes() const noexcept {
    return arena_bytes<Sum>(band_of({0, ceil_div(rows_.outputs, row_pieces_)}, {0, piece_strips_}).channel_pitch);
  }

  Strip<E> make_strip(int64_t plane, int64_t i, Range rows, Arena& arena) const noexcept {
    const int64_t co = plane % operands_.out.size[1], n = plane / operands_.out.size[1];
    Range* const tap_lanes = arena.take<Range>(cols_.taps);
    Sum* const weight = arena.take<Sum>(rows_.taps * cols_.taps * N);
    const auto& out = operands_.out;
    Strip<E> strip{};
    strip.rows = &rows_;
    strip.outputs = rows;
    strip.x_tap = arena.take<int64_t>(cols_.taps);
    strip.taps = cols_.taps;
    strip.weight = weight;
    strip.tap_lanes = tap_lanes;
    strip.start = operands_.start(co);
    strip.out = out.data + n * out.stride[0] + co * out.stride[1] + i * N * out.stride[3];
    strip.out_row = out.stride[2];
    strip.out_col = out.stride[3];
    strip.width = min_of(cols_.outputs - i * N, N);
    splat(co, i, weight, tap_lanes);
    return strip;
  }

  // Points the strip, the i-th after `first`, at its input: the caller's memory, or a band that its plane's first strip
  // fills.
  void set_input(Strip<E>& strip, int64_t plane, int64_t i, int64_t first, const BandShape& shape,
                 Sum* band) const noexcept {
    const auto& x = operands_.x;
    const int64_t n = plane / operands_.out.size[1], ci = plane % operands_.out.size[1] / operands_.filter.Cout_group;
    if constexpr (std::is_same_v<typename E::Storage, Sum>) {
      if (direct_) {
        for (int64_t t = 0; t < cols_.taps; ++t) strip.x_tap[t] = cols_.input(0, t);
        strip.x = x.data + n * x.stride[0] + ci * x.stride[1] + (first + i) * N;
        strip.x_row = x.stride[2];
        return;
      }
    }
    if (i == 0) fill_band(operands_, shape, rows_, n, ci, 1, band);
    for (int64_t t = 0; t < cols_.taps; ++t) strip.x_tap[t] = shape.tap_offset(cols_, first * N, t);
    strip.x = band - shape.row_begin * shape.row_pitch + i * N;
    strip.x_row = shape.row_pitch;
  }

  // The weights of channel `co` for strip i, each in all lanes that have its tap.
  void splat(int64_t co, int64_t i, Sum* to, Range* tap_lanes) const noexcept {
    const Tag<Sum> d;
    const auto absent = hn::Set(d, Sum(-0.0));
    for (int64_t kw = 0; kw < cols_.taps; ++kw) {
      const Range with = cols_.outputs_inside(kw, {i * N, i * N + N});
      tap_lanes[kw] = {with.begin - i * N, with.end - i * N};
    }
    const auto* const from = weight_.data + co * weight_.stride[0];
    for (int64_t kh = 0; kh < rows_.taps; ++kh) {
      for (int64_t kw = 0; kw < cols_.taps; ++kw, to += N) {
        const auto w = hn::Set(d, E::widen(from[kh * weight_.stride[2] + kw * weight_.stride[3]]));
        hn::StoreU(hn::IfThenElse(mask_of<Sum>(tap_lanes[kw]), w, absent), d, to);
      }
    }
  }

  void run_group(const Strip<E>* strips, int64_t count) const noexcept {
    if (direct_) {
      run_group<true>(strips, count);
    } else {
      run_group<false>(strips, count);
    }
  }

  template <bool Direct>
  void run_group(const Strip<E>* strips, int64_t count) const noexcept {
    const bool neighbours = rows_.out_to_in == 1 && rows_.tap_to_in == 1 && rows_.taps == cols_.taps;
    if (neighbours && rows_.taps == 3) return march_group<3, Direct>(strips, count);
    if (neighbours && rows_.taps == 5) return march_group<5, Direct>(strips, count);
    for (int64_t i = 0; i < count; ++i) run_strip<E, Direct>(strips[i]);
  }

  template <int K, bool Direct>
  void march_group(const Strip<E>* strips, int64_t count) const noexcept {
    if (count == together) return March<E, K, together, Direct>(strips).run();
    March<E, K, 1, Direct>(strips).run();
  }

  const Operands<E>& operands_;
  View<const typename E::Storage, 4> weight_;
  Axis rows_, cols_;
  int64_t strips_, planes_, row_pieces_, piece_strips_;  // strips of a plane, and of a piece of it
  bool direct_;
};

template <class Work>
void each_unit(const convoke_call& call, const Work& work) noexcept {
  each_unit(call, work.units(), [&](int64_t unit, unsigned char* scratch) noexcept { work.run(unit, scratch); });
}

template <class E>
int32_t convolve_depthwise(const convoke_call& call) noexcept {
  const Operands<E> operands(Operation::conv2d, call);
  if (operands.no_output()) return CONVOKE_OK;
  // Of the caller's making: it was not packed.
  const auto weight = kernels::view_of<const typename E::Storage, 4>(*call.inputs[1]);
  if (const DepthwiseChannels<E> lanes_over_channels(operands, weight, call.threads); lanes_over_channels.suits()) {
    each_unit(call, lanes_over_channels);
  } else {
    each_unit(call, Depthwise<E>(operands, weight));
  }
  return CONVOKE_OK;
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

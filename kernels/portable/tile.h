// SPDX-License-Identifier: Apache-2.0 OR MIT
// A tile: the sums of up to `tile_lanes` outputs of one plane for up to `tile_channels` output channels. A tap is
// fetched once for all lanes and added to every channel, so the fetch may take any strides and convert any type, and
// the addition is a plain loop over lanes that compilers vectorise. Each sum gets its taps one by one in the order in
// which the kernel visits them: one chain.
#ifndef CONVOKE_KERNELS_PORTABLE_TILE_H
#define CONVOKE_KERNELS_PORTABLE_TILE_H

#include "kernels/common/element.h"
#include "kernels/common/view.h"
#include "kernels/portable/isa.h"

namespace convoke::portable::CONVOKE_PORTABLE_ISA {
namespace {

using kernels::Bf16, kernels::F16, kernels::F32, kernels::F64;
using kernels::fused;
using kernels::View;

constexpr int64_t tile_lanes = 64;     // nine rows of a 7x7 image in one; longer tiles gain nothing
constexpr int64_t tile_channels = 16;  // sums of 4 KiB (f32): with the tap well inside a 32 KiB cache
constexpr int64_t lane_group = 16;     // lanes are worked on in whole groups; what lies past the last is not stored

inline int64_t min_of(int64_t a, int64_t b) noexcept { return a < b ? a : b; }
inline int64_t max_of(int64_t a, int64_t b) noexcept { return a > b ? a : b; }
inline int64_t ceil_div(int64_t a, int64_t b) noexcept { return a / b + (a % b != 0); }

/// One axis of the outputs a tile is cut from: output i lies at out_first + i * out_step of `out`, and reads x at
/// i * in_step + first, where `first` belongs to the tap.
struct Axis {
  int64_t count, out_first, out_step, in_step;
};

struct Range {
  int64_t begin, end;
};

/// The outputs i in [0, count) whose input i * step + first lies in [0, size).
inline Range outputs_inside(const Axis& axis, int64_t first, int64_t size) noexcept {
  Range range{0, axis.count};
  if (first < 0) range.begin = ceil_div(-first, axis.in_step);
  if (axis.count > 0 && (axis.count - 1) * axis.in_step + first >= size) {
    range.end = first >= size ? 0 : (size - 1 - first) / axis.in_step + 1;
  }
  return range;
}

/// A tap of the whole plane: which outputs it is present for, and the input that output (0, 0) reads.
struct Tap {
  Range rows, cols;
  int64_t first_h, first_w;
};

enum class Presence { none, some, all };

template <class E>
struct Tile {
  using Sum = typename E::Sum;
  using Storage = typename E::Storage;
  alignas(64) Sum sums[tile_channels][tile_lanes];
  alignas(64) Sum x[tile_lanes];  // the tap's input for every lane, zero where absent
  alignas(64) typename E::Mask present[tile_lanes];
  alignas(64) Storage raw[tile_lanes];
  Axis rows, cols;
  int64_t first_row, first_col, lanes, channels;  // the first lane's output; the others follow it row by row

  Tile(const Axis& of_rows, const Axis& of_cols, int64_t begin, int64_t channel_count) noexcept
      : rows(of_rows),
        cols(of_cols),
        first_row(begin / of_cols.count),
        first_col(begin % of_cols.count),
        lanes(min_of(tile_lanes, of_rows.count * of_cols.count - begin)),
        channels(channel_count) {}

  /// Calls visit(lane, row, col, run) for each piece of a row in the tile: `run` lanes from `lane` on.
  template <class Visit>
  void each_run(const Visit& visit) const noexcept {
    int64_t row = first_row, col = first_col;
    for (int64_t lane = 0; lane < lanes; ++row, col = 0) {
      const int64_t run = min_of(cols.count - col, lanes - lane);
      visit(lane, row, col, run);
      lane += run;
    }
  }

  /// The lanes of a run for which `tap` is present, counted from the start of the run.
  static Range present_in(const Tap& tap, int64_t row, int64_t col, int64_t run) noexcept {
    if (row < tap.rows.begin || row >= tap.rows.end) return {0, 0};
    const int64_t lo = min_of(max_of(tap.cols.begin - col, 0), run);
    return {lo, max_of(lo, min_of(tap.cols.end - col, run))};
  }

  /// Sums start at the bias, or at +0.
  void start(const View<const Storage, 1>* bias, int64_t first_channel) noexcept {
    for (int64_t c = 0; c < channels; ++c) {
      const Sum seed = bias == nullptr ? Sum(0) : E::widen(bias->data[(first_channel + c) * bias->stride[0]]);
      for (int64_t lane = 0; lane < tile_lanes; ++lane) sums[c][lane] = seed;
    }
    for (Storage& element : raw) element = Storage(0);
  }

  /// Fetches the tap from `plane`, one channel of x of one image, with axes height and width.
  Presence fetch(const View<const Storage, 2>& plane, const Tap& tap) noexcept {
    int64_t count = 0;
    each_run([&](int64_t lane, int64_t row, int64_t col, int64_t run) noexcept {
      const Range in = present_in(tap, row, col, run);
      Storage* const to = raw + lane;
      for (int64_t i = 0; i < in.begin; ++i) to[i] = Storage(0);
      for (int64_t i = in.end; i < run; ++i) to[i] = Storage(0);
      if (in.begin == in.end) return;
      count += in.end - in.begin;
      const int64_t h = row * rows.in_step + tap.first_h;
      const int64_t w = (col + in.begin) * cols.in_step + tap.first_w;
      const Storage* const from = plane.data + h * plane.stride[0] + w * plane.stride[1];
      // One lane takes no step, and the product may then be beyond int64.
      const int64_t step = in.end - in.begin > 1 ? cols.in_step * plane.stride[1] : 0;
      if (step == 1) {
        for (int64_t i = 0; i < in.end - in.begin; ++i) to[in.begin + i] = from[i];
      } else {
        for (int64_t i = 0; i < in.end - in.begin; ++i) to[in.begin + i] = from[i * step];
      }
    });
    if (count == 0) return Presence::none;
    for (int64_t group = 0; group < lanes; group += lane_group) {
      for (int64_t i = group; i < group + lane_group; ++i) x[i] = E::widen(raw[i]);
    }
    if (count == lanes) return Presence::all;
    each_run([&](int64_t lane, int64_t row, int64_t col, int64_t run) noexcept {
      const Range in = present_in(tap, row, col, run);
      for (int64_t i = 0; i < run; ++i) present[lane + i] = i >= in.begin && i < in.end ? -1 : 0;
    });
    return Presence::some;
  }

  /// The law: sum = fma(x, weight, sum) for every lane that has the fetched tap. `weight` is that of the tile's first
  /// channel.
  void add(Presence presence, const Storage* weight, int64_t channel_stride) noexcept {
    for (int64_t c = 0; c < channels; ++c) {
      const Sum w = E::widen(weight[c * channel_stride]);
      if (presence == Presence::all) {
        add_all(sums[c], x, w);
      } else {
        add_present(sums[c], x, present, w);
      }
    }
  }

  void add_all(Sum* __restrict sum, const Sum* __restrict tap, Sum w) const noexcept {
    for (int64_t group = 0; group < lanes; group += lane_group) {
      for (int64_t i = group; i < group + lane_group; ++i) sum[i] = fused(tap[i], w, sum[i]);
    }
  }

  void add_present(Sum* __restrict sum, const Sum* __restrict tap, const typename E::Mask* __restrict mask,
                   Sum w) const noexcept {
    for (int64_t group = 0; group < lanes; group += lane_group) {
      for (int64_t i = group; i < group + lane_group; ++i) {
        const Sum added = fused(tap[i], w, sum[i]);
        sum[i] = mask[i] != 0 ? added : sum[i];
      }
    }
  }

  /// One narrowing, one store. `out` is one image, with axes channel, height and width.
  void store(const View<Storage, 3>& out, int64_t first_channel) const noexcept {
    for (int64_t c = 0; c < channels; ++c) {
      each_run([&](int64_t lane, int64_t row, int64_t col, int64_t run) noexcept {
        const int64_t h = rows.out_first + row * rows.out_step;
        const int64_t w = cols.out_first + col * cols.out_step;
        Storage* const to = out.data + (first_channel + c) * out.stride[0] + h * out.stride[1] + w * out.stride[2];
        const int64_t step = run > 1 ? cols.out_step * out.stride[2] : 0;
        for (int64_t i = 0; i < run; ++i) to[i * step] = E::narrow(sums[c][lane + i]);
      });
    }
  }
};

}  // namespace
}  // namespace convoke::portable::CONVOKE_PORTABLE_ISA

#endif

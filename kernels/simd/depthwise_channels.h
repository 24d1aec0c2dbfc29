// SPDX-License-Identifier: Apache-2.0 OR MIT
// One input channel a group and one output channel for each, lanes over channels: of inputs whose channels are
// neighbours in memory, read where they lie, and of those whose pixels are, turned round in scratch. Otherwise as
// depthwise.h.
#ifndef CONVOKE_KERNELS_SIMD_DEPTHWISE_CHANNELS_H
#define CONVOKE_KERNELS_SIMD_DEPTHWISE_CHANNELS_H

#include "kernels/simd/arena.h"
#include "kernels/simd/unit_plan.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// Pieces of rows of one image, for a vector of channels.
template <class E>
class DepthwiseChannels {
 public:
  using Sum = typename E::Sum;
  using Storage = typename E::Storage;
  static constexpr int N = lanes<Sum>;

  DepthwiseChannels(const Operands<E>& operands, const View<const Storage, 4>& weight, int64_t threads) noexcept
      : operands_(operands),
        weight_(weight),
        rows_(operands.filter.axis(0, operands.x.size[2], operands.out.size[2], 0)),
        cols_(operands.filter.axis(1, operands.x.size[3], operands.out.size[3], 0)),
        blocks_(ceil_div(operands.filter.groups, N)),
        row_pieces_(min_of(rows_.outputs, ceil_div(4 * max_of(threads, 1), operands.x.size[0] * blocks_))),
        in_place_(operands.x.stride[1] == 1 && whole_loads()) {
    while (row_pieces_ < rows_.outputs && too_large()) {
      row_pieces_ = min_of(row_pieces_ + ceil_div(row_pieces_, 4), rows_.outputs);
    }
  }

  /// Whether this is the way for the call: else depthwise.h's is.
  bool suits() const noexcept {
    if (operands_.filter.Cout_group != 1 || 2 * operands_.filter.groups < N) return false;
    return in_place_ || (operands_.x.stride[3] == 1 && band_bytes() <= band_room);
  }

  int64_t units() const noexcept { return operands_.x.size[0] * blocks_ * row_pieces_; }

  void run(int64_t unit, unsigned char* scratch) const noexcept {
    const Range rows = piece_of(rows_.outputs, row_pieces_, unit / blocks_ % row_pieces_);
    const int64_t n = unit / blocks_ / row_pieces_, channel = unit % blocks_ * N;
    const auto& x = operands_.x;
    const Storage* const image = x.data + n * x.stride[0] + channel * x.stride[1];
    Work work{n, channel, min_of(operands_.filter.groups - channel, N), rows, nullptr, nullptr, nullptr};
    Arena arena(scratch);
    work.weight = arena.take<Sum>(rows_.taps * cols_.taps * N);
    work.start = arena.take<Sum>(N);
    work.sums = arena.take<Sum>(columns * N);  // a store reads whole vectors of outputs
    gather_weight(work);
    const int64_t first = max_of(rows_.input(rows.begin, 0), 0);
    const int64_t end = min_of(rows_.input(rows.end - 1, rows_.taps - 1) + 1, rows_.in_size);
    if (in_place_) {
      if (channel == 0 && blocks_ > 1 && !too_large()) prefetch(image, {first, end});
      return run_rows<E>(work, {image, x.stride[2], x.stride[3]});
    }
    Sum* const band = arena.take<Sum>(band_rows(rows.end - rows.begin) * x.size[3] * N);
    const int64_t pitch = x.size[3] * N;
    for (int64_t h = first; h < end; ++h) {
      transpose_pixels<E>(image + h * x.stride[2], x.stride[1], work.count, x.size[3], band + (h - first) * pitch, N);
    }
    run_rows<Wide<Sum>>(work, {band - first * pitch, pitch, N});
  }

 private:
  static constexpr int P = 8;           // outputs of a tile: as many chains as hide a multiply-add
  static constexpr int most_taps = 32;  // of a row: the contract's limit
  static constexpr int64_t band_room = worker_bytes / 4;
  static constexpr int64_t columns = max_of(2 * N, P);  // through all rows at a time

  struct Tile {
    int64_t first, count;         // outputs
    bool whole;                   // P of them, each with every tap
    uint32_t present[most_taps];  // bit p says that output first + p has the tap
  };

  struct Work {
    int64_t n, channel, count;
    Range rows;
    Sum *weight, *start, *sums;
  };

  /// Where pixel (h, w) lies: a vector of neighbouring channels.
  template <class In>
  struct Source {
    const typename In::Storage* image;
    int64_t row, col;
  };

  // Elsewhere than with masked loads, the last vector of channels must be whole.
  bool whole_loads() const noexcept { return !HWY_MEM_OPS_MIGHT_FAULT || operands_.filter.groups % N == 0; }

  int64_t band_rows(int64_t outputs) const noexcept {
    return min_of((outputs - 1) * rows_.out_to_in + (rows_.taps - 1) * rows_.tap_to_in + 1, rows_.in_size);
  }
  int64_t band_bytes() const noexcept {
    return arena_bytes<Sum>(band_rows(ceil_div(rows_.outputs, row_pieces_)) * operands_.x.size[3] * N);
  }

  /// Whether what the pieces read does not stay where it is wanted: in scratch, or in the cache for the next vector of
  /// channels.
  bool too_large() const noexcept {
    if (!in_place_) return band_bytes() > band_room;
    return blocks_ > 1 && pixel_bytes() > core_cache_bytes() / 2;
  }
  // Of whole pixels, all channels.
  int64_t pixel_bytes() const noexcept {
    return band_rows(ceil_div(rows_.outputs, row_pieces_)) * operands_.x.size[3] * operands_.filter.groups *
           static_cast<int64_t>(sizeof(Storage));
  }

  // Rows of whole pixels, one line after the other: a vector of channels alone is too far from the next pixel's for the
  // hardware to see where it goes on.
  void prefetch(const Storage* image, Range rows) const noexcept {
    const auto& x = operands_.x;
    constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(Storage));
    for (int64_t h = rows.begin; h < rows.end; ++h) {
      for (int64_t w = 0; w < x.size[3]; ++w) {
        const Storage* const pixel = image + h * x.stride[2] + w * x.stride[3];
        for (int64_t c = 0; c < operands_.filter.groups; c += line) __builtin_prefetch(pixel + c);
      }
    }
  }

  void gather_weight(const Work& work) const noexcept {
    for (int64_t c = 0; c < N; ++c) work.start[c] = c < work.count ? operands_.start(work.channel + c) : Sum(0);
    const auto* const from = weight_.data + work.channel * weight_.stride[0];
    if (weight_.stride[3] == 1 && weight_.stride[2] == cols_.taps) {
      return transpose_pixels<E>(from, weight_.stride[0], work.count, rows_.taps * cols_.taps, work.weight, N);
    }
    for (int64_t t = 0; t < rows_.taps * cols_.taps; ++t) {
      const auto* const tap = from + t / cols_.taps * weight_.stride[2] + t % cols_.taps * weight_.stride[3];
      for (int64_t c = 0; c < work.count; ++c) work.weight[t * N + c] = E::widen(tap[c * weight_.stride[0]]);
    }
  }

  Tile tile_at(int64_t first, int64_t end) const noexcept {
    Tile tile{first, min_of(end - first, P), end - first >= P, {}};
    const auto below = [&](int64_t column) { return (1u << (column - first)) - 1u; };
    for (int64_t t = 0; t < cols_.taps; ++t) {
      const Range with = cols_.outputs_inside(t, {first, first + tile.count});
      tile.present[t] = below(with.end) & ~below(with.begin);
      if (with.end - with.begin != P) tile.whole = false;
    }
    return tile;
  }

  // Some columns at a time, through all rows: which taps they have is found once.
  template <class In>
  void run_rows(const Work& work, const Source<In>& source) const noexcept {
    const auto& out = operands_.out;
    auto* const image = out.data + work.n * out.stride[0] + work.channel * out.stride[1];
    Tile tiles[columns / P];
    for (int64_t first = 0; first < cols_.outputs; first += columns) {
      const int64_t end = min_of(first + columns, cols_.outputs), count = ceil_div(end - first, P);
      for (int64_t i = 0; i < count; ++i) tiles[i] = tile_at(first + i * P, end);
      for (int64_t row = work.rows.begin; row < work.rows.end; ++row) {
        for (int64_t i = 0; i < count; ++i) {
          (tiles[i].whole ? run_tile<false, In> : run_tile<true, In>)(*this, work, source, row, tiles[i],
                                                                      work.sums + i * P * N);
        }
        store_block<E>(work.sums, N, end - first, work.count, image + row * out.stride[2] + first * out.stride[3],
                       out.stride[3], out.stride[1]);
      }
    }
  }

  template <bool Masked, class In>
  static HWY_NOINLINE void run_tile(const DepthwiseChannels& self, const Work& work, const Source<In>& source,
                                    int64_t row, const Tile& tile, Sum* sums) noexcept {
    const Tag<Sum> d;
    const Axis &rows = self.rows_, &cols = self.cols_;
    const auto inside = hn::FirstN(StorageTag<In>(), static_cast<size_t>(work.count));
    Vector<Sum> sum[P];
    CONVOKE_UNROLL
    for (int p = 0; p < P; ++p) sum[p] = hn::LoadU(d, work.start);
    const Range present = rows.taps_inside(row);
    const int64_t hop = cols.out_to_in * source.col;
    for (int64_t kh = present.begin; kh < present.end; ++kh) {
      const auto* const line = source.image + rows.input(row, kh) * source.row;
      for (int64_t kw = 0; kw < cols.taps; ++kw) {
        const auto* const x = line + cols.input(tile.first, kw) * source.col;
        const auto w = hn::LoadU(d, work.weight + (kh * cols.taps + kw) * N);
        CONVOKE_UNROLL
        for (int p = 0; p < P; ++p) {
          if (Masked && (tile.present[kw] >> p & 1u) == 0) continue;
          sum[p] = hn::MulAdd(load_channels<In>(x + p * hop, inside), w, sum[p]);
        }
      }
    }
    CONVOKE_UNROLL
    for (int p = 0; p < P; ++p) hn::StoreU(sum[p], d, sums + p * N);
  }

  template <class In>
  static HWY_INLINE Vector<Sum> load_channels(const typename In::Storage* from,
                                              hn::Mask<StorageTag<In>> inside) noexcept {
    if constexpr (HWY_MEM_OPS_MIGHT_FAULT) return load_widened<In>(from);
    return widened<In>(hn::MaskedLoad(inside, StorageTag<In>(), from));
  }

  const Operands<E>& operands_;
  View<const Storage, 4> weight_;
  Axis rows_, cols_;
  int64_t blocks_, row_pieces_;
  bool in_place_;
};

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

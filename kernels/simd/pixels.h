// SPDX-License-Identifier: Apache-2.0 OR MIT
// Lanes over output pixels. out[n, co, oh, ow] = bias[co] + the sum over ci, kh, kw of docs/law.md, for both
// convolutions (axis.h). A vector holds neighbouring outputs of a row; where a kernel of one tap makes rows of `x` and
// `out` run on into each other, a plane is one row. Contract: pixels.fkc.md.
#ifndef CONVOKE_KERNELS_SIMD_PIXELS_H
#define CONVOKE_KERNELS_SIMD_PIXELS_H

#include "kernels/simd/pixel_taps.h"
#include "kernels/simd/pixels_plan.h"
#include "kernels/simd/store.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

template <class E>
class PixelsUnit {
 public:
  using Sum = typename E::Sum;
  static constexpr int N = lanes<Sum>;

  PixelsUnit(const Operands<E>& operands, const UnitPlan& plan, const Unit& unit, unsigned char* scratch) noexcept
      : operands_(operands),
        plan_(plan),
        unit_(unit),
        columns_(unit.cols[0].outputs.end - unit.cols[0].outputs.begin),
        row_vectors_(ceil_div(columns_, N)),
        vectors_((unit.outputs.end - unit.outputs.begin) * row_vectors_),
        tile_vectors_(ceil_div(vectors_, ceil_div(vectors_, tile_vectors(unit.phases, plan.layout.wide)))),
        gathers_(unit.phases == 1 && unit.taps(0) == 1),
        band_shape_(band_shape<Sum>(unit, row_vectors_ * N)) {
    Arena arena(scratch);
    taps_.take(unit, row_vectors_, arena);
    start_ = arena.take<Sum>(plan.layout.wide);
    copies_ = arena.take<VectorCopy>(gathers_ ? vectors_ : 0);
    const int64_t gathered = round_up(vectors_, tile_vectors_) * N;
    band_ =
        arena.take<Sum>(has_taps(unit) ? plan.input_channels * (gathers_ ? gathered : band_shape_.channel_pitch) : 0);
    const int64_t kept = plan.keeps_sums ? (unit.blocks.end - unit.blocks.begin) * vectors_ : tile_vectors_;
    sums_ = arena.take<Sum>(kept * plan.layout.wide * N * unit.phases);
  }

  void run() noexcept {
    taps_.find(unit_, band_shape_, columns_);
    const int64_t Cin = taps_.count * unit_.rows.taps == 0 ? 0 : operands_.filter.Cin_group;
    for (int64_t ci = 0; ci < Cin || ci == 0; ci += plan_.input_channels) {
      const int64_t channels = min_of(plan_.input_channels, Cin - ci);
      if (gathers_) {
        gather(unit_.group * Cin + ci, channels);
      } else {
        fill_band(operands_, band_shape_, unit_.rows, unit_.n, unit_.group * Cin + ci, channels, band_);
      }
      for (int64_t block = unit_.blocks.begin; block < unit_.blocks.end; ++block) {
        add_block(block, ci, channels, ci + channels >= Cin);
      }
    }
  }

 private:
  static bool has_taps(const Unit& unit) noexcept {
    for (int64_t p = 0; p < unit.phases; ++p) {
      if (unit.taps(p) > 0) return true;
    }
    return false;
  }

  static bool is_whole(const RowCopy& copy) noexcept { return copy.begin == 0 && copy.end == N; }

  // With one tap a tile reads what no other does, so its inputs lie together: [tile][channel][vector of the tile].
  void gather(int64_t first, int64_t channels) noexcept {
    const auto& x = operands_.x;
    const Axis &rows = unit_.rows, &cols = unit_.cols[0].axis;
    const int64_t hop = cols.out_to_in * x.stride[3];
    for (int64_t v = 0; v < vectors_; ++v) {
      const int64_t row = unit_.outputs.begin + v / row_vectors_, tile = v / tile_vectors_;
      const int64_t col = unit_.cols[0].outputs.begin + v % row_vectors_ * N;
      const Range present = rows.taps_inside(row), inside = cols.outputs_inside(0, {col, col + N});
      VectorCopy& copy = copies_[v];
      copy.row = {inside.begin - col, present.begin < present.end ? inside.end - col : inside.begin - col, 0};
      copy.from = rows.input(row, 0) * x.stride[2] + cols.input(inside.begin, 0) * x.stride[3];
      copy.to = (tile * channels * tile_vectors_ + v % tile_vectors_) * N;
    }
    source_ = x.data + unit_.n * x.stride[0] + first * x.stride[1];
    const auto* const image = source_;
    int64_t copied = 0;  // by the tiles of the first block, on their way
    const bool may_copy = hop == 1 && std::is_same_v<typename E::Storage, Sum> && tile_vectors_ <= most_copying_vectors;
    while (may_copy && copied < vectors_ && is_whole(copies_[copied].row)) ++copied;
    copied_tiles_ = copied == vectors_ ? ceil_div(vectors_, tile_vectors_) : copied / tile_vectors_;
    if (copies_across(x.stride[1], hop, channels)) {
      for (int64_t v = 0; v < vectors_; ++v) {
        copy_row_across<E>(image + copies_[v].from, hop, copies_[v].row, N, channels, band_ + copies_[v].to,
                           tile_vectors_ * N);
      }
      return;
    }
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t v = copied_tiles_ * tile_vectors_; v < vectors_; ++v) {
        copy_row<E>(image + c * x.stride[1] + copies_[v].from, hop, copies_[v].row, N,
                    band_ + copies_[v].to + c * tile_vectors_ * N);
      }
    }
  }

  void add_block(int64_t block, int64_t ci, int64_t channels, bool last) noexcept {
    const Filter& filter = operands_.filter;
    const int64_t width = plan_.layout.width(filter, block), in_group = block * plan_.layout.wide;
    const int64_t co = unit_.group * filter.Cout_group + in_group;
    const int64_t count = min_of(width, filter.Cout_group - in_group);
    for (int64_t c = 0; c < width; ++c) start_[c] = c < count ? operands_.start(co + c) : Sum(0);
    PixelTile<Sum> tile{};
    tile.x = band_;
    tile.start = ci == 0 ? start_ : nullptr;
    tile.rows = unit_.rows.taps;
    tile.x_channel = gathers_ ? tile_vectors_ * N : band_shape_.channel_pitch;
    tile.x_row = unit_.rows.tap_to_in * band_shape_.row_pitch;
    const Sum* const weight = operands_.weight + plan_.layout.offset(filter, unit_.group, block);
    tile.channels = taps_.count == 0 ? 0 : channels;
    tile.taps = taps_.count;
    tile.x_tap = taps_.offsets;
    tile.phases_of_tap = taps_.phases;
    tile.no_lanes = taps_.no_lanes;
    for (int64_t p = 0; p < unit_.phases; ++p) {
      const int64_t taps = unit_.cols[p].taps_before * filter.Cin_group + ci * unit_.taps(p);
      tile.phase_weight[p] = weight + taps * width;
    }
    tile.weight = tile.phase_weight[0];
    for (int64_t i = 0; i * tile_vectors_ < vectors_; ++i) {
      const Range here{i * tile_vectors_, min_of((i + 1) * tile_vectors_, vectors_)};
      const int64_t before = (block - unit_.blocks.begin) * vectors_ * plan_.layout.wide + here.begin * width;
      Sum* const sums = sums_ + (plan_.keeps_sums ? before * unit_.phases * N : 0);
      const bool copies = gathers_ && block == unit_.blocks.begin && i < copied_tiles_;
      const bool stored = last && count == width && set_out(tile, here, co);
      tile.sums = sums;
      tile.source = nullptr;
      if (copies) set_source(tile, here);
      add_tile(tile, here, width, copies);
      if (last && !stored) store(sums, here, width, co, count);
      tile.out = nullptr;
    }
  }

  void set_source(PixelTile<Sum>& tile, Range vectors) noexcept {
    if constexpr (std::is_same_v<typename E::Storage, Sum>) {
      for (int64_t v = vectors.begin; v < vectors.end; ++v) sources_[v - vectors.begin] = source_ + copies_[v].from;
      tile.source = sources_;
      tile.source_channel = operands_.x.stride[1];
    }
  }

  // Whether the tile may store its sums itself: whole vectors, of the type of `out`, to neighbouring elements.
  bool set_out(PixelTile<Sum>& tile, Range vectors, int64_t co) noexcept {
    const auto& out = operands_.out;
    if constexpr (std::is_same_v<typename E::Storage, Sum>) {
      if (unit_.phases > 1 || unit_.out_step() * out.stride[3] != 1) return false;
      for (int64_t v = vectors.begin; v < vectors.end; ++v) {
        if (v % row_vectors_ * N + N > columns_) return false;
        outs_[v - vectors.begin] = out_of(v) + co * out.stride[1];
      }
      tile.out = outs_;
      tile.out_channel = out.stride[1];
      return true;
    } else {
      return false;
    }
  }

  // The first output of a vector, or of the vectors of all phases together.
  auto* out_of(int64_t v) const noexcept {
    const auto& out = operands_.out;
    const int64_t row = unit_.outputs.begin + v / row_vectors_, col = v % row_vectors_ * N;
    const int64_t h = unit_.rows.out_first + row * unit_.rows.out_step;
    const int64_t w = unit_.out_first() + col * unit_.phases * unit_.out_step();
    return out.data + unit_.n * out.stride[0] + h * out.stride[2] + w * out.stride[3];
  }

  void add_tile(PixelTile<Sum>& tile, Range vectors, int64_t width, bool copies) noexcept {
    bool all_present = true;
    for (int64_t v = vectors.begin; v < vectors.end; ++v) {
      const int64_t row = unit_.outputs.begin + v / row_vectors_, col = v % row_vectors_;
      const Range present = unit_.rows.taps_inside(row);
      PixelVector& vector = tile.vector[v - vectors.begin];
      vector.x = gathers_ ? (vectors.begin * tile.channels + v - vectors.begin) * N
                          : (unit_.rows.input(row, 0) - band_shape_.row_begin) * band_shape_.row_pitch + col * N;
      vector.row_begin = present.begin;
      vector.row_end = present.end;
      vector.taps = taps_.masks + col * taps_.most;
      all_present = all_present && taps_.all_present[col] != 0 && present.end - present.begin == tile.rows;
    }
    PixelWalk walk = all_present ? PixelWalk::all : PixelWalk::masked;
    if (all_present && gathers_) walk = copies ? PixelWalk::copying : PixelWalk::single;
    const auto channels = static_cast<int>(width), count = static_cast<int>(vectors.end - vectors.begin);
    const auto run = unit_.phases > 1 ? phase_tile_run(Sum(0), static_cast<int>(unit_.phases), channels, count)
                                      : pixel_tile_run(Sum(0), channels, count, walk);
    run(tile);
  }

  void store(const Sum* sums, Range vectors, int64_t width, int64_t co, int64_t count) noexcept {
    const auto& out = operands_.out;
    const int64_t in_tile = vectors.end - vectors.begin, phases = unit_.phases;
    const int64_t column_stride = unit_.out_step() * out.stride[3];
    for (int64_t v = vectors.begin; v < vectors.end; ++v) {
      auto* const to = out_of(v);
      const int64_t columns = unit_.out_columns() - v % row_vectors_ * N * phases;
      for (int64_t c = 0; c < count; ++c) {
        const Sum* const from = sums + (c * in_tile + v - vectors.begin) * N;
        put_interleaved<E>(from, width * in_tile * N, phases, to + (co + c) * out.stride[1], column_stride, columns);
      }
    }
  }

  const Operands<E>& operands_;
  const UnitPlan& plan_;
  const Unit& unit_;
  int64_t columns_, row_vectors_, vectors_, tile_vectors_;
  bool gathers_;
  BandShape band_shape_;
  PixelTaps<Sum> taps_;
  VectorCopy* copies_;
  int64_t copied_tiles_ = 0;
  const typename E::Storage* source_ = nullptr;
  const Sum* sources_[most_vectors];
  Sum* outs_[most_vectors];
  Sum* start_;
  Sum* band_;
  Sum* sums_;
};

/// For operands whose rows are joined where they can be.
template <class E>
UnitPlan plan_of_pixels(const Operands<E>& operands, int64_t threads) noexcept {
  using Sum = typename E::Sum;
  const PackedLayout layout = pixels_layout(operands.filter);
  const PixelsModel<Sum> model{largest_phase(operands, phases_together(operands.filter, layout.wide)), layout.wide};
  const int64_t at_once = tile_vectors(model.phase.together, layout.wide) * lanes<Sum>;
  return plan_units(operands, layout, model, 8 * at_once * model.phase.together, lanes<Sum>, threads);
}

template <class E>
int32_t convolve_pixels(Operation operation, const convoke_call& call) noexcept {
  Operands<E> operands(operation, call);
  if (operands.no_output()) return CONVOKE_OK;
  join_rows(operands);
  const UnitPlan plan = plan_of_pixels(operands, call.threads);
  each_unit(call, plan.units, [&](int64_t index, unsigned char* scratch) noexcept {
    const Unit unit = plan.unit(operands, index);
    if (!unit.empty()) PixelsUnit<E>(operands, plan, unit, scratch).run();
  });
  return CONVOKE_OK;
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

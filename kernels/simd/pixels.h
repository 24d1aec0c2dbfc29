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
        tiles_(ceil_div(vectors_, tile_vectors(unit.phases, plan.layout.wide))),
        gathers_(unit.phases == 1 && unit.taps(0) == 1),
        band_shape_(band_shape<Sum>(unit, row_vectors_ * N)) {
    Arena arena(scratch);
    taps_.take(unit, row_vectors_, arena);
    start_ = arena.take<Sum>(plan.layout.wide);
    tile_begins_ = arena.take<int64_t>(tiles_ + 1);
    places_ = arena.take<VectorPlace>(vectors_);
    copies_ = arena.take<VectorCopy>(gathers_ ? vectors_ : 0);
    const int64_t channel_pitch = gathers_ ? vectors_ * N : band_shape_.channel_pitch;
    band_ = arena.take<Sum>(has_taps(unit) ? plan.input_channels * channel_pitch : 0);
    const int64_t kept =
        plan.keeps_sums ? (unit.blocks.end - unit.blocks.begin) * vectors_ : ceil_div(vectors_, tiles_);
    sums_ = arena.take<Sum>(kept * plan.layout.wide * N * unit.phases);
  }

  void run() noexcept {
    taps_.find(unit_, band_shape_, columns_);
    find_places();
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

  void find_places() noexcept {
    for (int64_t tile = 0; tile <= tiles_; ++tile) tile_begins_[tile] = tile * vectors_ / tiles_;
    int64_t v = 0;
    for (int64_t row = unit_.outputs.begin; row < unit_.outputs.end; ++row) {
      for (int64_t in_row = 0; in_row < row_vectors_; ++in_row, ++v) {
        places_[v] = place_of(row, in_row);
        if (gathers_) copies_[v] = copy_of(row, in_row * N);
      }
    }
  }

  VectorPlace place_of(int64_t row, int64_t in_row) const noexcept {
    const auto& out = operands_.out;
    const int64_t h = unit_.rows.out_first + row * unit_.rows.out_step, col = in_row * N;
    const int64_t w = unit_.out_first() + col * unit_.phases * unit_.out_step();
    const Range present = unit_.rows.taps_inside(row);
    const int64_t x = (unit_.rows.input(row, 0) - band_shape_.row_begin) * band_shape_.row_pitch + col;
    return {{x, present.begin, present.end, taps_.masks + in_row * taps_.most},
            unit_.n * out.stride[0] + h * out.stride[2] + w * out.stride[3],
            col + N <= columns_,
            taps_.all_present[in_row] != 0 && present.end - present.begin == unit_.rows.taps};
  }

  // Where the inputs of N outputs from `col` on are, of their only tap.
  VectorCopy copy_of(int64_t row, int64_t col) const noexcept {
    const auto& x = operands_.x;
    const Axis &rows = unit_.rows, &cols = unit_.cols[0].axis;
    const int64_t first = unit_.cols[0].outputs.begin + col;
    Range inside{first, first + N};
    if (!cols.all_inside(inside)) inside = cols.outputs_inside(0, inside);
    if (!rows.all_inside({row, row + 1})) inside.end = inside.begin;
    return {{inside.begin - first, inside.end - first, 0},
            rows.input(row, 0) * x.stride[2] + cols.input(inside.begin, 0) * x.stride[3],
            0,
            0};
  }

  // The vectors of a tile.
  Range vectors_of(int64_t tile) const noexcept { return {tile_begins_[tile], tile_begins_[tile + 1]}; }

  static bool is_whole(const RowCopy& copy) noexcept { return copy.begin == 0 && copy.end == N; }

  // With one tap a tile reads what no other does, so its inputs lie together: [tile][channel][vector of the tile].
  void gather(int64_t first, int64_t channels) noexcept {
    const auto& x = operands_.x;
    source_ = x.data + unit_.n * x.stride[0] + first * x.stride[1];
    const int64_t hop = unit_.cols[0].axis.out_to_in * x.stride[3];
    const bool may_copy =
        hop == 1 && std::is_same_v<typename E::Storage, Sum> && ceil_div(vectors_, tiles_) <= most_copying_vectors;
    copied_tiles_ = 0;  // by the tiles of the first block, on their way
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      const Range here = vectors_of(tile);
      bool whole = true;
      for (int64_t v = here.begin; v < here.end; ++v) {
        copies_[v].to = (here.begin * channels + v - here.begin) * N;
        copies_[v].pitch = (here.end - here.begin) * N;
        whole = whole && is_whole(copies_[v].row);
      }
      if (may_copy && whole && copied_tiles_ == tile) ++copied_tiles_;
    }
    if (copies_across(x.stride[1], hop, channels)) {
      for (int64_t v = 0; v < vectors_; ++v) {
        const VectorCopy& copy = copies_[v];
        copy_row_across<E>(source_ + copy.from, hop, copy.row, N, channels, band_ + copy.to, copy.pitch);
      }
      return;
    }
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t v = tile_begins_[copied_tiles_]; v < vectors_; ++v) {
        const VectorCopy& copy = copies_[v];
        copy_row<E>(source_ + c * x.stride[1] + copy.from, hop, copy.row, N, band_ + copy.to + c * copy.pitch);
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
    for (int64_t i = 0; i < tiles_; ++i) {
      const Range here = vectors_of(i);
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
        if (!places_[v].is_whole) return false;
        outs_[v - vectors.begin] = out.data + places_[v].out + co * out.stride[1];
      }
      tile.out = outs_;
      tile.out_channel = out.stride[1];
      return true;
    } else {
      return false;
    }
  }

  void add_tile(PixelTile<Sum>& tile, Range vectors, int64_t width, bool copies) noexcept {
    const int64_t in_tile = vectors.end - vectors.begin;
    tile.x_channel = gathers_ ? in_tile * N : band_shape_.channel_pitch;
    bool all_present = true;
    for (int64_t i = 0; i < in_tile; ++i) {
      const VectorPlace& place = places_[vectors.begin + i];
      tile.vector[i] = place.inputs;
      if (gathers_) tile.vector[i].x = (vectors.begin * tile.channels + i) * N;
      all_present = all_present && place.has_all_taps;
    }
    PixelWalk walk = all_present ? PixelWalk::all : PixelWalk::masked;
    if (all_present && gathers_) walk = copies ? PixelWalk::copying : PixelWalk::single;
    const auto channels = static_cast<int>(width), count = static_cast<int>(in_tile);
    const auto run = unit_.phases > 1 ? phase_tile_run(Sum(0), static_cast<int>(unit_.phases), channels, count)
                                      : pixel_tile_run(Sum(0), channels, count, walk);
    run(tile);
  }

  void store(const Sum* sums, Range vectors, int64_t width, int64_t co, int64_t count) noexcept {
    const auto& out = operands_.out;
    const int64_t in_tile = vectors.end - vectors.begin, phases = unit_.phases;
    const int64_t column_stride = unit_.out_step() * out.stride[3];
    for (int64_t v = vectors.begin; v < vectors.end; ++v) {
      auto* const to = out.data + places_[v].out;
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
  int64_t columns_, row_vectors_, vectors_, tiles_;
  bool gathers_;
  BandShape band_shape_;
  PixelTaps<Sum> taps_;
  int64_t* tile_begins_;
  VectorPlace* places_;
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
  // Where there are many tiles in a row, none of them is cut.
  const int64_t grain = model.phase.cols.outputs >= 8 * at_once ? at_once : lanes<Sum>;
  return plan_units(operands, layout, model, 8 * at_once * model.phase.together, grain, threads);
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

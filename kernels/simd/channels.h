// SPDX-License-Identifier: Apache-2.0 OR MIT
// Lanes over output channels. out[n, co, oh, ow] = bias[co] + the sum over ci, kh, kw of docs/law.md, for both
// convolutions (axis.h). Input channels are taken a few at a time, so that their band stays in the cache while every
// block of output channels uses it; the sums wait in scratch meanwhile, in the type they are kept in. With one tap a
// tile may take outputs of several rows.
// Contract: channels.fkc.md.
#ifndef CONVOKE_KERNELS_SIMD_CHANNELS_H
#define CONVOKE_KERNELS_SIMD_CHANNELS_H

#include "kernels/simd/channel_tile.h"
#include "kernels/simd/store.h"
#include "kernels/simd/unit_plan.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// Rows of C outputs that a unit of R takes as one where it can: tiles of nearly full size, and sums that stay in the
/// first cache.
inline int64_t rows_to_join(int64_t R, int64_t C) noexcept {
  constexpr int64_t most = 112;
  return max_of(1, min_of(R, most / max_of(C, 1)));
}

/// Counts cycles: a tap of one output and one block of channels takes one (two vectors, two multiply-adds a cycle), an
/// element of the band a quarter, a block's weights for one tap two. Set by hand from the times of ResNet-50's
/// layers in f32 at one thread on one AVX-512 machine with 2 MiB a core; seen at 2 and 16 threads, where it was not
/// fitted, and not run on a machine with AVX2 alone.
template <class Sum>
struct ChannelsModel {
  static constexpr int64_t N = lanes<Sum>;
  LargestPhase phase;

  int64_t band_bytes(int64_t R, int64_t C, int64_t channels) const noexcept {
    return arena_bytes<Sum>(channels * channel_pitch_of<Sum>(phase.band_rows(R) * phase.band_cols(C)));
  }
  int64_t bytes(int64_t R, int64_t C, int64_t channels, int64_t blocks) const noexcept {
    const int64_t joined = phase.one_tap() ? rows_to_join(R, C) : 1, tiles = ceil_div(joined * C, most_outputs);
    const int64_t rows_kept = channels < phase.Cin ? R * blocks : joined;
    const int64_t taps = arena_bytes<int64_t>(phase.cols.taps) + arena_bytes<uint32_t>(tiles * phase.cols.taps) +
                         arena_bytes<char>(tiles);
    return phase.together * taps + arena_bytes<Sum>(2 * N) + band_bytes(R, C, channels) +
           arena_bytes<Sum>((rows_kept * C * phase.together + N) * 2 * N);
  }
  /// As many as leave a band and the weights that go with it in the core's cache.
  int64_t input_channels(int64_t R, int64_t C, int64_t blocks) const noexcept {
    const int64_t weights = phase.taps() * 2 * N * static_cast<int64_t>(sizeof(Sum)), room = core_cache_bytes() / 2;
    const auto fits = [&](int64_t channels) {
      return band_bytes(R, C, channels) + channels * weights <= room && bytes(R, C, channels, blocks) <= worker_bytes;
    };
    if (fits(phase.Cin)) return phase.Cin;
    int64_t channels = ceil_div(phase.Cin, ceil_div(phase.Cin, max_of(64, 576 / max_of(phase.taps(), 1))));
    while (channels > 1 && !fits(channels)) channels = ceil_div(channels, 2);
    return channels;
  }
  double cycles(int64_t R, int64_t C, int64_t channels, int64_t blocks) const noexcept {
    const auto taps = static_cast<double>(phase.taps() * phase.Cin);
    const auto outputs = static_cast<double>(blocks * R * C * phase.together);
    const double spills = 4.0 * static_cast<double>(ceil_div(phase.Cin, channels) - 1) * outputs;
    const double band =
        static_cast<double>(phase.Cin * phase.band_rows(R)) * (0.25 * static_cast<double>(phase.band_cols(C)) + 8);
    return taps * outputs + spills + band + 2 * taps * static_cast<double>(blocks * phase.together);
  }
};

template <class E>
class ChannelsUnit {
 public:
  using Sum = typename E::Sum;
  static constexpr int N = lanes<Sum>;

  ChannelsUnit(const Operands<E>& operands, const UnitPlan& plan, const Unit& unit, unsigned char* scratch) noexcept
      : operands_(operands),
        plan_(plan),
        unit_(unit),
        joins_rows_(plan.one_tap && unit.taps(0) == 1 && unit.rows.all_inside(unit.outputs) &&
                    unit.cols[0].axis.all_inside(unit.cols[0].outputs)),
        rows_(unit.outputs.end - unit.outputs.begin),
        columns_(unit.out_columns()),
        joined_(joins_rows_ ? rows_to_join(rows_, columns_) : 1),
        band_shape_(band_shape<Sum>(unit, unit.cols[0].outputs.end - unit.cols[0].outputs.begin)) {
    if (joins_rows_) band_shape_.channel_pitch = channel_pitch_of<Sum>(rows_ * columns_);
    Arena arena(scratch);
    for (int64_t i = 0; i < unit.phases; ++i) {
      Phase& phase = phases_[i];
      phase.outputs = unit.cols[i].outputs.end - unit.cols[i].outputs.begin;
      phase.tiles = ceil_div(phase.outputs * joined_, most_outputs);
      phase.tap_offsets = arena.take<int64_t>(unit.cols[i].axis.taps);
      phase.present = arena.take<uint32_t>(phase.tiles * unit.cols[i].axis.taps);
      phase.all_present = arena.take<unsigned char>(phase.tiles);
    }
    start_ = arena.take<Sum>(2 * N);
    band_ = arena.take<Sum>(plan.input_channels * band_shape_.channel_pitch);
    // A store reads up to a vector of outputs past the last.
    sums_ = arena.take<Sum>((kept_rows() * columns_ + N) * 2 * N);
  }

  void run() noexcept {
    int64_t taps = 0;
    for (int64_t i = 0; i < unit_.phases; ++i) {
      find_taps(unit_.cols[i], phases_[i]);
      taps += unit_.taps(i);
    }
    const int64_t Cin = taps == 0 ? 0 : operands_.filter.Cin_group;
    for (int64_t ci = 0; ci < Cin || ci == 0; ci += plan_.input_channels) {
      const int64_t channels = min_of(plan_.input_channels, Cin - ci);
      if (joins_rows_) {
        fill_tap(operands_, unit_.rows, unit_.cols[0].axis, {unit_.outputs, unit_.cols[0].outputs}, unit_.n,
                 unit_.group * Cin + ci, channels, band_, band_shape_.channel_pitch);
      } else {
        fill_band(operands_, band_shape_, unit_.rows, unit_.n, unit_.group * Cin + ci, channels, band_);
      }
      for (int64_t block = unit_.blocks.begin; block < unit_.blocks.end; ++block) {
        add_block(block, ci, channels, ci + channels >= Cin);
      }
    }
  }

 private:
  // What is the same for all rows and channels of a phase: its tiles of outputs, which taps each has, and where it
  // finds them.
  struct Phase {
    int64_t outputs, tiles;  // of a row; of the rows that are taken as one
    int64_t* tap_offsets;
    uint32_t* present;
    unsigned char* all_present;
  };

  void find_taps(const PhaseColumns& cols, Phase& phase) noexcept {
    if (joins_rows_) {
      phase.tap_offsets[0] = 0;
      for (int64_t tile = 0; tile < phase.tiles; ++tile) {
        phase.present[tile] = ~0u;
        phase.all_present[tile] = 1;
      }
      return;
    }
    const int64_t taps = cols.axis.taps, first = cols.outputs.begin;
    for (int64_t t = 0; t < taps; ++t) phase.tap_offsets[t] = band_shape_.tap_offset(cols.axis, first, t);
    for (int64_t tile = 0; tile < phase.tiles; ++tile) {
      const Range piece = piece_of(phase.outputs, phase.tiles, tile), here{first + piece.begin, first + piece.end};
      const auto below = [&](int64_t end) { return (1u << (end - here.begin)) - 1u; };
      phase.all_present[tile] = 1;
      for (int64_t t = 0; t < taps; ++t) {
        const Range with = cols.axis.outputs_inside(t, here);
        const uint32_t present = below(with.end) & ~below(with.begin);
        phase.present[tile * taps + t] = present;
        if (present != below(here.end)) phase.all_present[tile] = 0;
      }
    }
  }

  void add_block(int64_t block, int64_t ci, int64_t channels, bool last) noexcept {
    const Filter& filter = operands_.filter;
    const int64_t width = plan_.layout.width(filter, block), in_group = block * plan_.layout.wide;
    const int64_t co = unit_.group * filter.Cout_group + in_group;
    const int64_t count = min_of(width, filter.Cout_group - in_group);
    for (int64_t c = 0; c < width; ++c) start_[c] = c < count ? operands_.start(co + c) : Sum(0);
    const Sum* const weight = operands_.weight + plan_.layout.offset(filter, unit_.group, block);
    const auto& out = operands_.out;
    auto* const to = out.data + unit_.n * out.stride[0] + co * out.stride[1] + unit_.out_first() * out.stride[3];
    for (int64_t row = unit_.outputs.begin; row < unit_.outputs.end; row += joined_) {
      const int64_t rows = min_of(joined_, unit_.outputs.end - row);
      set_ahead(block, row);
      Sum* const sums = sums_of(block, row);
      for (int64_t i = 0; i < unit_.phases; ++i) {
        const int64_t taps = unit_.cols[i].taps_before * filter.Cin_group + ci * unit_.taps(i);
        add_rows(row, rows, unit_.cols[i].axis, phases_[i], weight + taps * width, width,
                 unit_.taps(i) == 0 ? 0 : channels, ci == 0, sums + i * width);
      }
      if (!last) continue;
      // Rows that run on into each other in `out` too are stored as one.
      const int64_t row_hop = unit_.rows.out_step * out.stride[2], column_hop = unit_.out_step() * out.stride[3];
      const int64_t stores = row_hop == columns_ * column_hop ? 1 : rows, columns = columns_ * rows / stores;
      for (int64_t i = 0; i < stores; ++i) {
        store_block<E>(sums + i * columns * width, width, columns, count,
                       to + unit_.rows.out_first * out.stride[2] + (row + i) * row_hop, column_hop, out.stride[1]);
      }
    }
  }

  // The first tile of a block brings the weights into the cache, the last one those of the next block.
  void set_ahead(int64_t block, int64_t row) noexcept {
    const bool fetches_block = row + joined_ >= unit_.outputs.end && block + 1 < unit_.blocks.end;
    ahead_first_ = row == unit_.outputs.begin ? fetch_distance / static_cast<int64_t>(sizeof(Sum)) : 0;
    ahead_last_ = fetches_block ? plan_.layout.offset(operands_.filter, 0, 1) : 0;
  }

  int64_t kept_rows() const noexcept {
    return plan_.keeps_sums ? (unit_.blocks.end - unit_.blocks.begin) * rows_ : joined_;
  }

  // One row of outputs, the phases' side by side as in `out`.
  Sum* sums_of(int64_t block, int64_t row) const noexcept {
    if (!plan_.keeps_sums) return sums_;
    return sums_ + ((block - unit_.blocks.begin) * rows_ + row - unit_.outputs.begin) * columns_ * 2 * N;
  }

  void add_rows(int64_t row, int64_t rows, const Axis& cols, const Phase& phase, const Sum* weight, int64_t width,
                int64_t channels, bool first, Sum* sums) noexcept {
    const Range present = unit_.rows.taps_inside(row);
    ChannelTile<Sum> tile{};
    tile.start = first ? start_ : nullptr;
    tile.sums_step = unit_.phases * width;
    tile.rows = present.end - present.begin;
    tile.channels = tile.rows > 0 ? channels : 0;
    tile.taps = cols.taps;
    tile.x_channel = band_shape_.channel_pitch;
    tile.x_row = unit_.rows.tap_to_in * band_shape_.row_pitch;
    tile.weight_row = tile.taps * width;
    tile.weight_channel = unit_.rows.taps * tile.weight_row;
    tile.weight = weight + present.begin * tile.weight_row;
    tile.x_tap = phase.tap_offsets;
    const int64_t band_row = tile.channels > 0 ? unit_.rows.input(row, present.begin) - band_shape_.row_begin : 0;
    const int64_t in_band = joins_rows_ ? (row - unit_.outputs.begin) * columns_ : band_row * band_shape_.row_pitch;
    const int64_t all_outputs = phase.outputs * rows, tiles = ceil_div(all_outputs, most_outputs);
    for (int64_t i = 0; i < tiles; ++i) {
      const Range piece = piece_of(all_outputs, tiles, i);
      tile.x = band_ + in_band + piece.begin;
      tile.sums = sums + piece.begin * tile.sums_step;
      tile.present = phase.present + i * tile.taps;
      tile.ahead = i == 0 ? ahead_first_ : 0;
      if (i + 1 == tiles && ahead_last_ != 0) tile.ahead = ahead_last_;
      const auto run = channel_tile_run(Sum(0), static_cast<int>(piece.end - piece.begin), static_cast<int>(width / N),
                                        tile.taps, phase.all_present[i] != 0);
      run(tile);
    }
  }

  const Operands<E>& operands_;
  const UnitPlan& plan_;
  const Unit& unit_;
  bool joins_rows_;         // one tap, which every output has: rows may be taken as one
  int64_t rows_, columns_;  // of outputs, all column phases
  int64_t joined_;          // rows that are taken as one
  BandShape band_shape_;
  Phase phases_[most_together];
  Sum* start_;
  Sum* band_;
  Sum* sums_;
  int64_t ahead_first_ = 0, ahead_last_ = 0;  // ChannelTile::ahead of the first and the last tile of a row
};

template <class E>
UnitPlan plan_of_channels(const Operands<E>& operands, int64_t threads) noexcept {
  using Sum = typename E::Sum;
  const ChannelsModel<Sum> model{largest_phase(operands, most_together)};
  return plan_units(operands, channels_layout<Sum>(), model, 16 * most_outputs, 1, threads);
}

template <class E>
int32_t convolve_channels(Operation operation, const convoke_call& call) noexcept {
  const Operands<E> operands(operation, call);
  if (operands.no_output()) return CONVOKE_OK;
  const UnitPlan plan = plan_of_channels(operands, call.threads);
  each_unit(call, plan.units, [&](int64_t index, unsigned char* scratch) noexcept {
    const Unit unit = plan.unit(operands, index);
    if (!unit.empty()) ChannelsUnit<E>(operands, plan, unit, scratch).run();
  });
  return CONVOKE_OK;
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// How an algorithm cuts its work into units: pieces of the output for the threads and the cache, input channels for
// the band. None of it changes a bit. Each algorithm has a model of what a cut takes and costs; the cut with the fewest
// cycles on the busiest worker is taken.
#ifndef CONVOKE_KERNELS_SIMD_UNIT_PLAN_H
#define CONVOKE_KERNELS_SIMD_UNIT_PLAN_H

#include "kernels/simd/arena.h"
#include "kernels/simd/band.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// Most column phases that a unit computes together, so that it writes neighbouring outputs at a time.
constexpr int64_t most_together = 8;

/// The columns of a unit in one of its phases.
struct PhaseColumns {
  Axis axis;
  Range outputs;        // as the phase counts them; maybe none
  int64_t taps_before;  // packed taps of the phases before, rows included
};

/// What one unit computes: a piece of one row phase of one image, for some blocks of channels of one group. Of the
/// column phases it takes one, or all.
struct Unit {
  int64_t n, group;
  Axis rows;
  Range outputs;  // rows, as the phase counts them
  int64_t phases;
  PhaseColumns cols[most_together];  // [phases]; the first has the most outputs
  Range blocks;

  bool empty() const noexcept { return outputs.begin >= outputs.end || cols[0].outputs.begin >= cols[0].outputs.end; }
  /// Taps of each output of a phase.
  int64_t taps(int64_t phase) const noexcept { return rows.taps * cols[phase].axis.taps; }

  /// Column of `out` where the unit begins, and from one of its outputs to the next, all phases counted.
  int64_t out_first() const noexcept { return cols[0].axis.out_first + cols[0].outputs.begin * cols[0].axis.out_step; }
  int64_t out_step() const noexcept { return phases > 1 ? 1 : cols[0].axis.out_step; }
  int64_t out_columns() const noexcept {
    int64_t count = 0;
    for (int64_t i = 0; i < phases; ++i) count += cols[i].outputs.end - cols[i].outputs.begin;
    return count;
  }
};

/// The index-th of `pieces` neighbouring parts of [0, count), cut at multiples of `grain`.
inline Range piece_of(int64_t count, int64_t pieces, int64_t index, int64_t grain = 1) noexcept {
  const int64_t grains = ceil_div(count, grain);
  return {min_of(index * grains / pieces * grain, count), min_of((index + 1) * grains / pieces * grain, count)};
}

struct UnitPlan {
  PackedLayout layout;
  int64_t row_phases, col_phases, together;  // column phases: in units of their own, and in one
  int64_t row_pieces, col_pieces, col_grain, block_parts, blocks;
  int64_t input_channels, units;
  bool one_tap;     // no output of a unit has a second one
  bool keeps_sums;  // input channels come in several bands, so all sums of a unit wait in scratch

  template <class E>
  Unit unit(const Operands<E>& operands, int64_t index) const noexcept {
    Unit unit{};
    const auto take = [&](int64_t count) {
      const int64_t digit = index % count;
      index /= count;
      return digit;
    };
    const Filter& filter = operands.filter;
    unit.blocks = piece_of(blocks, block_parts, take(block_parts));
    const int64_t col_piece = take(col_pieces), row_piece = take(row_pieces);
    const int64_t col_phase = take(col_phases), row_phase = take(row_phases);
    unit.group = take(filter.groups);
    unit.n = index;
    unit.rows = filter.axis(0, operands.x.size[2], operands.out.size[2], row_phase);
    unit.outputs = piece_of(unit.rows.outputs, row_pieces, row_piece);
    unit.phases = together;
    const int64_t most = filter.axis(1, operands.x.size[3], operands.out.size[3], 0).outputs;
    for (int64_t i = 0; i < together; ++i) {
      const Axis axis = filter.axis(1, operands.x.size[3], operands.out.size[3], col_phase + i);
      const Range piece = piece_of(together > 1 ? most : axis.outputs, col_pieces, col_piece, col_grain);
      unit.cols[i] = {axis,
                      {min_of(piece.begin, axis.outputs), min_of(piece.end, axis.outputs)},
                      taps_before(filter, row_phase, col_phase + i)};
    }
    return unit;
  }
};

/// The band of all phases of a unit. A row of it may be read for `columns` outputs of each.
template <class Sum>
BandShape band_shape(const Unit& unit, int64_t columns) noexcept {
  const auto& first = unit.cols[0];
  const int64_t slack = columns - (first.outputs.end - first.outputs.begin);
  BandShape band = band_shape<Sum>(unit.rows, first.axis, {unit.outputs, first.outputs}, slack);
  for (int64_t i = 1; i < unit.phases; ++i) {
    const int64_t begin = unit.cols[i].outputs.begin;
    if (begin < unit.cols[i].outputs.end) widen_band<Sum>(band, unit.cols[i].axis, {begin, begin + columns});
  }
  return band;
}

/// The largest phase of a call, and how many such a unit takes together: what the models reckon with.
struct LargestPhase {
  Axis rows, cols;
  int64_t Cin, together, spread;  // spread: columns of the band beyond those of an output, all phases together

  int64_t taps() const noexcept { return rows.taps * cols.taps; }
  /// Whether no output of a unit has a second tap.
  bool one_tap() const noexcept { return taps() == 1 && together == 1; }
  int64_t band_rows(int64_t R) const noexcept {
    return min_of(rows.in_size, (R - 1) * rows.out_to_in + (max_of(rows.taps, 1) - 1) * rows.tap_to_in + 1);
  }
  int64_t band_cols(int64_t C) const noexcept {
    if (together > 1) return C + spread;
    return (cols.taps <= 1 ? 1 : cols.out_to_in) * (C + (max_of(cols.taps, 1) - 1) * cols.tap_to_in / cols.out_to_in);
  }
};

/// `most`: column phases that the algorithm takes together; where there are more, each has units of its own.
template <class E>
LargestPhase largest_phase(const Operands<E>& operands, int64_t most) noexcept {
  const Filter& filter = operands.filter;
  const convoke_conv_params& p = filter.params;
  const int64_t phases = min_of(filter.phases(1), operands.out.size[3]);
  LargestPhase phase{filter.axis(0, operands.x.size[2], operands.out.size[2], 0),
                     filter.axis(1, operands.x.size[3], operands.out.size[3], 0), max_of(filter.Cin_group, 1),
                     phases <= most ? phases : 1,
                     ((filter.Kw - 1) * p.dilation[1] + p.stride[1] - 1) / p.stride[1] + 1};
  // Phases differ by a tap at most.
  phase.rows.taps = ceil_div(filter.Kh, filter.phases(0) / gcd(filter.phases(0), p.dilation[0]));
  phase.cols.taps = ceil_div(filter.Kw, filter.phases(1) / gcd(filter.phases(1), p.dilation[1]));
  return phase;
}

/// What a unit costs before its first sum, in cycles.
constexpr double unit_cycles = 500;

/// Searches the cuts into pieces of rows (of columns, where there is one row) and parts of the blocks of channels. A
/// Model has, for R rows, C columns and some blocks of channels in a unit: input_channels(R, C, blocks), bytes(R, C,
/// channels, blocks) of scratch, and cycles(R, C, channels, blocks).
template <class Model>
void search_cut(const Model& model, int64_t rows, int64_t cols, int64_t images, int64_t threads,
                UnitPlan& plan) noexcept {
  const int64_t grains = ceil_div(cols, plan.col_grain), col_pieces = plan.col_pieces;
  const int64_t first = rows > 1 ? 1 : col_pieces, last = rows > 1 ? rows : grains;
  double best = 0;
  for (int64_t pieces = first; pieces <= last; pieces = pieces < 8 ? pieces + 1 : pieces * 5 / 4) {
    const int64_t row_pieces = rows > 1 ? pieces : 1, R = ceil_div(rows, row_pieces);
    const int64_t C = ceil_div(grains, rows > 1 ? col_pieces : pieces) * plan.col_grain;
    for (int64_t parts = 1; parts <= plan.blocks; parts *= 2) {
      const int64_t blocks = ceil_div(plan.blocks, parts), channels = model.input_channels(R, C, blocks);
      if (model.bytes(R, C, channels, blocks) > worker_bytes) continue;
      const int64_t units = images * pieces * (rows > 1 ? col_pieces : 1) * parts;
      const double cost =
          static_cast<double>(ceil_div(units, threads)) * (unit_cycles + model.cycles(R, C, channels, blocks));
      if (plan.units != 0 && cost >= best) continue;
      best = cost;
      plan.row_pieces = row_pieces;
      plan.col_pieces = rows > 1 ? col_pieces : pieces;
      plan.block_parts = parts;
      plan.input_channels = channels;
      plan.units = units;
    }
  }
  if (plan.units != 0) return;
  const int64_t C = ceil_div(grains, col_pieces) * plan.col_grain;
  plan.row_pieces = rows;  // the contract's constraints leave room for this
  plan.block_parts = plan.blocks;
  plan.input_channels = model.input_channels(1, C, 1);
  plan.units = images * rows * col_pieces * plan.blocks;
}

/// The cut of a call whose columns are taken `widest` at a time, all phases together, or fewer where one row of them
/// would not fit.
template <class E, class Model>
UnitPlan plan_units(const Operands<E>& operands, const PackedLayout& layout, const Model& model, int64_t widest,
                    int64_t grain, int64_t threads) noexcept {
  const Filter& filter = operands.filter;
  UnitPlan plan{};
  plan.layout = layout;
  plan.row_phases = min_of(filter.phases(0), operands.out.size[2]);
  plan.together = model.phase.together;
  plan.col_phases = min_of(filter.phases(1), operands.out.size[3]) / plan.together;
  plan.blocks = layout.blocks(filter);
  plan.col_grain = grain;
  const int64_t rows = model.phase.rows.outputs, cols = model.phase.cols.outputs;
  const int64_t grains = ceil_div(cols, grain);
  plan.col_pieces = ceil_div(cols, round_up(ceil_div(widest, plan.together), grain));
  while (plan.col_pieces < grains && model.bytes(1, ceil_div(grains, plan.col_pieces) * grain, 1, 1) > worker_bytes) {
    plan.col_pieces = min_of(plan.col_pieces * 2, grains);
  }
  const int64_t images = operands.x.size[0] * filter.groups * plan.row_phases * plan.col_phases;
  search_cut(model, rows, cols, images, max_of(threads, 1), plan);
  plan.one_tap = model.phase.one_tap();
  plan.keeps_sums = plan.input_channels < model.phase.Cin;
  return plan;
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

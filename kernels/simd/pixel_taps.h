// SPDX-License-Identifier: Apache-2.0 OR MIT
// The taps of a row of outputs, of all column phases that a unit takes together: where each finds its inputs, which
// phases have it, and in which lanes. It is the same for all rows and channels.
#ifndef CONVOKE_KERNELS_SIMD_PIXEL_TAPS_H
#define CONVOKE_KERNELS_SIMD_PIXEL_TAPS_H

#include "kernels/simd/pixel_tile.h"
#include "kernels/simd/unit_plan.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

template <class Sum>
struct PixelTaps {
  static constexpr int64_t N = lanes<Sum>;
  int64_t most = 0, count = 0;           // taps of all phases; the different ones among them
  int64_t* offsets = nullptr;            // [count] in a row of the band, rising
  uint8_t* phases = nullptr;             // [count] bit p: phase p has the tap
  LaneMask* masks = nullptr;             // [vectors of a row][most]
  LaneMask* no_lanes = nullptr;          // [most]
  unsigned char* all_present = nullptr;  // [vectors of a row] every output has every tap

  void take(const Unit& unit, int64_t row_vectors, Arena& arena) noexcept {
    most = 0;
    for (int64_t p = 0; p < unit.phases; ++p) most += unit.cols[p].axis.taps;
    offsets = arena.take<int64_t>(most);
    phases = arena.take<uint8_t>(most);
    masks = arena.take<LaneMask>((row_vectors + 1) * most);
    no_lanes = masks + row_vectors * most;
    all_present = arena.take<unsigned char>(row_vectors);
  }

  /// `columns`: outputs of a row, of the phase that has the most.
  void find(const Unit& unit, const BandShape& band, int64_t columns) noexcept {
    for (int64_t v = 0; v * N < columns; ++v) all_present[v] = 1;
    for (int64_t t = 0; t < most; ++t) no_lanes[t] = {};
    int64_t next[most_phases] = {};
    for (count = 0;; ++count) {
      int64_t input = 0;
      uint8_t with = 0;
      for (int64_t p = 0; p < unit.phases; ++p) {
        const PhaseColumns& cols = unit.cols[p];
        if (next[p] == cols.axis.taps || cols.outputs.begin >= cols.outputs.end) continue;
        const int64_t at = cols.axis.input(cols.outputs.begin, next[p]);
        if (with == 0 || at < input) {
          input = at;
          with = 0;
        }
        if (at == input) with |= static_cast<uint8_t>(1u << p);
      }
      if (with == 0) return;
      for (int64_t p = 0; p < unit.phases; ++p) next[p] += with >> p & 1;
      offsets[count] = band.column_offset(input);
      phases[count] = with;
      mark_lanes(unit.cols[0].axis, input, columns);
    }
  }

 private:
  // The lanes of each vector that find their input for the tap being counted: output 0's lies at column `input`.
  void mark_lanes(const Axis& cols, int64_t input, int64_t columns) noexcept {
    for (int64_t v = 0; v * N < columns; ++v, input += N * cols.out_to_in) {
      const int64_t begin = input < 0 ? min_of(ceil_div(-input, cols.out_to_in), N) : 0;
      const int64_t end = input >= cols.in_size ? 0 : min_of((cols.in_size - 1 - input) / cols.out_to_in + 1, N);
      uint64_t bits = 0;
      for (int64_t lane = begin; lane < end; ++lane) bits |= uint64_t{1} << lane;
      for (int64_t i = 0; i < 8; ++i) masks[v * most + count].bits[i] = static_cast<uint8_t>(bits >> 8 * i);
      // Lanes past the last output may count what they like: they are not stored.
      if (begin > 0 || end < min_of(columns - v * N, N)) all_present[v] = 0;
    }
  }
};

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The runs of pixel_tile.h over several column phases of a transposed convolution, for one type of sum. The phases read
// the same inputs, each with the taps it has: an input is loaded once for all of them, and they share a tap's mask.
#ifndef CONVOKE_KERNELS_SIMD_PHASE_TILE_RUNS_H
#define CONVOKE_KERNELS_SIMD_PHASE_TILE_RUNS_H

#include "kernels/simd/pixel_tile.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// Vectors of inputs whose sums, of each phase and channel, fit beside them, their masks and a weight; 0: not one.
constexpr int vectors_of_phases(int phases, int channels) noexcept {
  const int each = phases * channels + (has_mask_registers ? 1 : 2), fitting = (registers - 2) / each;
  return fitting < most_vectors ? fitting : most_vectors;
}

/// Where the vectors of a tile find one row of inputs, and its masks. Where a vector lacks the row, they are those of
/// no lane, and of inputs that are not looked at.
template <class T, int NR>
struct PhaseRow {
  const T* x[NR];
  const LaneMask* taps[NR];

  HWY_INLINE PhaseRow(const PixelTile<T>& tile, int64_t offset, int64_t row) noexcept {
    CONVOKE_UNROLL
    for (int v = 0; v < NR; ++v) {
      const PixelVector& vector = tile.vector[v];
      const bool inside = row >= vector.row_begin && row < vector.row_end;
      x[v] = inside ? tile.x + vector.x + offset : tile.x;
      taps[v] = inside ? vector.taps : tile.no_lanes;
    }
  }
};

/// Adds one tap of an input row to the phases that have it, in the lanes that have it.
template <class T, int P, int MR, int NR>
HWY_INLINE void add_to_phases(Vector<T> (&sums)[P][MR][NR], const PhaseRow<T, NR>& from, unsigned phases, int64_t tap,
                              int64_t offset, const T* (&weight)[P]) noexcept {
  const Tag<T> d;
  Vector<T> input[NR];
  hn::Mask<Tag<T>> present[NR];
  CONVOKE_UNROLL
  for (int v = 0; v < NR; ++v) {
    input[v] = hn::LoadU(d, from.x[v] + offset);
    present[v] = hn::LoadMaskBits(d, from.taps[v][tap].bits);
  }
  CONVOKE_UNROLL
  for (int p = 0; p < P; ++p) {
    if ((phases >> p & 1u) == 0) continue;
    CONVOKE_UNROLL
    for (int m = 0; m < MR; ++m) {
      const Vector<T> w = hn::Set(d, weight[p][m]);
      CONVOKE_UNROLL
      for (int v = 0; v < NR; ++v) {
        sums[p][m][v] = hn::IfThenElse(present[v], hn::MulAdd(w, input[v], sums[p][m][v]), sums[p][m][v]);
      }
      CONVOKE_TAP_FENCE();
    }
    weight[p] += MR;
  }
}

template <class T, int P, int MR, int NR>
HWY_NOINLINE void run_phases(const PixelTile<T>& tile) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  Vector<T> sums[P][MR][NR];
  const T* weight[P];
  CONVOKE_UNROLL
  for (int p = 0; p < P; ++p) {
    weight[p] = tile.phase_weight[p];
    CONVOKE_UNROLL
    for (int m = 0; m < MR; ++m) {
      CONVOKE_UNROLL
      for (int v = 0; v < NR; ++v) {
        sums[p][m][v] =
            tile.start != nullptr ? hn::Set(d, tile.start[m]) : hn::LoadU(d, tile.sums + ((p * MR + m) * NR + v) * N);
      }
    }
  }
  for (int64_t ci = 0; ci < tile.channels; ++ci) {
    for (int64_t row = 0; row < tile.rows; ++row) {
      const PhaseRow<T, NR> from(tile, ci * tile.x_channel + row * tile.x_row, row);
      for (int64_t t = 0; t < tile.taps; ++t) {
        add_to_phases<T, P, MR, NR>(sums, from, tile.phases_of_tap[t], t, tile.x_tap[t], weight);
      }
    }
  }
  CONVOKE_UNROLL
  for (int p = 0; p < P; ++p) {
    CONVOKE_UNROLL
    for (int m = 0; m < MR; ++m) {
      CONVOKE_UNROLL
      for (int v = 0; v < NR; ++v) hn::StoreU(sums[p][m][v], d, tile.sums + ((p * MR + m) * NR + v) * N);
    }
  }
}

template <class T, int P, int MR, int NR = vectors_of_phases(P, MR)>
PixelTileRun<T> pick_vectors(int vectors) noexcept {
  if constexpr (NR == 0) {
    return nullptr;
  } else {
    if (vectors < NR) return pick_vectors<T, P, MR, NR - 1>(vectors);
    return run_phases<T, P, MR, NR>;
  }
}

template <class T, int P>
PixelTileRun<T> pick_channels(int channels, int vectors) noexcept {
  if (channels == 8) return pick_vectors<T, P, 8>(vectors);
  if (channels == 4) return pick_vectors<T, P, 4>(vectors);
  if (channels == 3) return pick_vectors<T, P, 3>(vectors);
  if (channels == 2) return pick_vectors<T, P, 2>(vectors);
  return pick_vectors<T, P, 1>(vectors);
}

template <class T>
PixelTileRun<T> pick_phase_run(int phases, int channels, int vectors) noexcept {
  if (phases == 4) return pick_channels<T, 4>(channels, vectors);
  if (phases == 3) return pick_channels<T, 3>(channels, vectors);
  return pick_channels<T, 2>(channels, vectors);
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

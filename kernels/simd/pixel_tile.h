// SPDX-License-Identifier: Apache-2.0 OR MIT
// sums[c, v] = fma(weight[tap, c], x[v + tap], sums[c, v]) for all taps in order: MR output channels by NR vectors of
// neighbouring outputs, all in registers. A weight is broadcast once for NR vectors, a vector of inputs is loaded once
// for MR channels; every lane is one chain of the law.
#ifndef CONVOKE_KERNELS_SIMD_PIXEL_TILE_H
#define CONVOKE_KERNELS_SIMD_PIXEL_TILE_H

#include "kernels/simd/axis.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

constexpr int most_vectors = 4;
constexpr int most_copying_vectors = 3;  // more pointers than that do not fit the registers
constexpr int most_phases = 4;           // column phases of a tile, which are stored interleaved

/// The lanes of a vector that have some tap, a bit each, as Highway reads masks.
struct LaneMask {
  uint8_t bits[8];
};

/// One vector of outputs: a piece of a row.
struct PixelVector {
  int64_t x;                   // offset in the band of the first lane's input at tap row 0, column offset not included
  int64_t row_begin, row_end;  // tap rows inside the input
  const LaneMask* taps;        // [taps]
};

/// One run of a tile over `channels` input channels. Strides and offsets in elements.
template <class T>
struct PixelTile {
  const T* x;       // the band at the first input channel
  const T* weight;  // [channels][rows][taps][MR]
  T* sums;          // [MR][NR][lanes]
  const T* start;   // [MR], what the chains begin with; null: go on from `sums`
  int64_t channels, rows, taps;
  int64_t x_channel, x_row;
  const int64_t* x_tap;  // [taps]
  PixelVector vector[most_vectors];
  T* const* out;  // [NR], where the sums of channel 0 go in the end; null: to `sums`
  int64_t out_channel;
  // A single tap only: read vector v of channel ci at source[v] + ci * source_channel and leave it in the band, for the
  // tiles that follow; null: it is there.
  const T* const* source;
  int64_t source_channel;
  // Several column phases only. Their sums are [phase][MR][NR][lanes], their weights lie apart, and `taps` counts the
  // taps that any has, in the order of the input: bit p of phases_of_tap[t] says that phase p has tap t.
  const T* phase_weight[most_phases];
  const uint8_t* phases_of_tap;
  const LaneMask* no_lanes;  // [taps] of a vector that lacks the row
};

template <class T>
using PixelTileRun = void (*)(const PixelTile<T>&);

/// Most vectors of a tile of `channels` channels: 1, 2, 3, 4, or 8 where there are 32 registers.
int pixel_tile_vectors(int channels) noexcept;
/// How a tile goes over its taps.
enum class PixelWalk {
  masked,  ///< lanes lack taps
  all,     ///< every lane has every tap
  single,  ///< the same, and there is one
  copying  ///< the same, and `source` is set
};

/// The run for `channels` output channels and `vectors` vectors.
PixelTileRun<float> pixel_tile_run(float, int channels, int vectors, PixelWalk walk) noexcept;
PixelTileRun<double> pixel_tile_run(double, int channels, int vectors, PixelWalk walk) noexcept;

/// The same of a tile of two to most_phases column phases. The vectors may be none: then there is no such tile.
int phase_tile_vectors(int phases, int channels) noexcept;
PixelTileRun<float> phase_tile_run(float, int phases, int channels, int vectors) noexcept;
PixelTileRun<double> phase_tile_run(double, int phases, int channels, int vectors) noexcept;

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

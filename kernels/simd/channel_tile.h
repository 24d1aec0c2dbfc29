// SPDX-License-Identifier: Apache-2.0 OR MIT
// sums[p, c] = fma(x[p + tap], weight[tap, c], sums[p, c]) for all taps in order: P neighbouring outputs of a row by CV
// vectors of output channels, all in registers. A vector of weights is loaded once for P outputs, an input is broadcast
// once for CV vectors; every lane is one chain of the law.
#ifndef CONVOKE_KERNELS_SIMD_CHANNEL_TILE_H
#define CONVOKE_KERNELS_SIMD_CHANNEL_TILE_H

#include "kernels/simd/vector.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

/// Widest tile in outputs: with two vectors of channels, two of weights and one input it fills the registers.
constexpr int most_outputs = registers == 32 ? 14 : 6;

/// How far before a weight is used it is fetched, in bytes: long enough for it to come from memory, and beyond the
/// page, where the machine's own fetching ahead ends.
constexpr int64_t fetch_distance = 4096;

/// One run of a tile over `channels` input channels. Strides and offsets in elements.
template <class T>
struct ChannelTile {
  const T* x;       // input of output 0 at the first tap row, column offset not included
  const T* weight;  // of the first tap
  T* sums;          // [outputs][CV * lanes], `sums_step` from one output to the next
  const T* start;   // [CV * lanes], what the chains begin with; null: go on from `sums`
  int64_t sums_step;
  int64_t channels, rows, taps;  // input channels; tap rows; taps of a row
  int64_t x_channel, x_row;      // from one to the next
  int64_t weight_channel, weight_row;
  int64_t ahead;            // from a weight to the one to fetch meanwhile; 0: none
  const int64_t* x_tap;     // [taps]
  const uint32_t* present;  // [taps]: bit p says that the tap exists for output p; null: all do
};

template <class T>
using ChannelTileRun = void (*)(const ChannelTile<T>&);

/// The run for `outputs` outputs and `vectors` vectors of channels.
ChannelTileRun<float> channel_tile_run(float, int outputs, int vectors, int64_t taps, bool all_present) noexcept;
ChannelTileRun<double> channel_tile_run(double, int outputs, int vectors, int64_t taps, bool all_present) noexcept;

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

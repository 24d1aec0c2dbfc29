// SPDX-License-Identifier: Apache-2.0 OR MIT
// The runs of channel_tile.h, for one type of sum.
#ifndef CONVOKE_KERNELS_SIMD_CHANNEL_TILE_RUNS_H
#define CONVOKE_KERNELS_SIMD_CHANNEL_TILE_RUNS_H

#include "kernels/simd/channel_tile.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// Adds one tap to the tile. Without Masked every output has it.
template <class T, int P, int CV, bool Masked>
HWY_INLINE void add_tap(Vector<T> (&sums)[P][CV], const T* HWY_RESTRICT x, const T* HWY_RESTRICT weight,
                        uint32_t present) noexcept {
  const Tag<T> d;
  Vector<T> w[CV];
  CONVOKE_UNROLL
  for (int c = 0; c < CV; ++c) w[c] = hn::LoadU(d, weight + c * lanes<T>);
  CONVOKE_UNROLL
  for (int p = 0; p < P; ++p) {
    // A branch, not a select: an absent tap must not count, and the pattern is the same for every channel.
    if (Masked && (present >> p & 1u) == 0) continue;
    const Vector<T> input = hn::Set(d, x[p]);
    CONVOKE_UNROLL
    for (int c = 0; c < CV; ++c) sums[p][c] = hn::MulAdd(input, w[c], sums[p][c]);
  }
  CONVOKE_TAP_FENCE();
}

template <class T, int Count>
HWY_INLINE void fetch(const T* weights) noexcept {
  CONVOKE_UNROLL
  for (int i = 0; i < Count; i += line<T>) __builtin_prefetch(weights + i);
}

/// Taps: how many a row has, all of them present; 0: as the tile says, with its masks.
template <class T, int P, int CV, int Taps>
HWY_NOINLINE void run_tile(const ChannelTile<T>& tile) {
  const Tag<T> d;
  Vector<T> sums[P][CV];
  const T* const from = tile.start != nullptr ? tile.start : tile.sums;
  const int64_t step = tile.start != nullptr ? 0 : tile.sums_step;
  CONVOKE_UNROLL
  for (int p = 0; p < P; ++p) {
    CONVOKE_UNROLL
    for (int c = 0; c < CV; ++c) sums[p][c] = hn::LoadU(d, from + p * step + c * lanes<T>);
  }
  int64_t offset[Taps > 0 ? Taps : 1];
  for (int t = 0; t < Taps; ++t) offset[t] = tile.x_tap[t];
  const T* x_channel = tile.x;
  const T* w_channel = tile.weight;
  for (int64_t ci = tile.channels; ci > 0; --ci) {
    const T* x = x_channel;
    const T* weight = w_channel;
    for (int64_t row = tile.rows; row > 0; --row) {
      if constexpr (Taps > 0) {
        if (tile.ahead != 0) fetch<T, Taps * CV * lanes<T>>(weight + tile.ahead);
        CONVOKE_UNROLL
        for (int t = 0; t < Taps; ++t) {
          add_tap<T, P, CV, false>(sums, x + offset[t], weight + t * CV * lanes<T>, ~0u);
        }
      } else {
        for (int64_t t = 0; t < tile.taps; ++t) {
          if (tile.present[t] == 0) continue;
          const T* const tap = weight + t * CV * lanes<T>;
          if (tile.ahead != 0) fetch<T, CV * lanes<T>>(tap + tile.ahead);
          add_tap<T, P, CV, true>(sums, x + tile.x_tap[t], tap, tile.present[t]);
        }
      }
      x += tile.x_row;
      weight += tile.weight_row;
    }
    x_channel += tile.x_channel;
    w_channel += tile.weight_channel;
  }
  CONVOKE_UNROLL
  for (int p = 0; p < P; ++p) {
    CONVOKE_UNROLL
    for (int c = 0; c < CV; ++c) hn::StoreU(sums[p][c], d, tile.sums + p * tile.sums_step + c * lanes<T>);
  }
}

template <class T, int P>
ChannelTileRun<T> pick_run(int outputs, int vectors, int64_t taps, bool all_present) noexcept {
  if (outputs < P) {
    if constexpr (P > 1) return pick_run<T, P - 1>(outputs, vectors, taps, all_present);
  }
  if (vectors == 1) return run_tile<T, P, 1, 0>;
  if (all_present && taps == 1) return run_tile<T, P, 2, 1>;
  if (all_present && taps == 2) return run_tile<T, P, 2, 2>;
  if (all_present && taps == 3) return run_tile<T, P, 2, 3>;
  return run_tile<T, P, 2, 0>;
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

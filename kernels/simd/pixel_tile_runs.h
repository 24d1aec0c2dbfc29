// SPDX-License-Identifier: Apache-2.0 OR MIT
// The runs of pixel_tile.h, for one type of sum.
#ifndef CONVOKE_KERNELS_SIMD_PIXEL_TILE_RUNS_H
#define CONVOKE_KERNELS_SIMD_PIXEL_TILE_RUNS_H

#include "kernels/simd/pixel_tile.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// Sums of MR channels that fit beside NR inputs and a weight.
constexpr int vectors_of(int channels) noexcept {
  if (registers == 32) return channels == 8 ? 3 : 4;
  return channels >= 3 ? 3 : 4;
}

/// Adds one tap that every lane of every vector has.
template <class T, int MR, int NR>
HWY_INLINE void add_full(Vector<T> (&sums)[MR][NR], const T* const (&x)[NR], int64_t offset,
                         const T* HWY_RESTRICT weight) noexcept {
  const Tag<T> d;
  Vector<T> input[NR];
  CONVOKE_UNROLL
  for (int v = 0; v < NR; ++v) input[v] = hn::LoadU(d, x[v] + offset);
  CONVOKE_UNROLL
  for (int m = 0; m < MR; ++m) {
    const Vector<T> w = hn::Set(d, weight[m]);
    CONVOKE_UNROLL
    for (int v = 0; v < NR; ++v) sums[m][v] = hn::MulAdd(w, input[v], sums[m][v]);
    CONVOKE_TAP_FENCE();
  }
}

/// Adds one tap to the lanes that have it.
template <class T, int MR, int NR>
HWY_INLINE void add_present(Vector<T> (&sums)[MR][NR], const T* const (&x)[NR], int64_t offset,
                            const T* HWY_RESTRICT weight, const PixelVector* vectors, int64_t row,
                            int64_t tap) noexcept {
  const Tag<T> d;
  CONVOKE_UNROLL
  for (int v = 0; v < NR; ++v) {
    if (row < vectors[v].row_begin || row >= vectors[v].row_end) continue;
    const auto present = hn::LoadMaskBits(d, vectors[v].taps[tap].bits);
    const Vector<T> input = hn::LoadU(d, x[v] + offset);
    CONVOKE_UNROLL
    for (int m = 0; m < MR; ++m) {
      sums[m][v] = hn::IfThenElse(present, hn::MulAdd(hn::Set(d, weight[m]), input, sums[m][v]), sums[m][v]);
    }
    CONVOKE_TAP_FENCE();
  }
}

/// Adds the single tap of every input channel.
template <class T, int MR, int NR, bool Copying>
HWY_INLINE void add_single(Vector<T> (&sums)[MR][NR], const PixelTile<T>& tile) noexcept {
  const Tag<T> d;
  const T* HWY_RESTRICT weight = tile.weight;
  T* x = const_cast<T*>(tile.x) + tile.vector[0].x + tile.x_tap[0];
  const T* source[NR];
  CONVOKE_UNROLL
  for (int v = 0; v < NR; ++v) source[v] = Copying ? tile.source[v] : x + v * lanes<T>;
  const int64_t source_step = Copying ? tile.source_channel : tile.x_channel;
  const auto add = [&](int u) HWY_ATTR {
    Vector<T> input[NR];
    CONVOKE_UNROLL
    for (int v = 0; v < NR; ++v) {
      input[v] = hn::LoadU(d, source[v]);
      source[v] += source_step;
      if constexpr (Copying) hn::StoreU(input[v], d, x + v * lanes<T>);
    }
    x += tile.x_channel;
    CONVOKE_UNROLL
    for (int m = 0; m < MR; ++m) {
      const Vector<T> w = hn::Set(d, weight[u * MR + m]);
      CONVOKE_UNROLL
      for (int v = 0; v < NR; ++v) sums[m][v] = hn::MulAdd(w, input[v], sums[m][v]);
      CONVOKE_TAP_FENCE();
    }
  };
  int64_t ci = tile.channels;
  for (; ci >= 4; ci -= 4) {
    CONVOKE_UNROLL
    for (int u = 0; u < 4; ++u) add(u);
    weight += 4 * MR;
  }
  for (; ci > 0; --ci, weight += MR) add(0);
}

template <class T, int MR, int NR, PixelWalk Walk>
HWY_INLINE void add_taps(Vector<T> (&sums)[MR][NR], const PixelTile<T>& tile) noexcept {
  const T* x[NR];
  CONVOKE_UNROLL
  for (int v = 0; v < NR; ++v) x[v] = tile.x + tile.vector[v].x;
  const T* weight = tile.weight;
  for (int64_t ci = 0; ci < tile.channels; ++ci) {
    int64_t row_offset = ci * tile.x_channel;
    for (int64_t row = 0; row < tile.rows; ++row) {
      for (int64_t t = 0; t < tile.taps; ++t) {
        if constexpr (Walk == PixelWalk::all) {
          add_full<T, MR, NR>(sums, x, row_offset + tile.x_tap[t], weight);
        } else {
          add_present<T, MR, NR>(sums, x, row_offset + tile.x_tap[t], weight, tile.vector, row, t);
        }
        weight += MR;
      }
      row_offset += tile.x_row;
    }
  }
}

template <class T, int MR, int NR, PixelWalk Walk>
HWY_NOINLINE void run_pixels(const PixelTile<T>& tile) {
  const Tag<T> d;
  constexpr int N = lanes<T>;
  Vector<T> sums[MR][NR];
  CONVOKE_UNROLL
  for (int m = 0; m < MR; ++m) {
    CONVOKE_UNROLL
    for (int v = 0; v < NR; ++v) {
      sums[m][v] = tile.start != nullptr ? hn::Set(d, tile.start[m]) : hn::LoadU(d, tile.sums + (m * NR + v) * N);
    }
  }
  if constexpr (Walk == PixelWalk::single || Walk == PixelWalk::copying) {
    add_single<T, MR, NR, Walk == PixelWalk::copying>(sums, tile);
  } else {
    add_taps<T, MR, NR, Walk>(sums, tile);
  }
  CONVOKE_UNROLL
  for (int v = 0; v < NR; ++v) {
    T* const to = tile.out != nullptr ? tile.out[v] : tile.sums + v * N;
    const int64_t step = tile.out != nullptr ? tile.out_channel : NR * N;
    CONVOKE_UNROLL
    for (int m = 0; m < MR; ++m) hn::StoreU(sums[m][v], d, to + m * step);
  }
}

template <class T, int MR, int NR>
PixelTileRun<T> pick_pixels(int vectors, PixelWalk walk) noexcept {
  if (vectors < NR) {
    if constexpr (NR > 1) return pick_pixels<T, MR, NR - 1>(vectors, walk);
  }
  switch (walk) {
    case PixelWalk::all:
      return run_pixels<T, MR, NR, PixelWalk::all>;
    case PixelWalk::single:
      return run_pixels<T, MR, NR, PixelWalk::single>;
    case PixelWalk::copying:
      if constexpr (NR <= most_copying_vectors) return run_pixels<T, MR, NR, PixelWalk::copying>;
      break;
    case PixelWalk::masked:
      break;
  }
  return run_pixels<T, MR, NR, PixelWalk::masked>;
}

template <class T>
PixelTileRun<T> pick_pixel_run(int channels, int vectors, PixelWalk walk) noexcept {
  if constexpr (registers == 32) {
    if (channels == 8) return pick_pixels<T, 8, vectors_of(8)>(vectors, walk);
  }
  if (channels == 4) return pick_pixels<T, 4, vectors_of(4)>(vectors, walk);
  if (channels == 3) return pick_pixels<T, 3, vectors_of(3)>(vectors, walk);
  if (channels == 2) return pick_pixels<T, 2, vectors_of(2)>(vectors, walk);
  return pick_pixels<T, 1, vectors_of(1)>(vectors, walk);
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

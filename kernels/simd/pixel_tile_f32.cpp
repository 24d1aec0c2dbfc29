// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "kernels/simd/pixel_tile_runs.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

int pixel_tile_vectors(int channels) noexcept { return vectors_of(channels); }

PixelTileRun<float> pixel_tile_run(float, int channels, int vectors, PixelWalk walk) noexcept {
  return pick_pixel_run<float>(channels, vectors, walk);
}

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

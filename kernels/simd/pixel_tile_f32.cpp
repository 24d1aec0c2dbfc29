// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "kernels/simd/phase_tile_runs.h"
#include "kernels/simd/pixel_tile_runs.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

int pixel_tile_vectors(int channels) noexcept { return vectors_of(channels); }
int phase_tile_vectors(int phases, int channels) noexcept { return vectors_of_phases(phases, channels); }

PixelTileRun<float> pixel_tile_run(float, int channels, int vectors, PixelWalk walk) noexcept {
  return pick_pixel_run<float>(channels, vectors, walk);
}

PixelTileRun<float> phase_tile_run(float, int phases, int channels, int vectors) noexcept {
  return pick_phase_run<float>(phases, channels, vectors);
}

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "kernels/simd/phase_tile_runs.h"
#include "kernels/simd/pixel_tile_runs.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

PixelTileRun<double> pixel_tile_run(double, int channels, int vectors, PixelWalk walk) noexcept {
  return pick_pixel_run<double>(channels, vectors, walk);
}

PixelTileRun<double> phase_tile_run(double, int phases, int channels, int vectors) noexcept {
  return pick_phase_run<double>(phases, channels, vectors);
}

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

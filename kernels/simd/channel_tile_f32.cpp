// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "kernels/simd/channel_tile_runs.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

ChannelTileRun<float> channel_tile_run(float, int outputs, int vectors, int64_t taps, bool all_present) noexcept {
  return pick_run<float, most_outputs>(outputs, vectors, taps, all_present);
}

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

// SPDX-License-Identifier: Apache-2.0 OR MIT
// How lanes over pixels cut their work: planes as one row where that is possible, and what a cut costs.
#ifndef CONVOKE_KERNELS_SIMD_PIXELS_PLAN_H
#define CONVOKE_KERNELS_SIMD_PIXELS_PLAN_H

#include "kernels/simd/pixel_tile.h"
#include "kernels/simd/unit_plan.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// Takes each plane as one row where that changes nothing: one tap, no padding, no stride.
template <class E>
void join_rows(Operands<E>& operands) noexcept {
  const convoke_conv_params& p = operands.filter.params;
  if (operands.filter.Kh != 1 || operands.filter.Kw != 1 || p.stride[0] != 1 || p.stride[1] != 1) return;
  if (p.padding[0] != 0 || p.padding[1] != 0) return;
  auto& x = operands.x;
  auto& out = operands.out;
  if (x.size[2] != out.size[2] || x.size[3] != out.size[3]) return;  // padding at the end
  const auto joins = [](const auto& view) {
    return view.size[2] == 1 || view.size[3] == 1 || view.stride[2] == view.size[3] * view.stride[3];
  };
  if (!joins(x) || !joins(out)) return;
  const auto join = [](auto& view) {
    if (view.size[3] == 1) view.stride[3] = view.stride[2];
    view.size[3] *= view.size[2];
    view.size[2] = 1;
  };
  join(x);
  join(out);
}

static_assert(most_phases <= most_interleaved && most_phases <= most_together);

/// Column phases that a tile of `wide` channels takes together.
inline int64_t phases_together(const Filter& filter, int64_t wide) noexcept {
  const int64_t phases = filter.phases(1);
  if (phases == 1 || phases > most_phases) return 1;
  return phase_tile_vectors(static_cast<int>(phases), static_cast<int>(wide)) > 0 ? phases : 1;
}

/// Vectors of each phase in a tile.
inline int64_t tile_vectors(int64_t phases, int64_t wide) noexcept {
  return phases > 1 ? phase_tile_vectors(static_cast<int>(phases), static_cast<int>(wide))
                    : pixel_tile_vectors(static_cast<int>(wide));
}

/// Where one vector's inputs come from and go to.
struct VectorCopy {
  RowCopy row;
  int64_t from, to;
  int64_t pitch;  // from one channel to the next, where it goes to
};

/// What a vector of outputs is for every block of channels.
struct VectorPlace {
  PixelVector inputs;
  int64_t out;  // offset of its first output in channel 0, or of the first of all phases together
  bool is_whole, has_all_taps;
};

/// Counts cycles: half a multiply-add for each vector and channel of a tap, and as much again for what is not hidden
/// where few channels share an input; an element of the band a quarter. Set and checked as ChannelsModel is.
template <class Sum>
struct PixelsModel {
  static constexpr int64_t N = lanes<Sum>;
  LargestPhase phase;
  int64_t width;  // channels of a block

  int64_t vectors(int64_t R, int64_t C) const noexcept { return R * ceil_div(C, N); }
  /// The larger of what a phase with one tap gathers and what one with more takes: a call may have both.
  int64_t band_bytes(int64_t R, int64_t C, int64_t channels) const noexcept {
    const int64_t gathered = vectors(R, C) * N;
    const int64_t band =
        phase.one_tap() ? 0 : channel_pitch_of<Sum>(phase.band_rows(R) * phase.band_cols(round_up(C, N)));
    return arena_bytes<Sum>(channels * max_of(gathered, band));
  }
  int64_t bytes(int64_t R, int64_t C, int64_t channels, int64_t blocks) const noexcept {
    const int64_t kept = channels < phase.Cin ? vectors(R, C) * blocks : most_vectors;
    const int64_t taps = phase.together * phase.cols.taps;
    return arena_bytes<int64_t>(taps) + arena_bytes<char>(taps) + arena_bytes<LaneMask>((ceil_div(C, N) + 1) * taps) +
           arena_bytes<char>(ceil_div(C, N)) + arena_bytes<Sum>(width) + arena_bytes<int64_t>(vectors(R, C) + 1) +
           arena_bytes<VectorPlace>(vectors(R, C)) + arena_bytes<VectorCopy>(vectors(R, C)) +
           band_bytes(R, C, channels) + arena_bytes<Sum>(kept * width * N * phase.together);
  }
  /// With one tap, as many as leave the inputs of a tile in the first cache while the weights pass.
  int64_t input_channels(int64_t R, int64_t C, int64_t blocks) const noexcept {
    const int64_t most = phase.one_tap() ? 96 * 1024 / (most_vectors * N * static_cast<int64_t>(sizeof(Sum))) : 256;
    const auto fits = [&](int64_t channels) {
      return band_bytes(R, C, channels) <= core_cache_bytes() / 2 && bytes(R, C, channels, blocks) <= worker_bytes;
    };
    if (phase.Cin <= 2 * most && fits(phase.Cin)) return phase.Cin;
    int64_t channels = ceil_div(phase.Cin, ceil_div(phase.Cin, most));
    while (channels > 1 && !fits(channels)) channels = ceil_div(channels, 2);
    return channels;
  }
  double cycles(int64_t R, int64_t C, int64_t channels, int64_t blocks) const noexcept {
    const auto tiles = static_cast<double>(vectors(R, C) * blocks * phase.together);
    const double tap = 0.5 * static_cast<double>(width + 1);
    const double spills = static_cast<double>(2 * width * (ceil_div(phase.Cin, channels) - 1)) * tiles;
    const double band =
        static_cast<double>(phase.Cin * phase.band_rows(R)) * (0.25 * static_cast<double>(phase.band_cols(C)) + 8);
    return static_cast<double>(phase.taps() * phase.Cin) * tap * tiles + spills + band +
           static_cast<double>(phase.taps() * phase.Cin * blocks * width * phase.together) / 8;
  }
};

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// out[n, co, oh, ow] = bias[co] + sum over ci, hi, wi, in that order, of
//     x[n, g * Cin/groups + ci, hi, wi] * weight[g * Cin/groups + ci, co % (Cout/groups), kh, kw]
// with g = co / (Cout/groups), over the (kh, kw) for which hi * sh + kh * dh - ph = oh and wi * sw + kw * dw - pw = ow;
// one fused multiply-add a tap. Contract: conv.fkc.md, conv_transpose2d_{f32,f64,bf16,f16}.
//
// The outputs of one phase, those with equal oh mod sh and equal ow mod sw, take the same (kh, kw), and from one of
// them to the next hi (or wi) grows by one. So a phase is an ordinary convolution of stride 1 over every sh-th row and
// sw-th column of `out`. hi falls as kh rises: input order is kh and kw descending.
#include "kernels/portable/convolution.h"
#include "kernels/portable/kernels.h"

namespace convoke::portable::CONVOKE_PORTABLE_ISA {
namespace {

template <class E>
void add_taps(Tile<E>& tile, const Operands<E>& operands, const Unit& unit) noexcept {
  const convoke_conv_params& p = operands.params;
  for (int64_t i = 0; i < operands.Cin_group; ++i) {
    const int64_t ci = unit.group * operands.Cin_group + i;
    const auto plane = operands.x_plane(unit.n, ci);
    for (int64_t kh = operands.weight.size[2] - 1; kh >= 0; --kh) {
      const int64_t from_h = tile.rows.out_first + p.padding[0] - kh * p.dilation[0];
      if (from_h % p.stride[0] != 0) continue;  // a tap of another phase
      Tap tap{};
      tap.first_h = from_h / p.stride[0];
      tap.rows = outputs_inside(tile.rows, tap.first_h, plane.size[0]);
      if (tap.rows.begin >= tap.rows.end) continue;
      for (int64_t kw = operands.weight.size[3] - 1; kw >= 0; --kw) {
        const int64_t from_w = tile.cols.out_first + p.padding[1] - kw * p.dilation[1];
        if (from_w % p.stride[1] != 0) continue;
        tap.first_w = from_w / p.stride[1];
        tap.cols = outputs_inside(tile.cols, tap.first_w, plane.size[1]);
        const Presence presence = tile.fetch(plane, tap);
        if (presence == Presence::none) continue;
        tile.add(presence, operands.weight_at(ci, unit.first_channel, kh, kw), operands.weight.stride[1]);
      }
    }
  }
}

/// The outputs of one axis that lie at `phase`, `phase` + stride, ... below `size`.
inline Axis phase_axis(int64_t size, int64_t stride, int64_t phase) noexcept {
  return {ceil_div(size - phase, stride), phase, stride, 1};
}

template <class E>
int32_t conv_transpose2d(const convoke_call* call) noexcept {
  const Operands<E> operands(*call);
  if (operands.no_output()) return CONVOKE_OK;
  const int64_t Ho = operands.out.size[2], Wo = operands.out.size[3];
  const int64_t sh = operands.params.stride[0], sw = operands.params.stride[1];
  const int64_t phases_w = min_of(sw, Wo), phases = min_of(sh, Ho) * phases_w;
  // Phase 0 has the most outputs; where another has fewer, its last parts are empty.
  const int64_t tiles = ceil_div(phase_axis(Ho, sh, 0).count * phase_axis(Wo, sw, 0).count, tile_lanes);
  each_unit(*call, operands, phases * tiles, [&](const Unit& unit) noexcept {
    const int64_t phase = unit.part / tiles;
    Tile<E> tile(phase_axis(Ho, sh, phase / phases_w), phase_axis(Wo, sw, phase % phases_w),
                 unit.part % tiles * tile_lanes, unit.channels);
    if (tile.lanes <= 0) return;
    const int64_t co = unit.group * operands.Cout_group + unit.first_channel;
    tile.start(operands.has_bias ? &operands.bias : nullptr, co);
    add_taps(tile, operands, unit);
    tile.store(operands.out_image(unit.n), co);
  });
  return CONVOKE_OK;
}

}  // namespace

int32_t conv_transpose2d_f32(const convoke_call* call) noexcept { return conv_transpose2d<F32>(call); }
int32_t conv_transpose2d_f64(const convoke_call* call) noexcept { return conv_transpose2d<F64>(call); }
int32_t conv_transpose2d_bf16(const convoke_call* call) noexcept { return conv_transpose2d<Bf16>(call); }
int32_t conv_transpose2d_f16(const convoke_call* call) noexcept { return conv_transpose2d<F16>(call); }

}  // namespace convoke::portable::CONVOKE_PORTABLE_ISA

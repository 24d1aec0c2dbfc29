// SPDX-License-Identifier: Apache-2.0 OR MIT
// out[n, co, oh, ow] = bias[co] + sum over ci, kh, kw, in that order, of
//     x[n, g * Cin/groups + ci, oh * sh + kh * dh - ph, ow * sw + kw * dw - pw] * weight[co, ci, kh, kw]
// with g = co / (Cout/groups), one fused multiply-add a tap, taps outside x left out.
// Contract: conv.fkc.md, conv2d_{f32,f64,bf16,f16}. The order stands in the loops of add_taps; tile.h does one tap.
#include "kernels/portable/convolution.h"
#include "kernels/portable/kernels.h"

namespace convoke::portable::CONVOKE_PORTABLE_ISA {
namespace {

template <class E>
void add_taps(Tile<E>& tile, const Operands<E>& operands, const Unit& unit) noexcept {
  const convoke_conv_params& p = operands.params;
  const int64_t co = unit.group * operands.Cout_group + unit.first_channel;
  for (int64_t ci = 0; ci < operands.Cin_group; ++ci) {
    const auto plane = operands.x_plane(unit.n, unit.group * operands.Cin_group + ci);
    for (int64_t kh = 0; kh < operands.weight.size[2]; ++kh) {
      Tap tap{};
      tap.first_h = kh * p.dilation[0] - p.padding[0];
      tap.rows = outputs_inside(tile.rows, tap.first_h, plane.size[0]);
      if (tap.rows.begin >= tap.rows.end) continue;
      for (int64_t kw = 0; kw < operands.weight.size[3]; ++kw) {
        tap.first_w = kw * p.dilation[1] - p.padding[1];
        tap.cols = outputs_inside(tile.cols, tap.first_w, plane.size[1]);
        const Presence presence = tile.fetch(plane, tap);
        if (presence == Presence::none) continue;
        tile.add(presence, operands.weight_at(co, ci, kh, kw), operands.weight.stride[0]);
      }
    }
  }
}

template <class E>
int32_t conv2d(const convoke_call* call) noexcept {
  const Operands<E> operands(*call);
  if (operands.no_output()) return CONVOKE_OK;
  const int64_t Ho = operands.out.size[2], Wo = operands.out.size[3];
  each_unit(*call, operands, ceil_div(Ho * Wo, tile_lanes), [&](const Unit& unit) noexcept {
    Tile<E> tile({Ho, 0, 1, operands.params.stride[0]}, {Wo, 0, 1, operands.params.stride[1]}, unit.part * tile_lanes,
                 unit.channels);
    const int64_t co = unit.group * operands.Cout_group + unit.first_channel;
    tile.start(operands.has_bias ? &operands.bias : nullptr, co);
    add_taps(tile, operands, unit);
    tile.store(operands.out_image(unit.n), co);
  });
  return CONVOKE_OK;
}

}  // namespace

int32_t conv2d_f32(const convoke_call* call) noexcept { return conv2d<F32>(call); }
int32_t conv2d_f64(const convoke_call* call) noexcept { return conv2d<F64>(call); }
int32_t conv2d_bf16(const convoke_call* call) noexcept { return conv2d<Bf16>(call); }
int32_t conv2d_f16(const convoke_call* call) noexcept { return conv2d<F16>(call); }

}  // namespace convoke::portable::CONVOKE_PORTABLE_ISA

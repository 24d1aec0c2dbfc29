// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the two convolutions share: their operands, and the cut of their outputs into units that threads may take.
#ifndef CONVOKE_KERNELS_PORTABLE_CONVOLUTION_H
#define CONVOKE_KERNELS_PORTABLE_CONVOLUTION_H

#include "kernels/common/parallel.h"
#include "kernels/common/view.h"
#include "kernels/portable/tile.h"

namespace convoke::portable::CONVOKE_PORTABLE_ISA {
namespace {

/// The operands of a call, and the channels of one group. Axes: x [N, Cin, H, W], out [N, Cout, Ho, Wo].
template <class E>
struct Operands {
  using Storage = typename E::Storage;
  View<const Storage, 4> x, weight;
  View<const Storage, 1> bias{};
  bool has_bias;
  View<Storage, 4> out;
  convoke_conv_params params;
  int64_t Cin_group, Cout_group;

  explicit Operands(const convoke_call& call) noexcept
      : x(kernels::view_of<const Storage, 4>(*call.inputs[0])),
        weight(kernels::view_of<const Storage, 4>(*call.inputs[1])),
        has_bias(call.input_count > 2),
        out(kernels::view_of<Storage, 4>(*call.outputs[0])),
        params(*static_cast<const convoke_conv_params*>(call.params)),
        Cin_group(x.size[1] / params.groups),
        Cout_group(out.size[1] / params.groups) {
    if (has_bias) bias = kernels::view_of<const Storage, 1>(*call.inputs[2]);
  }

  View<const Storage, 2> x_plane(int64_t n, int64_t ci) const noexcept {
    return {x.data + n * x.stride[0] + ci * x.stride[1], {x.size[2], x.size[3]}, {x.stride[2], x.stride[3]}};
  }
  View<Storage, 3> out_image(int64_t n) const noexcept {
    return {out.data + n * out.stride[0],
            {out.size[1], out.size[2], out.size[3]},
            {out.stride[1], out.stride[2], out.stride[3]}};
  }
  const Storage* weight_at(int64_t i, int64_t j, int64_t kh, int64_t kw) const noexcept {
    return weight.data + i * weight.stride[0] + j * weight.stride[1] + kh * weight.stride[2] + kw * weight.stride[3];
  }
  bool no_output() const noexcept {
    return out.size[0] == 0 || out.size[1] == 0 || out.size[2] == 0 || out.size[3] == 0;
  }
};

/// Up to tile_channels channels of one group of one image, and one of the parts that its plane is cut into.
struct Unit {
  int64_t n, group, first_channel, channels, part;  // first_channel counts within the group
};

/// Calls body(unit) for every unit of the outputs, over the call's threads. Neighbouring units share their weights.
template <class E, class Body>
void each_unit(const convoke_call& call, const Operands<E>& operands, int64_t parts, const Body& body) noexcept {
  const int64_t blocks = ceil_div(operands.Cout_group, tile_channels);
  const int64_t groups = operands.params.groups;
  kernels::parallel_ranges(call, operands.out.size[0] * groups * blocks * parts, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const int64_t block = index / parts;
      Unit unit{};
      unit.part = index % parts;
      unit.first_channel = block % blocks * tile_channels;
      unit.channels = min_of(tile_channels, operands.Cout_group - unit.first_channel);
      unit.group = block / blocks % groups;
      unit.n = block / blocks / groups;
      body(unit);
    }
  });
}

}  // namespace
}  // namespace convoke::portable::CONVOKE_PORTABLE_ISA

#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the algorithms of this folder share: the operands of a call, the phases of its outputs, the way weights are
// packed, and the workers that take its units.
#ifndef CONVOKE_KERNELS_SIMD_CONVOLUTION_H
#define CONVOKE_KERNELS_SIMD_CONVOLUTION_H

#include "kernels/common/element.h"
#include "kernels/common/parallel.h"
#include "kernels/common/view.h"
#include "kernels/simd/arena.h"
#include "kernels/simd/axis.h"
#include "kernels/simd/store.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

using kernels::View;

enum class Operation { conv2d, conv_transpose2d };

/// Shape of the kernel and how it is applied: all that packed weights depend on.
struct Filter {
  Operation operation;
  convoke_conv_params params;
  int64_t groups, Cin_group, Cout_group, Kh, Kw;

  int64_t phases(int axis) const noexcept { return operation == Operation::conv2d ? 1 : params.stride[axis]; }
  int64_t kernel(int axis) const noexcept { return axis == 0 ? Kh : Kw; }

  /// Axis `axis` (0: height) of one phase, for these sizes of input and output.
  Axis axis(int axis, int64_t in_size, int64_t out_size, int64_t phase) const noexcept {
    const int64_t k = kernel(axis), s = params.stride[axis], p = params.padding[axis], d = params.dilation[axis];
    return operation == Operation::conv2d ? conv_axis(in_size, out_size, k, s, p, d)
                                          : transposed_axis(in_size, out_size, k, s, p, d, phase);
  }
};

inline Filter filter_of(Operation operation, const convoke_operand& weight,
                        const convoke_conv_params& params) noexcept {
  const int64_t g = params.groups;
  if (operation == Operation::conv2d) {
    return {operation, params, g, weight.shape[1], weight.shape[0] / g, weight.shape[2], weight.shape[3]};
  }
  return {operation, params, g, weight.shape[0] / g, weight.shape[1], weight.shape[2], weight.shape[3]};
}

/// How packed weights lie: output channels of a group in blocks of `wide` lanes (the last of `narrow` where that is
/// enough), in a block phase after phase (rows first), then ci, taps in the order of the law, lanes; idle lanes zero.
struct PackedLayout {
  int64_t wide, narrow;

  int64_t blocks(const Filter& filter) const noexcept { return ceil_div(filter.Cout_group, wide); }
  int64_t width(const Filter& filter, int64_t block) const noexcept {
    return filter.Cout_group - block * wide <= narrow ? narrow : wide;
  }
  int64_t group_lanes(const Filter& filter) const noexcept {
    return (blocks(filter) - 1) * wide + width(filter, blocks(filter) - 1);
  }
  /// Elements before the first of `block` of `group`.
  int64_t offset(const Filter& filter, int64_t group, int64_t block) const noexcept {
    return (group * group_lanes(filter) + block * wide) * filter.Cin_group * filter.Kh * filter.Kw;
  }
};

/// Lanes over output channels take two vectors of them at a time.
template <class Sum>
constexpr PackedLayout channels_layout() noexcept {
  return {2 * lanes<Sum>, lanes<Sum>};
}

/// Lanes over output pixels take as many channels at a time as there are registers for, but no more than there are
/// channels in a group; the last block may be half as wide. The three channels of a picture stand alone.
inline PackedLayout pixels_layout(const Filter& filter) noexcept {
  const int64_t most = registers == 32 ? 8 : 4;
  if (filter.Cout_group == 3) return {3, 3};
  int64_t wide = 1;
  while (wide < most && wide < filter.Cout_group) wide *= 2;
  return {wide, max_of(wide / 2, 1)};
}

/// Taps of both axes in phases before (row, col): each kernel element belongs to one phase.
inline int64_t taps_before(const Filter& filter, int64_t row, int64_t col) noexcept {
  if (filter.operation == Operation::conv2d) return 0;
  const convoke_conv_params& p = filter.params;
  int64_t rows = 0, cols = 0;
  for (int64_t i = 0; i < row; ++i) {
    rows += phase_taps(filter.Kh, p.stride[0], p.padding[0], p.dilation[0], i).count;
  }
  for (int64_t i = 0; i < col; ++i) {
    cols += phase_taps(filter.Kw, p.stride[1], p.padding[1], p.dilation[1], i).count;
  }
  const int64_t own = phase_taps(filter.Kh, p.stride[0], p.padding[0], p.dilation[0], row).count;
  return rows * filter.Kw + own * cols;
}

/// The operands of one call. Axes: x [N, Cin, H, W], out [N, Cout, Ho, Wo]; `weight` is packed.
template <class E>
struct Operands {
  using Storage = typename E::Storage;
  using Sum = typename E::Sum;
  Filter filter;
  View<const Storage, 4> x;
  const Sum* weight;
  View<const Storage, 1> bias{};
  bool has_bias;
  View<Storage, 4> out;

  Operands(Operation operation, const convoke_call& call) noexcept
      : filter(filter_of(operation, *call.inputs[1], *static_cast<const convoke_conv_params*>(call.params))),
        x(kernels::view_of<const Storage, 4>(*call.inputs[0])),
        weight(static_cast<const Sum*>(call.inputs[1]->data)),
        has_bias(call.input_count > 2),
        out(kernels::view_of<Storage, 4>(*call.outputs[0])) {
    if (has_bias) bias = kernels::view_of<const Storage, 1>(*call.inputs[2]);
  }
  bool no_output() const noexcept {
    return out.size[0] == 0 || out.size[1] == 0 || out.size[2] == 0 || out.size[3] == 0;
  }
  /// Where the chain of output channel `co` begins.
  Sum start(int64_t co) const noexcept { return has_bias ? E::widen(bias.data[co * bias.stride[0]]) : Sum(0); }
};

/// Calls body(unit, scratch) for every unit in [0, units). A worker has its own part of the scratch and takes a run of
/// neighbouring units; there are as many workers as threads, and never more than parts.
template <class Body>
void each_unit(const convoke_call& call, int64_t units, const Body& body) noexcept {
  const int64_t parts = static_cast<int64_t>(call.scratch_bytes) / worker_bytes;
  const int64_t wanted = call.parallel_for != nullptr ? parts : min_of(parts, call.threads);
  const int64_t workers = max_of(1, min_of(wanted, units));
  kernels::parallel_ranges(call, workers, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker) {
      unsigned char* const scratch = static_cast<unsigned char*>(call.scratch) + worker * worker_bytes;
      for (int64_t unit = worker * units / workers; unit < (worker + 1) * units / workers; ++unit) body(unit, scratch);
    }
  });
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

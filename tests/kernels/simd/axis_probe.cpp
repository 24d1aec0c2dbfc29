// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/kernels/simd/axis_probe.hpp"

#include "kernels/common/kernel.h"
#include "kernels/simd/axis.h"

namespace convoke::kernel_tests {
namespace {

namespace isa = simd::CONVOKE_SIMD_ISA;

isa::Axis axis_of(const AxisCase& a, std::int64_t phase) {
  return a.transposed ? isa::transposed_axis(a.in_size, a.out_size, a.kernel, a.stride, a.padding, a.dilation, phase)
                      : isa::conv_axis(a.in_size, a.out_size, a.kernel, a.stride, a.padding, a.dilation);
}

}  // namespace

std::vector<ProbedOutput> probe_axis(const AxisCase& axis, std::int64_t phase) {
  std::vector<ProbedOutput> outputs;
  if (phase >= (axis.transposed ? axis.stride : 1)) return outputs;
  const isa::Axis a = axis_of(axis, phase);
  for (std::int64_t i = 0; i < a.outputs; ++i) {
    const isa::Range inside = a.taps_inside(i);
    ProbedOutput output{a.out_first + i * a.out_step, {}, inside.begin, inside.end};
    for (std::int64_t t = 0; t < a.taps; ++t) output.taps.push_back({a.input(i, t), a.k_first + t * a.k_step});
    outputs.push_back(output);
  }
  return outputs;
}

ProbedRange probe_outputs_inside(const AxisCase& axis, std::int64_t phase, std::int64_t tap, std::int64_t begin,
                                 std::int64_t end) {
  const isa::Range range = axis_of(axis, phase).outputs_inside(tap, {begin, end});
  return {range.begin, range.end};
}

bool probe_all_inside(const AxisCase& axis, std::int64_t phase, std::int64_t begin, std::int64_t end) {
  return axis_of(axis, phase).all_inside({begin, end});
}

std::uint32_t probe_isa() { return HWY_TARGET == HWY_AVX2 ? CONVOKE_ISA_FMA : CONVOKE_ISA_BASELINE; }

}  // namespace convoke::kernel_tests

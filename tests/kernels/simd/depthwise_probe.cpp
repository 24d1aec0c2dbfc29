// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/kernels/simd/depthwise_probe.hpp"

#include "kernels/simd/depthwise.h"

namespace convoke::kernel_tests {

namespace isa = simd::CONVOKE_SIMD_ISA;

bool has_lanes_over_channels(const convoke_call& call) {
  const isa::Operands<isa::F32> operands(isa::Operation::conv2d, call);
  const auto weight = kernels::view_of<const float, 4>(*call.inputs[1]);
  return isa::DepthwiseChannels<isa::F32>(operands, weight, call.threads).suits();
}

}  // namespace convoke::kernel_tests

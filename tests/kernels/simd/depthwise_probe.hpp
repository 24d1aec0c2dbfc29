// SPDX-License-Identifier: Apache-2.0 OR MIT
// Which of the two ways kernels/simd takes for a depthwise call: both give the same bits, so no output tells.
#pragma once

#include "kernels/common/kernel.h"

namespace convoke::kernel_tests {

/// Whether the call, of conv2d in f32, gets lanes over channels. Operands need no memory.
bool has_lanes_over_channels(const convoke_call& call);

}  // namespace convoke::kernel_tests

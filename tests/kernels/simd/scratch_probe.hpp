// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the units of kernels/simd take of a worker's scratch, as a test without vector instructions can ask for it:
// scratch_probe.cpp is built for one instruction set of the folder, with assertions.
#pragma once

#include <cstdint>

#include "kernels/common/kernel.h"

namespace convoke::kernel_tests {

/// Cuts the call as both algorithms with bands do, and lets up to `most` of their units take their scratch, the first
/// and last ones and some between: an assertion fails where that is more than there is. Nothing is computed; operands
/// need no memory. Returns how many units that were.
std::int64_t take_scratch(const convoke_call& call, bool transposed, int dtype, std::int64_t most);

/// Column phases of a transposed f32 call that a unit takes together, with lanes over channels and over pixels.
struct PhasesTogether {
  std::int64_t channels, pixels;
  bool operator==(const PhasesTogether&) const = default;
};
PhasesTogether phases_together(const convoke_call& call);

}  // namespace convoke::kernel_tests

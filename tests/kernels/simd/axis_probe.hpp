// SPDX-License-Identifier: Apache-2.0 OR MIT
// kernels/simd/axis.h as a test without vector instructions can call it: axis_probe.cpp is built for one instruction
// set of the folder, and nothing here is inline.
#pragma once

#include <cstdint>
#include <vector>

namespace convoke::kernel_tests {

/// One axis of a convolution.
struct AxisCase {
  bool transposed;
  std::int64_t in_size, out_size, kernel, stride, padding, dilation;
};

/// A tap as a phase lists it: reads input `in` with kernel index `k`.
struct ProbedTap {
  std::int64_t in, k;
  friend bool operator==(const ProbedTap&, const ProbedTap&) = default;
};

struct ProbedOutput {
  std::int64_t position;            // in `out`
  std::vector<ProbedTap> taps;      // all of the phase, in its order
  std::int64_t tap_begin, tap_end;  // those inside the input
};

/// The outputs of one phase; none where the axis has fewer phases.
std::vector<ProbedOutput> probe_axis(const AxisCase& axis, std::int64_t phase);

/// For tap t of that phase, the outputs of [begin, end) that it is inside the input for: {first, past the last}.
struct ProbedRange {
  std::int64_t begin, end;
};
ProbedRange probe_outputs_inside(const AxisCase& axis, std::int64_t phase, std::int64_t tap, std::int64_t begin,
                                 std::int64_t end);

/// Whether outputs [begin, end) of that phase, which has taps, have them all inside the input.
bool probe_all_inside(const AxisCase& axis, std::int64_t phase, std::int64_t begin, std::int64_t end);

/// What the probe was built for, as bits of convoke_isa.
std::uint32_t probe_isa();

}  // namespace convoke::kernel_tests

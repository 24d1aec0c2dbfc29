// SPDX-License-Identifier: Apache-2.0 OR MIT
// A floating-point state in which no kernel would compute what it promises, if it computed in it.
#pragma once

#include "kernels/common/fp_state.h"

namespace convoke::kernel_tests {

#if defined(__x86_64__)
// Flush to zero, denormals are zero, round up; exceptions masked, as they were.
inline constexpr kernels::FpWord hostile_word = 0x1f80 | 0x8040 | 0x4000;
inline constexpr kernels::FpWord control_bits = 0xffc0;  // without the sticky flags
#else
// FZ and round towards plus infinity.
inline constexpr kernels::FpWord hostile_word = (kernels::FpWord{1} << 24) | (kernels::FpWord{1} << 22);
inline constexpr kernels::FpWord control_bits = hostile_word;
#endif

/// Sets the hostile state for its lifetime. Asserts must not run under it: gtest computes with doubles too.
class HostileState {
 public:
  HostileState() : saved_(kernels::read_fp_word()) { kernels::write_fp_word(hostile_word); }
  ~HostileState() { kernels::write_fp_word(saved_); }
  HostileState(const HostileState&) = delete;
  HostileState& operator=(const HostileState&) = delete;

 private:
  kernels::FpWord saved_;
};

}  // namespace convoke::kernel_tests

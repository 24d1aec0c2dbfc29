// SPDX-License-Identifier: Apache-2.0 OR MIT
// The floating-point state every kernel computes in: rounding to nearest, subnormals kept both as operands and as
// results, no traps. The caller's state (another rounding mode, flush-to-zero, unmasked exceptions, sticky flags) is
// put back as it was. State belongs to a thread, so each thread that computes takes its own guard.
#ifndef CONVOKE_KERNELS_COMMON_FP_STATE_H
#define CONVOKE_KERNELS_COMMON_FP_STATE_H

#include <stdint.h>

namespace convoke::kernels {
namespace {

#if defined(__x86_64__)
// MXCSR after reset: all exceptions masked, nearest, FTZ (bit 15) and DAZ (bit 6) off.
using FpWord = uint32_t;
constexpr FpWord default_fp_word = 0x1f80;
inline FpWord read_fp_word() noexcept {
  FpWord word = 0;
  asm volatile("stmxcsr %0" : "=m"(word) : : "memory");
  return word;
}
inline void write_fp_word(FpWord word) noexcept { asm volatile("ldmxcsr %0" : : "m"(word) : "memory"); }
#elif defined(__aarch64__)
// FPCR zero: nearest, FZ and FIZ off, traps off, NaNs propagate.
using FpWord = uint64_t;
constexpr FpWord default_fp_word = 0;
inline FpWord read_fp_word() noexcept {
  FpWord word = 0;
  asm volatile("mrs %0, fpcr" : "=r"(word) : : "memory");
  return word;
}
inline void write_fp_word(FpWord word) noexcept { asm volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
#else
#error "convoke: this processor's floating-point control word is not known"
#endif

/// Sets the default state on this thread for its lifetime. The "memory" clobbers above keep loads, stores and hence the
/// arithmetic between them inside the guarded region.
class FpStateGuard {
 public:
  FpStateGuard() noexcept : saved_(read_fp_word()) { write_fp_word(default_fp_word); }
  ~FpStateGuard() { write_fp_word(saved_); }
  FpStateGuard(const FpStateGuard&) = delete;
  FpStateGuard& operator=(const FpStateGuard&) = delete;

 private:
  FpWord saved_;
};

}  // namespace
}  // namespace convoke::kernels

#endif

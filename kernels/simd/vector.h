// SPDX-License-Identifier: Apache-2.0 OR MIT
// The vectors that sums are kept in, and the few operations on them that Highway has no single name for.
#ifndef CONVOKE_KERNELS_SIMD_VECTOR_H
#define CONVOKE_KERNELS_SIMD_VECTOR_H

#include <hwy/highway.h>
#include <stdint.h>

#include "kernels/simd/isa.h"

#if !HWY_NATIVE_FMA
#error "convoke: this target multiplies and adds in two roundings, which the law of the sum does not allow"
#endif

// Between two taps. Without it Clang 19 shares the broadcasts of neighbouring taps, runs out of registers and spills.
#define CONVOKE_TAP_FENCE() asm volatile("" ::: "memory")
#define CONVOKE_UNROLL _Pragma("clang loop unroll(full)")
#if !defined(__clang__)
#undef CONVOKE_UNROLL
#define CONVOKE_UNROLL _Pragma("GCC unroll 32")
#endif

// What is left over after whole vectors: a compiler that unrolls it makes code for a case that hardly comes.
#if defined(__clang__)
#define CONVOKE_SCALAR_LOOP _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define CONVOKE_SCALAR_LOOP _Pragma("GCC unroll 1")
#endif

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

/// Sums in one vector.
template <class T>
constexpr int lanes = static_cast<int>(HWY_LANES(T));

/// Sums in one line of the cache.
template <class T>
constexpr int line = 64 / static_cast<int>(sizeof(T));

/// Vector registers of the machine: what a tile of sums may not exceed.
constexpr int registers = HWY_TARGET == HWY_AVX2 ? 16 : 32;

/// Whether masks have registers of their own.
constexpr bool has_mask_registers = HWY_TARGET <= HWY_AVX3;

constexpr int64_t min_of(int64_t a, int64_t b) noexcept { return a < b ? a : b; }
constexpr int64_t max_of(int64_t a, int64_t b) noexcept { return a > b ? a : b; }
/// For b > 0; rounds towards +infinity.
constexpr int64_t ceil_div(int64_t a, int64_t b) noexcept { return a / b + (a % b > 0); }
constexpr int64_t round_up(int64_t a, int64_t to) noexcept { return ceil_div(a, to) * to; }

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

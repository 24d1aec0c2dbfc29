// SPDX-License-Identifier: Apache-2.0 OR MIT
// Cuts a worker's scratch into aligned arrays, and adds up beforehand what they will take.
#ifndef CONVOKE_KERNELS_SIMD_ARENA_H
#define CONVOKE_KERNELS_SIMD_ARENA_H

#include <assert.h>
#include <stdint.h>
#include <unistd.h>

#include "kernels/simd/vector.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

constexpr int64_t arena_alignment = 64;

/// Scratch of one worker: what the contract's workspace_bytes gives each thread.
constexpr int64_t worker_bytes = int64_t{1} << 20;

template <class T>
constexpr int64_t arena_bytes(int64_t count) noexcept {
  return round_up(count * static_cast<int64_t>(sizeof(T)), arena_alignment);
}

struct Arena {
  unsigned char* next;
  const unsigned char* end;

  /// All of a worker's scratch.
  explicit Arena(unsigned char* scratch) noexcept : next(scratch), end(scratch + worker_bytes) {}

  template <class T>
  T* take(int64_t count) noexcept {
    T* const taken = reinterpret_cast<T*>(next);
    next += arena_bytes<T>(count);
    assert(next <= end);  // the plan of the call left room
    return taken;
  }
};

/// Bytes of the cache that a core has to itself; half a MiB where the system does not say.
inline int64_t core_cache_bytes() noexcept {
  static const int64_t bytes = [] {
#if defined(_SC_LEVEL2_CACHE_SIZE)
    const long said = sysconf(_SC_LEVEL2_CACHE_SIZE);
    if (said >= 128 * 1024) return static_cast<int64_t>(said);
#endif
    return int64_t{512} * 1024;
  }();
  return bytes;
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

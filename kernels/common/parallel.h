// SPDX-License-Identifier: Apache-2.0 OR MIT
// Splits independent work over threads. What is split must be outputs, never terms of one sum: then the number of
// threads, and who ran what, cannot show in a bit of the result.
#ifndef CONVOKE_KERNELS_COMMON_PARALLEL_H
#define CONVOKE_KERNELS_COMMON_PARALLEL_H

#include <stdint.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

#include "kernels/common/fp_state.h"
#include "kernels/common/kernel.h"

namespace convoke::kernels {
namespace {

// Not inlined: the body's arithmetic stays between the two writes of the floating-point state.
template <class Body>
__attribute__((noinline)) void run_range(const Body& body, int64_t begin, int64_t end) noexcept {
  body(begin, end);
}

template <class Body>
void run_guarded(const Body& body, int64_t begin, int64_t end) noexcept {
  const FpStateGuard guard;
  run_range(body, begin, end);
}

/// Calls body(begin, end) over disjoint ranges that cover [0, count), each under the default floating-point state: on
/// the caller's pool where it handed one over, else on at most call.threads OpenMP threads. Returns when all are done.
/// Inside another parallel region OpenMP may grant fewer threads than asked for; the split follows what was granted.
template <class Body>
void parallel_ranges(const convoke_call& call, int64_t count, const Body& body) noexcept {
  if (count <= 0) return;
  if (call.parallel_for != nullptr && count > 1) {
    const convoke_range_body run = [](void* context, int64_t begin, int64_t end) {
      run_guarded(*static_cast<const Body*>(context), begin, end);
    };
    call.parallel_for->run(call.parallel_for->context, count, run, const_cast<Body*>(&body));
    return;
  }
#if defined(_OPENMP)
  const int64_t threads = count < call.threads ? count : call.threads;
  if (threads > 1) {
#pragma omp parallel num_threads(static_cast<int>(threads))
    {
      const int64_t team = omp_get_num_threads();
      const int64_t self = omp_get_thread_num();
      // The first `rest` ranges are one longer; nothing here can overflow.
      const int64_t each = count / team, rest = count % team;
      const int64_t begin = self * each + (self < rest ? self : rest);
      const int64_t end = begin + each + (self < rest ? 1 : 0);
      if (begin < end) run_guarded(body, begin, end);
    }
    return;
  }
#endif
  run_guarded(body, 0, count);
}

}  // namespace
}  // namespace convoke::kernels

#endif

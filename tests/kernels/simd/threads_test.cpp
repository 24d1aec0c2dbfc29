// SPDX-License-Identifier: Apache-2.0 OR MIT
// What must not show in the result of the vector kernels: threads, whose threads, how much scratch there is for them,
// and the state that a caller's processor happens to be in.
#include <gtest/gtest.h>

#include <memory>

#include "tests/kernels/hostile_state.hpp"
#include "tests/kernels/simd/simd_test.hpp"

// Clang's OpenMP runtime never frees the records of threads beyond the processor's; LeakSanitizer asks this function.
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so\n"; }

namespace convoke::kernel_tests {
namespace {

using SimdThreadsTest = SimdTest;

/// A caller's pool on the calling thread: every index by itself, the last first; or pieces of 3 indices, odd ones
/// first.
struct OddPool {
  bool pieces;
  int ranges = 0;
  convoke_parallel_for handle{this, &OddPool::run};

  static void run(void* context, std::int64_t count, convoke_range_body body, void* body_context) {
    OddPool& pool = *static_cast<OddPool*>(context);
    const std::int64_t size = pool.pieces ? 3 : 1, calls = (count + size - 1) / size;
    for (std::int64_t parity : {1, 0}) {
      for (std::int64_t i = calls - 1; i >= 0; --i) {
        if (i % 2 != parity) continue;
        body(body_context, i * size, std::min(count, (i + 1) * size));
        ++pool.ranges;
      }
    }
  }
};

TEST_P(SimdThreadsTest, ScratchForFewerThreadsThanAsked) {
  for (std::size_t parts : {1U, 2U, 3U}) {
    check(base(), {.threads = 4, .scratch_bytes = parts * scratch_per_thread});
  }
}

TEST_P(SimdThreadsTest, AnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) check(base(), {.threads = threads});
}

TEST_P(SimdThreadsTest, APoolMayTakeWorkInAnyOrder) {
  for (bool pieces : {false, true}) {
    OddPool pool{pieces};
    check(base(), {.scratch_bytes = 7 * scratch_per_thread, .pool = &pool.handle});
    EXPECT_GT(pool.ranges, 2);
  }
}

TEST_P(SimdThreadsTest, TheCallersFloatingPointStateIsIgnoredAndPutBack) {
  Problem p = base();
  p.data = Data::tiny;
  for (int threads : {1, 3}) {
    compare(p, [&](const SimdKernel& kernel, const Operands& operands) {
      const HostileState hostile;
      const std::int32_t status = run(kernel, p, operands, {.threads = threads});
      const bool kept = (kernels::read_fp_word() & control_bits) == (hostile_word & control_bits);
      return kept ? status : std::int32_t{CONVOKE_RUNTIME_FAILURE};
    });
  }
}

TEST_P(SimdThreadsTest, CallsFromInsideAParallelRegion) {
  const Problem p = base();
  compare(p, [&](const SimdKernel& kernel, const Operands& operands) {
    std::vector<std::unique_ptr<Operands>> nested;
    for (int i = 0; i < 3; ++i) nested.push_back(std::make_unique<Operands>(p));
    std::int32_t status = CONVOKE_OK;
#pragma omp parallel for num_threads(3) reduction(+ : status)
    for (std::size_t i = 0; i < 3; ++i) status += run(kernel, p, *nested[i], {.threads = 2});
    if (status == CONVOKE_OK) status = run(kernel, p, operands);
    for (const auto& one : nested) {
      if (one->out.canonical() != operands.out.canonical()) status = CONVOKE_RUNTIME_FAILURE;
    }
    return status;
  });
}

INSTANTIATE_TEST_SUITE_P(Simd, SimdThreadsTest, testing::ValuesIn(simd_kinds), simd_kind_name);

}  // namespace
}  // namespace convoke::kernel_tests

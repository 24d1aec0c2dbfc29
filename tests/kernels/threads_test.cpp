// SPDX-License-Identifier: Apache-2.0 OR MIT
// What must not show in the result: threads, whose threads, and the state that a caller's processor happens to be in.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "kernels/common/fp_state.h"
#include "kernels/common/parallel.h"
#include "tests/kernels/hostile_state.hpp"
#include "tests/kernels/kernel_test.hpp"

// Clang's OpenMP runtime never frees the records of threads beyond the processor's; LeakSanitizer asks this function.
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so\n"; }

namespace convoke::kernel_tests {
namespace {

/// A caller's pool: three threads with a hostile state of their own, ranges of at most 3, the last range first.
struct Pool {
  std::atomic<int> ranges = 0;
  std::atomic<int> states_kept = 0;
  std::atomic<std::int64_t> covered = 0;
  convoke_parallel_for handle{this, &Pool::run};

  static void run(void* context, std::int64_t count, convoke_range_body body, void* body_context) {
    Pool& pool = *static_cast<Pool*>(context);
    std::atomic<std::int64_t> end = count;
    const auto work = [&] {
      const HostileState hostile;
      for (;;) {
        const std::int64_t stop = end.fetch_sub(3);
        if (stop <= 0) return;
        const std::int64_t begin = stop < 3 ? 0 : stop - 3;
        body(body_context, begin, stop);
        pool.ranges += 1;
        pool.covered += stop - begin;
        pool.states_kept += (kernels::read_fp_word() & control_bits) == (hostile_word & control_bits) ? 1 : 0;
      }
    };
    std::thread a(work), b(work), c(work);
    a.join();
    b.join();
    c.join();
  }
};

Problem problem_of(bool transposed, int dtype, std::uint64_t seed) {
  Problem p;
  p.transposed = transposed;
  p.dtype = dtype;
  p.N = 2, p.Cin = 6, p.H = 11, p.W = 13, p.Cout = 40, p.Kh = 3, p.Kw = 3, p.groups = 2, p.bias = true;
  p.stride = {2, 1}, p.padding = p.padding_end = {1, 1};
  p.data = Data::tiny;
  p.seed = seed;
  return p;
}

struct Kind {
  bool transposed;
  int dtype;
};
class ThreadsTest : public testing::TestWithParam<Kind> {
 protected:
  Problem problem() const { return problem_of(GetParam().transposed, GetParam().dtype, 5); }
};

TEST_P(ThreadsTest, AnyNumberOfThreadsAndEveryBuildGiveTheSameBits) {
  const Operands alone(problem());
  ASSERT_EQ(alone.run(rows_of(problem()).back().function), CONVOKE_OK);
  for (const convoke_entry& row : rows_of(problem())) {
    for (int threads : {1, 2, 3, 8}) {
      const Operands shared(problem());
      ASSERT_EQ(shared.run(row.function, threads), CONVOKE_OK);
      EXPECT_EQ(shared.out.canonical(), alone.out.canonical()) << threads;
    }
  }
}

TEST_P(ThreadsTest, TheCallersPoolDoesAllTheWork) {
  const Operands alone(problem());
  for (const convoke_entry& row : rows_of(problem())) {
    ASSERT_EQ(alone.run(row.function), CONVOKE_OK);
    const Operands shared(problem());
    Pool pool;
    ASSERT_EQ(shared.run(row.function, 1, &pool.handle), CONVOKE_OK);
    EXPECT_GT(pool.ranges, 3);
    EXPECT_GE(pool.covered, 2 * 40 / 16);
    EXPECT_EQ(pool.states_kept, pool.ranges);
    EXPECT_EQ(shared.out.canonical(), alone.out.canonical());
  }
}

TEST_P(ThreadsTest, TheCallersFloatingPointStateIsIgnoredAndPutBack) {
  const Operands calm(problem());
  for (const convoke_entry& row : rows_of(problem())) {
    ASSERT_EQ(calm.run(row.function), CONVOKE_OK);
    for (int threads : {1, 3}) {
      const Operands disturbed(problem());
      kernels::FpWord after = 0;
      {
        const HostileState hostile;
        disturbed.run(row.function, threads);
        after = kernels::read_fp_word();
      }
      EXPECT_EQ(after & control_bits, hostile_word & control_bits);
      EXPECT_EQ(disturbed.out.canonical(), calm.out.canonical()) << threads;
    }
  }
}

TEST_P(ThreadsTest, CallsFromInsideAParallelRegion) {
  const Operands alone(problem());
  const auto function = rows_of(problem()).front().function;
  ASSERT_EQ(alone.run(function), CONVOKE_OK);
  std::vector<std::unique_ptr<Operands>> nested;
  for (int i = 0; i < 4; ++i) nested.push_back(std::make_unique<Operands>(problem()));
#pragma omp parallel for num_threads(4)
  for (std::size_t i = 0; i < 4; ++i) nested[i]->run(function, 3);
  for (const auto& operands : nested) EXPECT_EQ(operands->out.canonical(), alone.out.canonical());
}

INSTANTIATE_TEST_SUITE_P(Portable, ThreadsTest,
                         testing::Values(Kind{false, CONVOKE_F32}, Kind{false, CONVOKE_F64}, Kind{false, CONVOKE_BF16},
                                         Kind{false, CONVOKE_F16}, Kind{true, CONVOKE_F32}, Kind{true, CONVOKE_F64},
                                         Kind{true, CONVOKE_BF16}, Kind{true, CONVOKE_F16}),
                         [](const auto& row) {
                           return (row.param.transposed ? "conv_transpose2d_" : "conv2d_") +
                                  std::string(formats[static_cast<std::size_t>(row.param.dtype)].name);
                         });

TEST(ParallelRangesTest, CoversEachIndexOnce) {
  convoke_call call{};
  for (int threads : {1, 2, 3, 8}) {
    call.threads = threads;
    for (std::int64_t count : {0, 1, 2, 7, 64}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      kernels::parallel_ranges(call, count, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) seen[static_cast<std::size_t>(i)] += 1;
      });
      for (const auto& times : seen) EXPECT_EQ(times, 1);
    }
  }
}

// The hostile state must matter, or the tests above would prove nothing.
TEST(FpStateGuardTest, TheHostileStateWouldShow) {
  // Volatile: neither folded by the compiler nor moved across a change of state.
  volatile float tiny = 1e-40F, one = 1.0F, five = 5.0F, three = 3.0F;
  volatile float flushed = 1, kept = 0, up = 0, nearest = 0;
  {
    const HostileState hostile;
    flushed = tiny * one;
    up = five / three;
    const kernels::FpStateGuard guard;
    kept = tiny * one;
    nearest = five / three;
  }
  EXPECT_EQ(flushed, 0.0F);
  EXPECT_EQ(kept, 1e-40F);
  EXPECT_EQ(up, 0x1.aaaaacp0F);
  EXPECT_EQ(nearest, 0x1.aaaaaap0F);
}

}  // namespace
}  // namespace convoke::kernel_tests

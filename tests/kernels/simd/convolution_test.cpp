// SPDX-License-Identifier: Apache-2.0 OR MIT
// The vector kernels by direct calls, each instruction set of the host by itself: the bits of the portable kernels,
// whatever the memory, the scratch and the threads are.
#include <gtest/gtest.h>

#include "tests/kernels/guarded.hpp"
#include "tests/kernels/simd_kernel.hpp"

// Clang's OpenMP runtime never frees the records of threads beyond the processor's; LeakSanitizer asks this function.
extern "C" const char* __lsan_default_suppressions() { return "leak:libomp.so\n"; }

namespace convoke::kernel_tests {
namespace {

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

struct Kind {
  bool transposed;
  int dtype;
};

class SimdConvolutionTest : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (simd_kernels(GetParam().transposed, GetParam().dtype).empty()) GTEST_SKIP() << "this host lacks fma";
  }
  /// Several units of work, unequal axes, padding, groups, a bias.
  Problem base() const {
    Problem p;
    p.transposed = GetParam().transposed;
    p.dtype = GetParam().dtype;
    p.N = 2, p.Cin = 4, p.H = 9, p.W = 19, p.Cout = 40, p.Kh = 3, p.Kw = 2, p.groups = 2, p.bias = true;
    p.stride = {1, 2}, p.padding = {1, 1}, p.padding_end = {0, 1};
    return p;
  }

  /// Calls run_one(kernel, operands) on fresh operands of every kernel and compares with a portable kernel.
  template <class RunOne>
  static void compare(const Problem& p, const RunOne& run_one) {
    ASSERT_TRUE(p.valid()) << p.name();
    const Operands portable(p);
    ASSERT_EQ(portable.run(rows_of(p).front().function), CONVOKE_OK);
    for (const SimdKernel& kernel : simd_kernels_of(p)) {
      const Operands operands(p);
      ASSERT_EQ(run_one(kernel, operands), CONVOKE_OK) << kernel.name;
      ASSERT_EQ(operands.out.canonical(), portable.out.canonical()) << kernel.name << " " << p.name();
      ASSERT_TRUE(operands.out.gaps_untouched()) << kernel.name << " " << p.name();
    }
  }
  static void check(const Problem& p, const SimdCall& how = {}) {
    compare(p, [&](const SimdKernel& kernel, const Operands& operands) { return run(kernel, p, operands, how); });
  }
};

TEST_P(SimdConvolutionTest, RandomProblemsBetweenGuardPages) {
  Random random(0x77 + static_cast<std::uint64_t>(GetParam().dtype));
  for (int i = 0; i < 50; ++i) {
    const Problem p = random_problem(GetParam().transposed, GetParam().dtype, random);
    for (Side side : {Side::front, Side::end}) {
      compare(p, [&](const SimdKernel& kernel, const Operands& operands) {
        return run_guarded(kernel, p, operands, side);
      });
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(SimdConvolutionTest, EveryLayoutOfXBiasAndOutBetweenGuardPages) {
  for (Layout Problem::* operand : {&Problem::x_layout, &Problem::bias_layout, &Problem::out_layout}) {
    for (int layout = 0; layout < 8; ++layout) {
      Problem p = base();
      p.*operand = static_cast<Layout>(layout);
      if (p.out_layout == Layout::expanded) continue;
      for (Side side : {Side::front, Side::end}) {
        compare(p, [&](const SimdKernel& kernel, const Operands& operands) {
          return run_guarded(kernel, p, operands, side);
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(SimdConvolutionTest, ScratchForFewerThreadsThanAsked) {
  for (std::size_t parts : {1U, 2U, 3U}) {
    check(base(), {.threads = 4, .scratch_bytes = parts * scratch_per_thread});
  }
}

TEST_P(SimdConvolutionTest, AnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) check(base(), {.threads = threads});
}

TEST_P(SimdConvolutionTest, APoolMayTakeWorkInAnyOrder) {
  for (bool pieces : {false, true}) {
    OddPool pool{pieces};
    check(base(), {.scratch_bytes = 7 * scratch_per_thread, .pool = &pool.handle});
    EXPECT_GT(pool.ranges, 2);
  }
}

TEST_P(SimdConvolutionTest, WhatScratchHeldBeforeDoesNotShow) {
  for (int filling : {0x00, 0x7f, 0xff}) check(base(), {.filling = static_cast<std::uint8_t>(filling)});
}

TEST_P(SimdConvolutionTest, OperandsNeedNoMoreThanTheAlignmentOfAnElement) {
  const Problem p = base();
  const std::int64_t element = formats[static_cast<std::size_t>(p.dtype)].bytes;
  for (std::int64_t steps : {1, 3}) {
    compare(p, [&](const SimdKernel& kernel, const Operands& given) {
      Operands& operands = const_cast<Operands&>(given);
      for (Tensor* tensor : {&operands.x, &operands.weight, &operands.bias, &operands.out}) {
        tensor->misalign(steps * element);
      }
      operands.x.fill(p.data, p.seed * 3);
      operands.weight.fill(p.data, p.seed * 3 + 1);
      operands.bias.fill(p.data, p.seed * 3 + 2);
      return run(kernel, p, operands);
    });
  }
}

TEST_P(SimdConvolutionTest, EveryNumberOfOutputChannels) {
  for (std::int64_t groups : {1, 3}) {
    for (std::int64_t Cout = 1; Cout <= 40; ++Cout) {
      Problem p = base();
      p.N = 1, p.groups = groups, p.Cin = 2 * groups, p.Cout = Cout * groups, p.H = 5, p.W = 9;
      check(p);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(SimdConvolutionTest, EveryNumberOfColumns) {
  for (std::int64_t W = 1; W <= 70; ++W) {
    Problem p = base();
    p.N = 1, p.groups = 1, p.Cin = 2, p.Cout = 3, p.H = 3, p.W = W, p.stride = {1, 1}, p.padding = {1, 1};
    check(p);
    if (HasFatalFailure()) return;
  }
}

TEST_P(SimdConvolutionTest, ImagesOfOnePixel) {
  for (std::int64_t kernel : {1, 3}) {
    Problem p = base();
    p.H = p.W = 1, p.N = 3, p.Kh = p.Kw = kernel, p.stride = {1, 1};
    p.padding = p.padding_end = {kernel / 2, kernel / 2};
    check(p);
  }
}

TEST_P(SimdConvolutionTest, ManyInputChannelsWaitInScratch) {
  Problem p = base();
  p.N = 1, p.groups = 1, p.Cin = 700, p.Cout = 20, p.H = p.W = 9, p.Kh = p.Kw = 3, p.stride = {1, 1};
  check(p);
}

TEST_P(SimdConvolutionTest, SpecialValuesAndAbsentTaps) {
  for (Data data : {Data::special, Data::tiny}) {
    Problem p = base();
    p.data = data;
    p.padding = p.padding_end = {3, 3};
    if (p.transposed) p.padding = p.padding_end = {1, 1};
    check(p);
  }
}

INSTANTIATE_TEST_SUITE_P(Simd, SimdConvolutionTest,
                         testing::Values(Kind{false, CONVOKE_F32}, Kind{false, CONVOKE_F64}, Kind{false, CONVOKE_BF16},
                                         Kind{false, CONVOKE_F16}, Kind{true, CONVOKE_F32}, Kind{true, CONVOKE_F64},
                                         Kind{true, CONVOKE_BF16}, Kind{true, CONVOKE_F16}),
                         [](const auto& row) {
                           return (row.param.transposed ? "conv_transpose2d_" : "conv2d_") +
                                  std::string(formats[static_cast<std::size_t>(row.param.dtype)].name);
                         });

}  // namespace
}  // namespace convoke::kernel_tests

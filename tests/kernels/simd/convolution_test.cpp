// SPDX-License-Identifier: Apache-2.0 OR MIT
// The vector kernels by direct calls, each instruction set of the host by itself: the bits of the portable kernels,
// whatever the memory, the scratch and the threads are.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/guarded.hpp"
#include "tests/kernels/simd/simd_test.hpp"

namespace convoke::kernel_tests {
namespace {

using SimdConvolutionTest = SimdTest;

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

TEST_P(SimdConvolutionTest, WhatScratchHeldBeforeDoesNotShow) {
  for (int filling : {0x00, 0x7f, 0xff}) check(base(), {.filling = static_cast<std::uint8_t>(filling)});
}

TEST_P(SimdConvolutionTest, OperandsNeedNoMoreThanTheAlignmentOfAnElement) {
  const Problem p = base();
  const std::int64_t element = formats[static_cast<std::size_t>(p.dtype)].bytes;
  for (std::int64_t steps : {1, 3}) {
    compare(p, [&](const SimdKernel& kernel, Operands& operands) {
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

// Lanes over channels take from half a vector on; the last vector has idle ones, and pixels behind it.
TEST_P(SimdConvolutionTest, DepthwiseOfEveryNumberOfChannels) {
  for (std::int64_t channels : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 33}) {
    Problem p = base();
    p.N = 2, p.groups = p.Cin = p.Cout = channels, p.H = 6, p.W = channels, p.data = Data::special;
    p.x_layout = static_cast<Layout>(channels % 2);
    p.out_layout = static_cast<Layout>(channels / 2 % 2);
    compare(p, [&](const SimdKernel& kernel, const Operands& operands) {
      return run_guarded(kernel, p, operands, channels % 3 == 0 ? Side::front : Side::end);
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(SimdConvolutionTest, DepthwiseOfEveryLayoutAndStride) {
  for (int layout = 0; layout < 8; ++layout) {
    for (std::int64_t stride : {1, 2, 5}) {
      Problem p = base();
      p.groups = p.Cin = p.Cout = 18, p.H = 7, p.W = 70, p.stride = {stride, stride}, p.dilation = {2, 3};
      if (p.transposed) p.W = 20;
      p.x_layout = p.weight_layout = static_cast<Layout>(layout);
      check(p, {.threads = 3});
      if (HasFatalFailure()) return;
    }
  }
}

// Channels that are neighbours come by the dozen, and a band of them is turned round in scratch.
TEST_P(SimdConvolutionTest, ChannelsThatAreNeighbours) {
  for (std::int64_t kernel : {1, 3}) {
    for (std::int64_t Cin : {3, 4, 63, 70}) {
      Problem p = base();
      p.groups = 1, p.Cin = Cin, p.Kh = p.Kw = kernel, p.W = 37, p.x_layout = Layout::channels_last;
      compare(p, [&](const SimdKernel& call, const Operands& operands) {
        return run_guarded(call, p, operands, Cin % 2 == 0 ? Side::front : Side::end);
      });
      if (HasFatalFailure()) return;
    }
  }
}

// Rows of outputs narrower than the stride, and pieces of a row in which only the first phases have an output.
TEST_P(SimdConvolutionTest, PhasesWithoutOutputs) {
  for (std::int64_t stride = 2; stride <= 9; ++stride) {
    for (std::int64_t Kw = 1; Kw <= stride + 1; ++Kw) {
      Problem p = base();
      p.N = 1, p.groups = 1, p.Cin = 3, p.Cout = 3 + Kw % 4, p.H = p.Kh = 1, p.Kw = Kw, p.data = Data::special;
      p.W = !p.transposed ? Kw : Kw % 3 == 0 ? 3 : 1;
      p.stride = {1, stride}, p.padding = p.padding_end = {0, 0};
      check(p, {.threads = 3});
      if (HasFatalFailure()) return;
    }
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
  for (const std::int64_t stride : {1, 2}) {
    for (const std::int64_t Cout : {3, 20}) {
      Problem p = base();
      p.N = 1, p.groups = 1, p.Cin = 700, p.Cout = Cout, p.H = p.W = 9, p.Kh = p.Kw = 3, p.stride = {stride, stride};
      check(p);
      if (HasFatalFailure()) return;
    }
  }
}

// A unit takes the column phases of a transposed convolution together where they are few, and each by itself where they
// are many; phases may lack taps, or outputs, and a row may be narrower than the stride.
TEST_P(SimdConvolutionTest, ColumnPhasesOfEveryStride) {
  int i = 0;
  for (std::int64_t stride = 1; stride <= 10; ++stride) {
    for (const std::int64_t Kw : {std::int64_t{1}, stride, 2 * stride + 1, std::int64_t{4}}) {
      for (const std::int64_t Cout : {1, 2, 3, 4, 7, 20}) {
        Problem p = base();
        p.N = 1, p.groups = 1 + i % 2, p.Cin = 2 * p.groups, p.Cout = Cout * p.groups, p.H = 3, p.Kh = 2, p.Kw = Kw;
        p.stride = {1 + i % 3, stride}, p.dilation = {1, 1 + i % 4}, p.data = Data::special;
        p.padding = p.padding_end = {0, i % 3 == 0 ? 0 : (Kw - 1) * p.dilation[1] / 2};
        p.W = std::int64_t{1} << i % 7;
        if (!p.transposed) p.W = std::max(p.W, (Kw - 1) * p.dilation[1] + 1 - 2 * p.padding[1]);
        p.out_layout = i % 5 == 0 ? Layout::channels_last : Layout::dense;
        compare(p, [&](const SimdKernel& kernel, const Operands& operands) {
          return run_guarded(kernel, p, operands, i % 2 == 0 ? Side::front : Side::end);
        });
        ++i;
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A guard page lies behind the scratch; simd_scratch_test tries many more sizes without computing.
TEST_P(SimdConvolutionTest, BandsOfWideImagesAndLargeKernelsFitTheScratch) {
  Problem wide = base(), large = base(), limit = base(), full = base(), many = base();
  wide.N = 1, wide.groups = wide.Cin = wide.Cout = 2, wide.H = 2, wide.W = 200'000;
  large.N = 1, large.groups = large.Cin = large.Cout = 2, large.H = 33, large.W = 70, large.Kh = large.Kw = 32;
  large.padding = large.padding_end = {3, 3};
  // The depthwise contract's limit: a strip's band of one output row, 156 rows of 194 columns, of 32,768 elements.
  limit.N = 1, limit.groups = limit.Cin = limit.Cout = 2, limit.H = 160, limit.W = 2000, limit.Kh = 32, limit.Kw = 3;
  limit.dilation = {5, 1};
  if (limit.transposed) limit.H = 3, limit.W = 200;
  // Lanes over channels: a band of one output row, 32 rows of 120 pixels of a vector of channels, just fits.
  full.N = 1, full.groups = full.Cin = full.Cout = 16, full.H = 33, full.W = 120, full.Kh = full.Kw = 32;
  full.padding = full.padding_end = {0, 0}, full.stride = {1, 1};
  if (full.transposed) full.H = 3, full.W = 20;
  many.N = 1, many.groups = 1, many.Cin = 297, many.Cout = 12, many.H = 4, many.W = 81, many.Kh = many.Kw = 4;
  many.stride = {4, 9};
  for (const Problem& p : {wide, large, limit, full, many}) {
    compare(p, [&](const SimdKernel& kernel, const Operands& operands) {
      return run_guarded(kernel, p, operands, Side::end);
    });
    if (HasFatalFailure()) return;
  }
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

INSTANTIATE_TEST_SUITE_P(Simd, SimdConvolutionTest, testing::ValuesIn(simd_kinds), simd_kind_name);

}  // namespace
}  // namespace convoke::kernel_tests

// SPDX-License-Identifier: Apache-2.0 OR MIT
// A worker's scratch is a constant, whatever the sizes; the plan of a call has to cut its units so that they fit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <string>

#include "tests/kernels/kernel_test.hpp"
#include "tests/kernels/simd/axis_probe.hpp"
#include "tests/kernels/simd/scratch_probe.hpp"

namespace convoke::kernel_tests {
namespace {

// What was asked when an assertion of the probe ended the program; a signal handler reaches nothing but globals.
std::string asked;
void say_what_was_asked(int) { std::fputs(asked.c_str(), stderr); }

// Small numbers as often as large ones.
std::int64_t draw_size(Random& random, std::int64_t high) {
  std::int64_t top = 1;
  while (top < high && random.between(0, 7) != 0) top *= 2;
  return random.between(1, std::min(top, high));
}

struct Sizes {
  bool transposed;
  int dtype;
  std::array<std::int64_t, 2> in, out, kernel, stride, padding, dilation;
  std::int64_t groups, Cin, Cout;  // channels of a group
};

// The sizes of the output; false: there is none.
bool set_out(Sizes& s) {
  for (std::size_t axis : {0U, 1U}) {
    const std::int64_t span = s.dilation[axis] * (s.kernel[axis] - 1);
    s.out[axis] = s.transposed ? (s.in[axis] - 1) * s.stride[axis] - 2 * s.padding[axis] + span + 1
                               : (s.in[axis] + 2 * s.padding[axis] - span - 1) / s.stride[axis] + 1;
    if (s.out[axis] <= 0 || (!s.transposed && s.in[axis] + 2 * s.padding[axis] <= span)) return false;
  }
  return true;
}

// Sizes that the contracts admit.
bool draw_sizes(Random& random, Sizes& s) {
  s.transposed = random.between(0, 1) == 1;
  s.dtype = static_cast<int>(random.between(0, 3));
  for (std::size_t axis : {0U, 1U}) {
    s.kernel[axis] = draw_size(random, 64);
    s.stride[axis] = draw_size(random, s.transposed ? 64 : 200);
    s.dilation[axis] = draw_size(random, 64);
    s.padding[axis] = random.between(0, 40);
    s.in[axis] = draw_size(random, axis == 0 ? 4096 : 300'000);
  }
  s.groups = random.between(1, 3), s.Cin = draw_size(random, 3000), s.Cout = draw_size(random, 2000);
  return set_out(s) &&
         ((s.kernel[0] - 1) * s.dilation[0] + 1) * ((s.kernel[1] - 1) * s.dilation[1] + 64 * s.stride[1] + 64) <= 65536;
}

convoke_operand operand(std::array<std::int64_t, 4> shape) {
  convoke_operand made{};
  made.size = sizeof made, made.rank = 4;
  std::int64_t stride = 1;
  for (std::size_t axis = 4; axis-- > 0; stride *= shape[axis]) {
    made.shape[axis] = shape[axis], made.stride[axis] = stride;
  }
  return made;
}

// Calls ask(call) for a call of these sizes, without data.
template <class Ask>
auto ask_of(const Sizes& s, int threads, const Ask& ask) {
  const std::int64_t Cin = s.Cin * s.groups, Cout = s.Cout * s.groups;
  const convoke_operand x = operand({1, Cin, s.in[0], s.in[1]}), out = operand({1, Cout, s.out[0], s.out[1]});
  const convoke_operand weight = s.transposed ? operand({Cin, s.Cout, s.kernel[0], s.kernel[1]})
                                              : operand({Cout, s.Cin, s.kernel[0], s.kernel[1]});
  convoke_conv_params params{};
  params.size = sizeof params, params.groups = s.groups;
  for (std::size_t axis : {0U, 1U}) {
    params.stride[axis] = s.stride[axis], params.padding[axis] = s.padding[axis];
    params.dilation[axis] = s.dilation[axis];
  }
  const convoke_operand* const inputs[] = {&x, &weight};
  const convoke_operand* const outputs[] = {&out};
  convoke_call call{};
  call.size = sizeof call, call.inputs = inputs, call.input_count = 2, call.outputs = outputs, call.output_count = 1;
  call.params = &params, call.threads = threads;
  asked = fmt::format(
      "in {}x{} out {}x{} kernel {}x{} stride {}x{} padding {}x{} dilation {}x{} groups {} Cin/g {} "
      "Cout/g {} transposed {} dtype {}\n",
      s.in[0], s.in[1], s.out[0], s.out[1], s.kernel[0], s.kernel[1], s.stride[0], s.stride[1], s.padding[0],
      s.padding[1], s.dilation[0], s.dilation[1], s.groups, s.Cin, s.Cout, s.transposed, s.dtype);
  return ask(call);
}

std::int64_t take(const Sizes& s, int threads) {
  return ask_of(s, threads, [&](const convoke_call& call) { return take_scratch(call, s.transposed, s.dtype, 40); });
}

class SimdScratchTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!host_runs(probe_isa())) GTEST_SKIP() << "this host lacks fma";
    std::signal(SIGABRT, say_what_was_asked);
  }
  void TearDown() override { std::signal(SIGABRT, SIG_DFL); }
};

TEST_F(SimdScratchTest, EveryUnitOfWhateverSizesFits) {
  Random random(20261201);
  std::int64_t units = 0;
  for (int i = 0; i < 50'000; ++i) {
    Sizes sizes{};
    if (draw_sizes(random, sizes)) units += take(sizes, i % 2 == 0 ? 1 : 16);
  }
  EXPECT_GT(units, 100'000);
}

// A transposed convolution may have phases of one tap, whose input is gathered, beside phases of more, which read a
// band.
TEST_F(SimdScratchTest, PhasesOfOneTapFitBesidePhasesOfMore) {
  Sizes sizes{};
  sizes.transposed = true, sizes.in = {4, 81}, sizes.kernel = {4, 4}, sizes.stride = {4, 9}, sizes.padding = {4, 2};
  sizes.dilation = {13, 57}, sizes.groups = 2, sizes.Cin = 297, sizes.Cout = 48;
  ASSERT_TRUE(set_out(sizes));
  for (sizes.dtype = 0; sizes.dtype < 4; ++sizes.dtype)
    for (const int threads : {1, 2, 16}) EXPECT_GT(take(sizes, threads), 0);
}

// A phase without a tap reads nothing, and must not ask for the band that those with more than one tap have.
TEST_F(SimdScratchTest, PhasesWithoutTapsTakeNoBand) {
  Sizes sizes{};
  sizes.transposed = true, sizes.in = {3, 28}, sizes.out = {6, 28}, sizes.kernel = {1, 1}, sizes.stride = {2, 1};
  sizes.padding = {0, 0}, sizes.dilation = {1, 1}, sizes.groups = 1, sizes.Cin = 576, sizes.Cout = 1328;
  for (sizes.dtype = 0; sizes.dtype < 4; ++sizes.dtype)
    for (const int threads : {1, 2, 16}) EXPECT_GT(take(sizes, threads), 0);
}

// The bits are the same either way; only the time is not.
TEST_F(SimdScratchTest, FewColumnPhasesShareAUnit) {
  Sizes sizes{};
  sizes.transposed = true, sizes.in = {8, 8}, sizes.kernel = {4, 9}, sizes.padding = {0, 0}, sizes.dilation = {1, 1};
  sizes.groups = 1, sizes.Cin = 16;
  const auto together = [&](std::int64_t stride, std::int64_t Cout) {
    sizes.stride = {1, stride}, sizes.Cout = Cout;
    EXPECT_TRUE(set_out(sizes));
    return ask_of(sizes, 1, [](const convoke_call& call) { return phases_together(call); });
  };
  EXPECT_EQ(together(1, 3), (PhasesTogether{1, 1}));
  EXPECT_EQ(together(2, 3), (PhasesTogether{2, 2}));
  EXPECT_EQ(together(4, 1), (PhasesTogether{4, 4}));
  EXPECT_EQ(together(8, 3), (PhasesTogether{8, 1})) << "a tile of pixels takes up to four";
  EXPECT_EQ(together(9, 3), (PhasesTogether{1, 1}));
  EXPECT_EQ(together(4, 16), (PhasesTogether{4, 1})) << "the sums of four phases and a block do not fit the registers";
}

}  // namespace
}  // namespace convoke::kernel_tests

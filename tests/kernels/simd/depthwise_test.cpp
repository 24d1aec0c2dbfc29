// SPDX-License-Identifier: Apache-2.0 OR MIT
// Which depthwise calls get lanes over channels: the fast way is not to be lost unseen.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "tests/kernels/kernel_test.hpp"
#include "tests/kernels/simd/axis_probe.hpp"
#include "tests/kernels/simd/depthwise_probe.hpp"

namespace convoke::kernel_tests {
namespace {

convoke_operand operand(std::array<std::int64_t, 4> shape, std::array<std::int64_t, 4> stride) {
  convoke_operand made{};
  made.size = sizeof made, made.rank = 4;
  for (std::size_t axis = 0; axis < 4; ++axis) made.shape[axis] = shape[axis], made.stride[axis] = stride[axis];
  return made;
}

struct Depthwise {
  std::int64_t channels = 16, multiplier = 1, H = 9, W = 9;
  std::array<std::int64_t, 4> x_stride{};  // of N, C, H, W

  // Three by three taps, padding 1.
  bool has_lanes_over_channels() const {
    const std::int64_t Cout = channels * multiplier;
    const convoke_operand x = operand({1, channels, H, W}, x_stride);
    const convoke_operand weight = operand({Cout, 1, 3, 3}, {9, 9, 3, 1});
    const convoke_operand out = operand({1, Cout, H, W}, {Cout * H * W, H * W, W, 1});
    convoke_conv_params params{};
    params.size = sizeof params, params.groups = channels;
    for (std::size_t axis : {0U, 1U}) params.stride[axis] = params.padding[axis] = params.dilation[axis] = 1;
    const convoke_operand* const inputs[] = {&x, &weight};
    const convoke_operand* const outputs[] = {&out};
    convoke_call call{};
    call.size = sizeof call, call.inputs = inputs, call.input_count = 2, call.outputs = outputs, call.output_count = 1;
    call.params = &params, call.threads = 1;
    return kernel_tests::has_lanes_over_channels(call);
  }
};

Depthwise dense(std::int64_t channels, std::int64_t W = 9) {
  return {.channels = channels, .W = W, .x_stride = {channels * 9 * W, 9 * W, W, 1}};
}

class SimdDepthwiseTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!host_runs(probe_isa())) GTEST_SKIP() << "this host lacks fma";
  }
};

TEST_F(SimdDepthwiseTest, ChannelsOrPixelsThatAreNeighboursGetLanesOverChannels) {
  EXPECT_TRUE(dense(16).has_lanes_over_channels());
  EXPECT_TRUE(dense(19).has_lanes_over_channels());
  const Depthwise channels_last{.x_stride = {16 * 81, 1, 16 * 9, 16}};
  EXPECT_TRUE(channels_last.has_lanes_over_channels());
}

TEST_F(SimdDepthwiseTest, WhatWouldIdleOrNotFitGetsLanesOverPixels) {
  EXPECT_FALSE(dense(1).has_lanes_over_channels());
  EXPECT_FALSE(dense(16, 100'000).has_lanes_over_channels());
  Depthwise multiplied = dense(16), flipped = dense(16);
  multiplied.multiplier = 2;
  flipped.x_stride[3] = -1;
  EXPECT_FALSE(multiplied.has_lanes_over_channels());
  EXPECT_FALSE(flipped.has_lanes_over_channels());
}

}  // namespace
}  // namespace convoke::kernel_tests

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "convoke/convoke.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// x 1x1x3x3 = 1..9 and weight 1x1x2x2 = 1, 10, 100, 1000: out 1x1x2x2.
class CFace : public ::testing::Test {
 protected:
  static constexpr std::array<std::int64_t, 4> x_shape = {1, 1, 3, 3}, weight_shape = {1, 1, 2, 2},
                                               out_shape = {1, 1, 2, 2}, bias_shape = {1, 0, 0, 0};
  std::vector<float> x_data = {1, 2, 3, 4, 5, 6, 7, 8, 9}, weight_data = {1, 10, 100, 1000}, bias_data = {0.5F},
                     out_data = std::vector<float>(4, -1);
  convoke_tensor x = convoke_dense_tensor(x_data.data(), CONVOKE_DTYPE_F32, 4, x_shape.data());
  convoke_tensor weight = convoke_dense_tensor(weight_data.data(), CONVOKE_DTYPE_F32, 4, weight_shape.data());
  convoke_tensor bias = convoke_dense_tensor(bias_data.data(), CONVOKE_DTYPE_F32, 1, bias_shape.data());
  convoke_tensor out = convoke_dense_tensor(out_data.data(), CONVOKE_DTYPE_F32, 4, out_shape.data());
};

TEST_F(CFace, Conv2d) {
  ASSERT_EQ(convoke_conv2d(&x, &weight, nullptr, &out, nullptr, 1), CONVOKE_SUCCESS) << convoke_last_error_message();
  EXPECT_THAT(out_data, ElementsAre(5421, 6532, 8754, 9865));
  ASSERT_EQ(convoke_conv2d(&x, &weight, &bias, &out, nullptr, 0), CONVOKE_SUCCESS);
  EXPECT_THAT(out_data, ElementsAre(5421.5, 6532.5, 8754.5, 9865.5));
}

TEST_F(CFace, ParametersAreNotIgnored) {
  convoke_conv2d_params params = convoke_default_conv2d_params();
  params.stride[0] = params.stride[1] = 2;
  params.padding[2] = params.padding[3] = 1;
  std::int64_t shape[4];
  ASSERT_EQ(convoke_conv2d_output_shape(x_shape.data(), weight_shape.data(), &params, shape), CONVOKE_SUCCESS);
  EXPECT_THAT(shape, ElementsAre(1, 1, 2, 2));
  ASSERT_EQ(convoke_conv2d(&x, &weight, nullptr, &out, &params, 1), CONVOKE_SUCCESS);
  EXPECT_THAT(out_data, ElementsAre(5421, 603, 87, 9));
}

TEST_F(CFace, ConvTranspose2d) {
  const std::array<std::int64_t, 4> big = {1, 1, 4, 4};
  std::vector<float> result(16, -1);
  convoke_tensor target = convoke_dense_tensor(result.data(), CONVOKE_DTYPE_F32, 4, big.data());
  ASSERT_EQ(convoke_conv_transpose2d(&x, &weight, nullptr, &target, nullptr, 1), CONVOKE_SUCCESS);
  EXPECT_THAT(result, ElementsAre(1, 12, 23, 30, 104, 1245, 2356, 3060, 407, 4578, 5689, 6090, 700, 7800, 8900, 9000));
  convoke_conv_transpose2d_params params = convoke_default_conv_transpose2d_params();
  params.stride[0] = 2;
  params.output_padding[0] = 1;
  std::int64_t shape[4];
  ASSERT_EQ(convoke_conv_transpose2d_output_shape(x_shape.data(), weight_shape.data(), &params, shape), 0);
  EXPECT_THAT(shape, ElementsAre(1, 1, 7, 4));
}

TEST_F(CFace, PlansRunAgain) {
  convoke_plan* plan = nullptr;
  convoke_plan_options options{};
  options.size = sizeof options;
  options.kernel = "cpu/portable/*";
  ASSERT_EQ(convoke_plan_conv2d(&x, &weight, nullptr, &out, nullptr, &options, &plan), CONVOKE_SUCCESS);
  EXPECT_THAT(convoke_plan_kernel(plan), StartsWith("cpu/portable/conv2d_f32/"));
  EXPECT_GT(convoke_plan_price_ns(plan), 0);
  EXPECT_EQ(convoke_plan_workspace_bytes(plan), 0u);
  ASSERT_EQ(convoke_plan_run(plan, &x, &weight, nullptr, &out, 2, nullptr, 0), CONVOKE_SUCCESS);
  EXPECT_THAT(out_data, ElementsAre(5421, 6532, 8754, 9865));
  EXPECT_EQ(convoke_plan_run(plan, &x, &weight, &bias, &out, 2, nullptr, 0), CONVOKE_INVALID_ARGUMENT);
  convoke_plan_destroy(plan);
  convoke_plan_destroy(nullptr);
}

TEST_F(CFace, AWeightIsPackedOnce) {
  convoke_plan* plan = nullptr;
  convoke_plan_options options{};
  options.size = sizeof options;
  options.packed_weight = 1;
  ASSERT_EQ(convoke_plan_conv2d(&x, &weight, &bias, &out, nullptr, &options, &plan), CONVOKE_SUCCESS);
  convoke_packed_weight* packed = nullptr;
  ASSERT_EQ(convoke_plan_pack(plan, &weight, 1, nullptr, 0, &packed), CONVOKE_SUCCESS) << convoke_last_error_message();
  weight_data = {0, 0, 0, 0};
  EXPECT_LE(convoke_plan_packed_workspace_bytes(plan), convoke_plan_workspace_bytes(plan));
  std::vector<char> scratch(convoke_plan_packed_workspace_bytes(plan) + 1);
  for (int i = 0; i < 2; ++i) {
    out_data.assign(4, -1);
    ASSERT_EQ(convoke_plan_run_packed(plan, &x, packed, &bias, &out, 1, scratch.data(), scratch.size()), 0)
        << convoke_last_error_message();
    EXPECT_THAT(out_data, ElementsAre(5421.5, 6532.5, 8754.5, 9865.5));
  }
  EXPECT_EQ(convoke_plan_run_packed(plan, &x, packed, nullptr, &out, 1, nullptr, 0), CONVOKE_INVALID_ARGUMENT);
  EXPECT_STREQ(convoke_last_error_rule(), "bias");
  convoke_plan_destroy(plan);

  convoke_conv2d_params params = convoke_default_conv2d_params();
  params.dilation[1] = 2;
  const std::array<std::int64_t, 4> narrow = {1, 1, 2, 1};
  out = convoke_dense_tensor(out_data.data(), CONVOKE_DTYPE_F32, 4, narrow.data());
  ASSERT_EQ(convoke_plan_conv2d(&x, &weight, nullptr, &out, &params, &options, &plan), CONVOKE_SUCCESS);
  EXPECT_EQ(convoke_plan_run_packed(plan, &x, packed, nullptr, &out, 1, nullptr, 0), CONVOKE_INVALID_ARGUMENT);
  EXPECT_STREQ(convoke_last_error_rule(), "packed_weight");
  EXPECT_THAT(convoke_last_error_message(), HasSubstr("dilation is [1, 1], the plan wants [1, 2]"));
  convoke_plan_destroy(plan);
  convoke_packed_weight_free(packed);
  convoke_packed_weight_free(nullptr);
}

TEST_F(CFace, APackedWeightAndItsPlanMustBeThere) {
  convoke_plan* plan = nullptr;
  ASSERT_EQ(convoke_plan_conv2d(&x, &weight, nullptr, &out, nullptr, nullptr, &plan), CONVOKE_SUCCESS);
  convoke_packed_weight* packed = nullptr;
  EXPECT_EQ(convoke_plan_pack(plan, &weight, 1, nullptr, 0, nullptr), CONVOKE_INVALID_ARGUMENT);
  EXPECT_EQ(convoke_plan_pack(nullptr, &weight, 1, nullptr, 0, &packed), CONVOKE_INVALID_ARGUMENT);
  EXPECT_EQ(convoke_plan_pack(plan, nullptr, 1, nullptr, 0, &packed), CONVOKE_INVALID_ARGUMENT);
  EXPECT_STREQ(convoke_last_error_rule(), "weight");
  EXPECT_EQ(convoke_plan_pack(plan, &x, 1, nullptr, 0, &packed), CONVOKE_INVALID_ARGUMENT);
  EXPECT_EQ(packed, nullptr);
  EXPECT_EQ(convoke_plan_run_packed(plan, &x, nullptr, nullptr, &out, 1, nullptr, 0), CONVOKE_INVALID_ARGUMENT);
  EXPECT_STREQ(convoke_last_error_rule(), "weight");
  EXPECT_EQ(convoke_plan_packed_workspace_bytes(nullptr), 0u);
  convoke_plan_destroy(plan);
}

TEST_F(CFace, EveryPlanOptionReachesThePlanner) {
  const auto rule = [&](auto change) {
    convoke_plan_options options{};
    options.size = sizeof options;
    change(options);
    convoke_plan* plan = nullptr;
    const int code = convoke_plan_conv2d(&x, &weight, nullptr, &out, nullptr, &options, &plan);
    convoke_plan_destroy(plan);
    return code == CONVOKE_SUCCESS ? std::string("planned") : std::string(convoke_last_error_rule());
  };
  const std::array<const char*, 1> everything{"*"}, vulkan{"vulkan"}, null{nullptr};
  EXPECT_EQ(rule([](auto&) {}), "planned");
  EXPECT_EQ(rule([](auto& o) { o.demand = "accurate(1)"; }), "planned");
  EXPECT_EQ(rule([](auto& o) { o.demand = "quick"; }), "demand");
  EXPECT_EQ(rule([](auto& o) { o.kernel = "no/such/kernel"; }), "kernel");
  EXPECT_EQ(rule([&](auto& o) { o.forbid = everything.data(), o.forbid_count = 1; }), "key");
  EXPECT_EQ(rule([&](auto& o) { o.backends = vulkan.data(), o.backend_count = 1; }), "key");
  EXPECT_EQ(rule([&](auto& o) { o.forbid = null.data(), o.forbid_count = 1; }), "forbid");
  EXPECT_EQ(rule([](auto& o) { o.backend_count = 1; }), "backends");
  EXPECT_EQ(rule([](auto& o) { o.threads = -1; }), "threads");
  EXPECT_EQ(rule([](auto& o) { o.size = 8; }), "params");
}

TEST_F(CFace, AnUnalignedTensorIsPlannedAsItLies) {
  std::vector<char> bytes(9 * sizeof(float) + 1);
  std::memcpy(bytes.data() + 1, x_data.data(), 9 * sizeof(float));
  x = convoke_dense_tensor(bytes.data() + 1, CONVOKE_DTYPE_F32, 4, x_shape.data());
  convoke_plan* plan = nullptr;
  ASSERT_EQ(convoke_plan_conv2d(&x, &weight, nullptr, &out, nullptr, nullptr, &plan), CONVOKE_SUCCESS);
  EXPECT_GT(convoke_plan_workspace_bytes(plan), 0u);
  ASSERT_EQ(convoke_plan_run(plan, &x, &weight, nullptr, &out, 1, nullptr, 0), CONVOKE_SUCCESS)
      << convoke_last_error_message();
  EXPECT_THAT(out_data, ElementsAre(5421, 6532, 8754, 9865));
  convoke_plan_destroy(plan);
}

TEST_F(CFace, ErrorsAreRemembered) {
  convoke_conv2d_params params = convoke_default_conv2d_params();
  params.groups = 0;
  EXPECT_EQ(convoke_conv2d(&x, &weight, nullptr, &out, &params, 1), CONVOKE_INVALID_ARGUMENT);
  EXPECT_EQ(convoke_last_error_code(), CONVOKE_INVALID_ARGUMENT);
  EXPECT_STREQ(convoke_last_error_rule(), "groups");
  EXPECT_THAT(convoke_last_error_message(), HasSubstr("groups"));
  EXPECT_THAT(out_data, ElementsAre(-1, -1, -1, -1));
  std::thread([] { EXPECT_EQ(convoke_last_error_code(), 0) << "errors belong to a thread"; }).join();
}

TEST_F(CFace, NothingNullCrashes) {
  EXPECT_EQ(convoke_conv2d(nullptr, &weight, nullptr, &out, nullptr, 1), CONVOKE_INVALID_ARGUMENT);
  EXPECT_STREQ(convoke_last_error_rule(), "x");
  EXPECT_EQ(convoke_conv2d(&x, &weight, nullptr, nullptr, nullptr, 1), CONVOKE_INVALID_ARGUMENT);
  EXPECT_EQ(convoke_conv2d_output_shape(nullptr, nullptr, nullptr, nullptr), CONVOKE_INVALID_ARGUMENT);
  EXPECT_EQ(convoke_plan_conv2d(&x, &weight, nullptr, &out, nullptr, nullptr, nullptr), CONVOKE_INVALID_ARGUMENT);
  EXPECT_EQ(convoke_plan_run(nullptr, &x, &weight, nullptr, &out, 1, nullptr, 0), CONVOKE_INVALID_ARGUMENT);
  EXPECT_EQ(convoke_plan_workspace_bytes(nullptr), 0u);
  EXPECT_STREQ(convoke_plan_kernel(nullptr), "");
  EXPECT_EQ(convoke_dense_tensor(nullptr, CONVOKE_DTYPE_F32, 9, x_shape.data()).rank, -1);
  x.size = 0;
  EXPECT_EQ(convoke_conv2d(&x, &weight, nullptr, &out, nullptr, 1), CONVOKE_INVALID_ARGUMENT) << "a zeroed struct";
  x.size = sizeof x;
  convoke_conv2d_params params{};
  EXPECT_EQ(convoke_conv2d(&x, &weight, nullptr, &out, &params, 1), CONVOKE_INVALID_ARGUMENT);
  EXPECT_STREQ(convoke_last_error_rule(), "params");
  x.rank = -1;
  EXPECT_EQ(convoke_conv2d(&x, &weight, nullptr, &out, nullptr, 1), CONVOKE_INVALID_SHAPE);
  x.rank = 4;
  x.dtype = 77;
  EXPECT_NE(convoke_conv2d(&x, &weight, nullptr, &out, nullptr, 1), CONVOKE_SUCCESS);
}

}  // namespace

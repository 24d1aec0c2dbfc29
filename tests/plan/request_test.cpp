// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/request.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace convoke::planner {
namespace {

// x 1x4x8x8, weight 8x4x3x3 and bias 8 give out 1x8x6x6.
struct Asked {
  TensorSpec x = TensorSpec::dense(DType::f32, {1, 4, 8, 8});
  TensorSpec weight = TensorSpec::dense(DType::f32, {8, 4, 3, 3});
  std::optional<TensorSpec> bias = TensorSpec::dense(DType::f32, {8});
  TensorSpec out = TensorSpec::dense(DType::f32, {1, 8, 6, 6});
  ConvParams params;

  Result<Request> request() const { return make_request(Op::conv2d, x, weight, bias, out, params); }
};

TEST(MakeRequest, HoldsWhatWasJudged) {
  Asked asked;
  asked.x.align = 32;
  const auto request = asked.request();
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->geometry.Ho, 6);
  EXPECT_EQ(request->dtype(), DType::f32);
  EXPECT_EQ(request->x.align, 32u);
  EXPECT_EQ(request->weight.align, 4u) << "nothing promised: an element's size";
  EXPECT_EQ(request->bias->align, 4u);
  EXPECT_EQ(request->out.align, 4u);
  asked.bias.reset();
  EXPECT_FALSE(asked.request()->bias);
}

TEST(MakeRequest, RefusalsNameTheirRule) {
  struct Row {
    ErrorCode code;
    const char* rule;
    std::function<void(Asked&)> change;
  };
  const std::vector<Row> rows = {
      {ErrorCode::invalid_argument, "stride", [](Asked& a) { a.params.stride = 0; }},
      {ErrorCode::invalid_shape, "bias", [](Asked& a) { a.bias->shape = {7}; }},
      {ErrorCode::unsupported, "dtype", [](Asked& a) { a.x.dtype = static_cast<DType>(-1); }},
      {ErrorCode::unsupported, "dtype", [](Asked& a) { a.bias->dtype = DType::f64; }},
      {ErrorCode::unsupported, "dtype", [](Asked& a) { a.out.dtype = DType::bf16; }},
      {ErrorCode::invalid_argument, "align", [](Asked& a) { a.weight.align = 24; }},
      {ErrorCode::invalid_argument, "align", [](Asked& a) { a.out.align = 8192; }},
      {ErrorCode::invalid_shape, "out", [](Asked& a) { a.out = TensorSpec::dense(DType::f32, {1, 8, 8, 8}); }},
      {ErrorCode::overlap, "out", [](Asked& a) { a.out.strides = {288, 36, 5, 1}; }},
  };
  for (const auto& [code, rule, change] : rows) {
    Asked asked;
    change(asked);
    const auto request = asked.request();
    ASSERT_FALSE(request) << rule;
    EXPECT_EQ(request.error().code, code) << request.error().message;
    EXPECT_EQ(request.error().rule, rule) << request.error().message;
  }
}

// The first thing wrong decides: shapes, dtypes, layouts, the shape of out, its overlap.
TEST(MakeRequest, JudgesInAFixedOrder) {
  Asked asked;
  asked.out.strides = {288, 36, 5, 1};
  EXPECT_EQ(asked.request().error().code, ErrorCode::overlap);
  asked.out.shape = {1, 8, 6, 7};
  EXPECT_EQ(asked.request().error().code, ErrorCode::invalid_shape);
  asked.weight.offset = -1;
  EXPECT_EQ(asked.request().error().code, ErrorCode::invalid_layout);
  asked.weight.dtype = DType::f16;
  EXPECT_EQ(asked.request().error().rule, "dtype");
  asked.params.groups = 3;
  EXPECT_EQ(asked.request().error().rule, "groups");
}

}  // namespace
}  // namespace convoke::planner

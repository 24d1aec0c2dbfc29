// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/scope.hpp"

#include <gtest/gtest.h>

namespace convoke::planner {
namespace {

// conv2d of x 2x6x9x8 with weight 4x3x3x2, groups 2: out 2x4x4x6 at stride 2x1, padding 1,0,0,0, dilation 1x2.
class RequestScopeTest : public ::testing::Test {
 protected:
  RequestScopeTest() {
    contract_.inputs.resize(3);
    contract_.inputs[0].name = "x";
    contract_.inputs[1].name = "weight";
    contract_.inputs[2].name = "bias";
    contract_.outputs.resize(1);
    contract_.outputs[0].name = "out";
  }

  static Request make() {
    ConvParams params;
    params.stride = {2, 1};
    params.padding = Padding(1, 0, 0, 0);
    params.dilation = {1, 2};
    params.groups = 2;
    TensorSpec x = TensorSpec::dense(DType::f32, {2, 6, 9, 8});
    x.offset = 12;
    x.align = 32;
    return make_request(Op::conv2d, x, TensorSpec::dense(DType::f32, {4, 3, 3, 2}), std::nullopt,
                        TensorSpec::dense(DType::f32, {2, 4, 4, 6}), params)
        .value();
  }

  Request request_ = make();
  contract::Contract contract_;
  std::vector<TensorSpec> operands_ = {request_.x, request_.weight, request_.out};
  RequestScope scope_{request_, contract_, operands_, 2, Use::constraint};
};

TEST_F(RequestScopeTest, DimsOfEveryRole) {
  EXPECT_EQ(scope_.dim("x", 1), 6);
  EXPECT_EQ(scope_.dim("x", -1), 8);
  EXPECT_EQ(scope_.dim("weight", 0), 4);
  EXPECT_EQ(scope_.dim("out", 3), 6);
  EXPECT_EQ(scope_.dim("x", 4), std::nullopt);
  EXPECT_EQ(scope_.dim("x", -5), std::nullopt);
}

TEST_F(RequestScopeTest, AnAbsentOperandHasNoDims) {
  EXPECT_EQ(scope_.dim("bias", 0), std::nullopt);
  EXPECT_EQ(scope_.rank("bias"), std::nullopt);
  EXPECT_EQ(scope_.rank("weight"), 4);
}

TEST_F(RequestScopeTest, AliasesOfTheFormat) {
  EXPECT_EQ(scope_.scalar("N"), 2);
  EXPECT_EQ(scope_.scalar("Cin"), 6);
  EXPECT_EQ(scope_.scalar("H_in"), 9);
  EXPECT_EQ(scope_.scalar("W_in"), 8);
  EXPECT_EQ(scope_.scalar("Cout"), 4);
  EXPECT_EQ(scope_.scalar("H_out"), 4);
  EXPECT_EQ(scope_.scalar("W_out"), 6);
  EXPECT_EQ(scope_.scalar("Kh"), 3);
  EXPECT_EQ(scope_.scalar("Kw"), 2);
  EXPECT_EQ(scope_.scalar("groups"), 2);
  EXPECT_EQ(scope_.scalar("dtype_bytes"), 4);
  EXPECT_EQ(scope_.scalar("k"), std::nullopt);
}

TEST_F(RequestScopeTest, NIsTheOutputsElementCountInCostsOnly) {
  EXPECT_EQ(scope_.scalar("n"), std::nullopt);
  EXPECT_EQ(RequestScope(request_, contract_, operands_, 2, Use::cost).scalar("n"), 2 * 4 * 4 * 6);
}

TEST_F(RequestScopeTest, ThreadsHaveAValueInCostsThatAreToldThem) {
  EXPECT_EQ(scope_.scalar("threads"), std::nullopt);
  EXPECT_EQ(RequestScope(request_, contract_, operands_, 2, Use::cost).scalar("threads"), std::nullopt);
  EXPECT_EQ(RequestScope(request_, contract_, operands_, 2, Use::cost, 3).scalar("threads"), 3);
  EXPECT_EQ(RequestScope(request_, contract_, operands_, 2, Use::constraint, 3).scalar("threads"), std::nullopt);
}

TEST_F(RequestScopeTest, ElementsOfTuples) {
  EXPECT_EQ(scope_.element("x_shape", 2), 9);
  EXPECT_EQ(scope_.element("out_shape", -1), 6);
  EXPECT_EQ(scope_.element("stride", 2), std::nullopt);
  EXPECT_EQ(scope_.element("colour", 0), std::nullopt);
}

TEST_F(RequestScopeTest, Tuples) {
  EXPECT_EQ(scope_.tuple("stride"), (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(scope_.tuple("padding"), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(scope_.tuple("dilation"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(scope_.tuple("x_shape"), (std::vector<std::int64_t>{2, 6, 9, 8}));
  EXPECT_EQ(scope_.tuple("w_shape"), (std::vector<std::int64_t>{4, 3, 3, 2}));
  EXPECT_EQ(scope_.tuple("out_shape"), (std::vector<std::int64_t>{2, 4, 4, 6}));
  EXPECT_EQ(scope_.tuple("output_padding"), std::nullopt);
}

TEST_F(RequestScopeTest, LayoutFacts) {
  EXPECT_EQ(scope_.layout("x", "stride", 2), 8);
  EXPECT_EQ(scope_.layout("x", "stride", -1), 1);
  EXPECT_EQ(scope_.layout("x", "offset", 0), 12);
  EXPECT_EQ(scope_.layout("x", "align", 0), 32);
  EXPECT_EQ(scope_.layout("weight", "align", 0), 4);
  EXPECT_EQ(scope_.layout("x", "colour", 0), std::nullopt);
}

TEST_F(RequestScopeTest, Words) {
  EXPECT_EQ(scope_.word("always"), true);
  EXPECT_EQ(scope_.word("depthwise"), false);
  EXPECT_EQ(scope_.word("all_inputs_contiguous"), true);
  EXPECT_EQ(scope_.word("any_input_strided"), false);
  operands_[0].strides = {0, 72, -8, 1};
  EXPECT_EQ(scope_.word("all_inputs_contiguous"), false);
  EXPECT_EQ(scope_.word("any_input_broadcast"), true);
  EXPECT_EQ(scope_.word("any_input_reversed"), true);
  EXPECT_EQ(scope_.word("fast_enough"), std::nullopt);
}

}  // namespace
}  // namespace convoke::planner

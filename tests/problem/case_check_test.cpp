// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/case_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace convoke::problem {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

Case expecting(std::vector<double> values) {
  Case test;
  test.expect = CaseTensor{{1, 1, 1, static_cast<std::int64_t>(values.size())}, values};
  return test;
}

ConstTensor out_of(const std::vector<float>& values) {
  return {values.data(), values.size() * sizeof(float),
          TensorSpec::dense(DType::f32, {1, 1, 1, static_cast<std::int64_t>(values.size())})};
}

Error refusal(const char* message) { return {ErrorCode::invalid_argument, "", message, {}}; }

TEST(CaseCheck, ComparesBitsAfterOneNarrowing) {
  const float above = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(mismatch(expecting({1 + 0x1p-24, NAN, -0.0}), out_of({1, -NAN, -0.0f})), std::nullopt);
  EXPECT_THAT(mismatch(expecting({2, 1}), out_of({2, above})),
              Optional(HasSubstr("out[0, 0, 0, 1] is 0x3f800001 (1.0000001192092896), expected 0x3f800000 (1)")));
  EXPECT_NE(mismatch(expecting({0}), out_of({-0.0f})), std::nullopt);
  EXPECT_NE(mismatch(expecting({NAN}), out_of({INFINITY})), std::nullopt);
}

TEST(CaseCheck, ReadsThroughStrides) {
  const std::vector<float> memory = {9, 2, 9, 1};
  ConstTensor out = out_of(memory);
  out.spec.shape = {1, 1, 1, 2};
  out.spec.strides = {1, 1, 1, -2};
  out.spec.offset = 3;
  EXPECT_EQ(mismatch(expecting({1, 2}), out), std::nullopt);
}

TEST(CaseCheck, ComparesShapes) {
  EXPECT_THAT(mismatch(expecting({1}), out_of({1, 1})), Optional(HasSubstr("out is [1, 1, 1, 2], expected")));
  Case shape;
  shape.expect_shape = Dims{1, 1, 1, 2};
  EXPECT_EQ(mismatch(shape, out_of({1, 1})), std::nullopt);
  EXPECT_NE(mismatch(shape, out_of({1})), std::nullopt);
}

TEST(CaseCheck, WantsTheWordInARefusal) {
  Case refused;
  refused.expect_error = "stride";
  EXPECT_EQ(mismatch(refused, refusal("stride must be at least 1")), std::nullopt);
  EXPECT_THAT(mismatch(refused, refusal("no")), Optional(HasSubstr("without the word `stride`: no")));
  EXPECT_THAT(mismatch(refused, out_of({1})), Optional(HasSubstr("an error about `stride` was expected")));
  EXPECT_THAT(mismatch(expecting({1}), refusal("no")), Optional(HasSubstr("refused: no")));
}

}  // namespace
}  // namespace convoke::problem

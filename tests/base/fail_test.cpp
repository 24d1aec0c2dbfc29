// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/fail.hpp"

#include <gtest/gtest.h>

namespace convoke {
namespace {

TEST(Fail, MakesAnErrorWithEverything) {
  const Result<int> result =
      fail(ErrorCode::overlap, "out", {named("out", Dims{1, -2}), named("n", 3)}, "{} and {}", 4, "five");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::overlap);
  EXPECT_EQ(result.error().rule, "out");
  EXPECT_EQ(result.error().message, "4 and five");
  EXPECT_EQ(result.error().values, (Values{{"out", "[1, -2]"}, {"n", "3"}}));
}

TEST(Fail, WritesDims) {
  EXPECT_EQ(text_of(Dims{}), "[]");
  EXPECT_EQ(text_of(Dims{7}), "[7]");
}

}  // namespace
}  // namespace convoke

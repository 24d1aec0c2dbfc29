// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/guard.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace convoke {
namespace {

TEST(Guarded, ValuesAndErrorsPassThrough) {
  EXPECT_EQ(guarded([]() -> Result<int> { return 7; }), 7);
  const auto refused = guarded(
      []() -> Result<int> { return tl::unexpected(Error{ErrorCode::overlap, "out", "out overlaps x", {{"x", "1"}}}); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::overlap);
  EXPECT_EQ(refused.error().rule, "out");
  EXPECT_EQ(refused.error().values.size(), 1u);
}

TEST(Guarded, ExhaustedMemoryIsAnError) {
  const auto result = guarded([]() -> Result<void> { throw std::bad_alloc(); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::out_of_memory);
  EXPECT_EQ(result.error().rule, "memory");
}

TEST(Guarded, AnyOtherExceptionEndsHere) {
  const auto result = guarded([]() -> Result<void> { throw std::runtime_error("missed"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kernel_failure);
  EXPECT_FALSE(result.error().message.empty());
}

}  // namespace
}  // namespace convoke

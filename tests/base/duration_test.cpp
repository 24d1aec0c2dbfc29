// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/duration.hpp"

#include <gtest/gtest.h>

namespace convoke {
namespace {

TEST(DurationText, ChoosesTheUnitThatKeepsTheNumberShort) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(0.5), "0.5 ns");
  EXPECT_EQ(duration_text(850), "850 ns");
  EXPECT_EQ(duration_text(1000), "1 us");
  EXPECT_EQ(duration_text(1254.3), "1.254 us");
  EXPECT_EQ(duration_text(16.4e6), "16.4 ms");
  EXPECT_EQ(duration_text(2.5e9), "2.5 s");
  EXPECT_EQ(duration_text(7.2e12), "7200 s");
}

}  // namespace
}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace convoke::problem {
namespace {

using ::testing::ElementsAre;

TEST(Text, IntegersAreDecimalAndFit) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "9223372036854775808", "1e3"})
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(Text, TrimmedDropsBlanksOfBothEnds) {
  EXPECT_EQ(trimmed(" \ta b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \r\n"), "");
}

TEST(Text, TickedIsPrintableAndShort) {
  EXPECT_EQ(ticked("a\x01\xff"), "`a??`");
  EXPECT_EQ(ticked(std::string(100, 'x')), "`" + std::string(60, 'x') + "...`");
}

TEST(Text, ClippedHasNoMarksAround) {
  EXPECT_EQ(clipped("a b\n"), "a b?");
  EXPECT_EQ(clipped(std::string(61, 'x')), std::string(60, 'x') + "...");
}

TEST(Text, SuggestsTheNearestWordWithinTwoSlips) {
  constexpr std::array<std::string_view, 3> words = {"stride", "padding", "dilation"};
  EXPECT_EQ(suggestion("strid", words), "; did you mean `stride`?");
  EXPECT_EQ(suggestion("paddnig", words), "; did you mean `padding`?");
  EXPECT_EQ(suggestion("groups", words), "");
  EXPECT_EQ(suggestion(std::string(1 << 20, 's'), words), "");
}

}  // namespace
}  // namespace convoke::problem

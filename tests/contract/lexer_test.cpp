// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/lexer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace convoke::contract {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> all;
  for (Lexer lexer(text, 0, text.size()); lexer.peek().kind != TokenKind::end;) all.emplace_back(lexer.take().text);
  return all;
}

TEST(Lexer, TakesTheLongestSymbol) {
  EXPECT_THAT(texts("a==b=c"), ElementsAre("a", "==", "b", "=", "c"));
  EXPECT_THAT(texts("2..=4 5.. <=<"), ElementsAre("2", "..=", "4", "5", "..", "<=", "<"));
  EXPECT_THAT(texts("&& & ="), ElementsAre("&&", "&", "="));
}

TEST(Lexer, NumbersHaveNeitherExponentNorLeadingPoint) {
  EXPECT_THAT(texts("1.5 1. .5 1e5 0..n"), ElementsAre("1.5", "1", ".", ".", "5", "1", "e5", "0", "..", "n"));
}

TEST(Lexer, KeepsCodePointsWhole) {
  EXPECT_THAT(texts("a → b≥c"), ElementsAre("a", "→", "b", "≥", "c"));
  EXPECT_THAT(texts("\xE2\x86 \xFF\x80"), ElementsAre("\xE2", "\x86", "\xFF", "\x80"));
}

TEST(Lexer, ReportsOffsetsAndBlanks) {
  const std::string_view text = "xx  yy(z";
  Lexer lexer(text, 1, 7);
  EXPECT_TRUE(lexer.peek().after_blank);  // the start counts
  EXPECT_EQ(lexer.take().offset, 1U);
  EXPECT_EQ(lexer.peek().offset, 4U);
  EXPECT_TRUE(lexer.take().after_blank);
  EXPECT_TRUE(lexer.peek().is("("));
  EXPECT_FALSE(lexer.take().after_blank);
  EXPECT_EQ(lexer.peek().kind, TokenKind::end);
  EXPECT_EQ(lexer.peek().offset, 7U);
}

TEST(Lexer, DescribesWhatCannotBePrinted) {
  const auto first = [](std::string_view text) { return describe(Lexer(text, 0, text.size()).peek()); };
  EXPECT_EQ(first("abc"), "`abc`");
  EXPECT_EQ(first("→"), "`→`");
  EXPECT_EQ(first("\x01"), "byte 0x01");
  EXPECT_EQ(first("\xFF"), "byte 0xFF");
  EXPECT_EQ(first("  "), "end of text");
}

}  // namespace
}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/glob.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/random.hpp"

namespace convoke {
namespace {

TEST(Glob, MatchesWholeTexts) {
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_FALSE(glob_match("", "a"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("cpu/*", "cpu/portable/conv2d_f32/f32,f32,f32,f32#9698b0be"));
  EXPECT_TRUE(glob_match("*conv2d_f32*", "cpu/portable/conv2d_f32/f32,f32,f32#9698b0be"));
  EXPECT_TRUE(glob_match("*/conv?d_f32/*", "cpu/portable/conv2d_f32/f32,f32,f32#9698b0be"));
  EXPECT_FALSE(glob_match("portable", "cpu/portable"));
  EXPECT_FALSE(glob_match("a?", "a"));
  EXPECT_FALSE(glob_match("*b", "abc"));
}

bool obvious(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*') return obvious(pattern.substr(1), text) || (!text.empty() && obvious(pattern, text.substr(1)));
  return !text.empty() && (pattern[0] == '?' || pattern[0] == text[0]) && obvious(pattern.substr(1), text.substr(1));
}

TEST(Glob, AgreesWithTheDefinition) {
  Random random(1);
  int matches = 0;
  for (int i = 0; i < 100000; ++i) {
    std::string pattern, text;
    for (auto n = random.below(7); n > 0; --n) pattern += "ab*?"[random.below(4)];
    for (auto n = random.below(8); n > 0; --n) text += "ab"[random.below(2)];
    ASSERT_EQ(glob_match(pattern, text), obvious(pattern, text)) << pattern << ' ' << text;
    matches += obvious(pattern, text);
  }
  EXPECT_GT(matches, 5000);
}

TEST(Glob, DoesNotBlowUp) {
  std::string pattern, text(20000, 'a');
  for (int i = 0; i < 100; ++i) pattern += "a*";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(glob_match(pattern + "b", text));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace convoke

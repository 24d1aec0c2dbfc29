// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/markdown.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "contract/text.hpp"

namespace convoke::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// `title@line(fences)` of each section, with `!` for an unclosed fence.
std::vector<std::string> sections(const std::string& text) {
  std::vector<std::string> out;
  for (const Section& section : read_outline(split_lines(text)).sections) {
    std::string row = fmt::format("{}@{}(", section.title, section.line);
    for (const Fence& fence : section.fences) row += fmt::format("{}-{} ", fence.open_line, fence.close_line);
    for (const int line : section.unclosed) row += fmt::format("!{}", line);
    out.push_back(fmt::format("{})", row));
  }
  return out;
}

TEST(Markdown, FrontMatterIsTheFirstThing) {
  const Outline found = read_outline(split_lines("--- \na: b\n---\t\ntext\n---\n"));
  EXPECT_TRUE(found.has_front_matter);
  EXPECT_EQ(found.front_end, 3);
  EXPECT_FALSE(read_outline(split_lines("\n---\na: b\n---\n")).has_front_matter);
  EXPECT_FALSE(read_outline(split_lines(" ---\na: b\n---\n")).has_front_matter);
  EXPECT_FALSE(read_outline(split_lines("---\na: b\n")).has_front_matter);
}

TEST(Markdown, SectionsAreHeadingsOfLevelTwoAtColumnZero) {
  EXPECT_THAT(sections("# one\n## two ##\n### three\n ## indented\n##no\ntext\n## a `b`\n"),
              ElementsAre("two ##@2()", "a `b`@7()"));
  EXPECT_THAT(sections("setext\n---\n\nprose\n***\n"), IsEmpty());
  EXPECT_THAT(sections("> ## quoted\n\n- ## listed\n"), IsEmpty());
}

TEST(Markdown, RulesBetweenSectionsAreProse) {
  EXPECT_THAT(sections("## a\ntext\n---\n## b\n```fkc\nx: y\n```\n---\n## c\n"),
              ElementsAre("a@1()", "b@4(5-7 )", "c@9()"));
}

TEST(Markdown, OnlyFkcFencesCount) {
  EXPECT_THAT(sections("## a\n```yaml\n## not a section\n```\n  ```fkc  \nx: y\n  ```\n~~~fkc\n~~~\n```fkc x\n```\n"),
              ElementsAre("a@1(5-7 )"));
  EXPECT_THAT(sections("## a\n````md\n```fkc\nx: y\n```\n````\n"), ElementsAre("a@1()"));
  EXPECT_THAT(sections("## a\n<!--\n```fkc\nx: y\n```\n-->\n"), ElementsAre("a@1()"));
  EXPECT_THAT(sections("## a\n\n    ```fkc\n    x: y\n    ```\n"), ElementsAre("a@1()"));
  EXPECT_THAT(sections("## a\n- item\n\n  ```fkc\n  x: y\n  ```\n"), ElementsAre("a@1(4-6 )"));
}

TEST(Markdown, HashesInABlockAreNoSections) {
  EXPECT_THAT(sections("## a\n```fkc\n## comment\nx: y\n```\n"), ElementsAre("a@1(2-5 )"));
}

TEST(Markdown, AnUnclosedFenceCountsAsNone) {
  EXPECT_THAT(sections("## a\n```fkc\nx: y\n"), ElementsAre("a@1(!2)"));
  EXPECT_THAT(sections("## a\n```fkc\nx: y\n## b\n```fkc\nx: y\n```\n"), ElementsAre("a@1(!2)", "b@4(5-7 )"));
  EXPECT_THAT(sections("## a\n```yaml\nx: y\n## b\n```fkc\nx: y\n```\n"), ElementsAre("a@1()", "b@4(5-7 )"));
}

TEST(Markdown, FencesBeforeTheFirstSectionAreOrphans) {
  const Outline found = read_outline(split_lines("```fkc\na: b\n```\n## a\n"));
  ASSERT_EQ(found.orphans.size(), 1u);
  EXPECT_EQ(found.orphans[0].open_line, 1);
}

TEST(Markdown, TheFirstParagraphGivesTheFirstProseLine) {
  const auto prose = [](const std::string& text) { return read_outline(split_lines(text)).sections.at(0).prose_line; };
  EXPECT_EQ(prose("## a\n\n\nfirst\nsecond\n"), 4);
  EXPECT_EQ(prose("## a\n```fkc\nx: y\n```\nlater\n"), 0);
  EXPECT_EQ(prose("## a\n- listed\n"), 0);
  EXPECT_EQ(prose("## a\n"), 0);
}

}  // namespace
}  // namespace convoke::contract

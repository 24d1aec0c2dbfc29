// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/yaml.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

namespace convoke::contract {
namespace {

struct Parsed {
  std::optional<YamlNode> root;
  std::vector<Diagnostic> found;
};

/// Parses `text` as if it began at line 11 of a file.
Parsed parse(const std::string& text) {
  const std::string file = std::string(10, '\n') + text;
  const std::vector<std::string_view> lines = split_lines(file);
  Chunk chunk;
  chunk.lines.assign(lines.begin() + 10, lines.end());
  chunk.first_line = 11;
  Report report("f", lines);
  Parsed out;
  out.root = parse_yaml(chunk, report);
  out.found = report.take();
  return out;
}

TEST(Yaml, EveryNodeKnowsItsPlaceInTheFile) {
  const Parsed parsed = parse("größe: { é: x, b: [1, 2] }\n# c\nlist:\n  - name: \"q\"\n");
  ASSERT_TRUE(parsed.root);
  const YamlNode& map = *parsed.root->find("größe");
  EXPECT_EQ(map.at.line, 11);
  EXPECT_EQ(map.at.column, 10);  // bytes: ö and ß take two each
  EXPECT_EQ(map.find("b")->items[1].at.column, 26);
  EXPECT_EQ(map.find("b")->key_at.column, 19);
  const YamlNode& name = *parsed.root->find("list")->items[0].find("name");
  EXPECT_EQ(name.at.line, 14);
  EXPECT_EQ(name.at.column, 11);
  EXPECT_EQ(name.value, "q");
  EXPECT_FALSE(name.plain);
  EXPECT_TRUE(map.find("é")->plain);
}

TEST(Yaml, NullsEmptyTextAndWordsAreToldApart) {
  const Parsed parsed = parse("a: ~\nb:\nc: ''\nd: None\ne: null\n");
  ASSERT_TRUE(parsed.root);
  EXPECT_TRUE(parsed.root->find("a")->is_null());
  EXPECT_TRUE(parsed.root->find("b")->is_null());
  EXPECT_EQ(parsed.root->find("b")->at.line, 12);  // its own line, not that of what follows
  EXPECT_FALSE(parsed.root->find("c")->is_null());
  EXPECT_EQ(parsed.root->find("d")->value, "None");
  EXPECT_TRUE(parsed.root->find("e")->is_null());
  EXPECT_EQ(parsed.root->find("f"), nullptr);
}

TEST(Yaml, QuotesAndTextMakeSpecialWordsHarmless) {
  const Parsed parsed = parse("a: \"no\"\nb: '*x'\nc: \"&y <<: z\"\nname: y\nn: { name: n }\nd: 2 * x\n");
  EXPECT_TRUE(parsed.root) << render(parsed.found.front());
}

TEST(Yaml, ABlockScalarIsQuotedText) {
  const Parsed parsed = parse("a: |\n  no\n  on\n");
  ASSERT_TRUE(parsed.root);
  EXPECT_FALSE(parsed.root->find("a")->plain);
}

TEST(Yaml, EmptyChunksAreEmptyMaps) {
  for (const char* text : {"", "# nothing\n", "\n\n"}) {
    const Parsed parsed = parse(text);
    ASSERT_TRUE(parsed.root) << text;
    EXPECT_EQ(parsed.root->kind, YamlNode::Kind::map);
  }
}

struct Refusal {
  std::string text;
  std::string name;
  int line, column;
};

TEST(Yaml, RefusalsComeWithTheirPlace) {
  const Refusal refusals[] = {
      {"a: 1\nb: &x 2\n", "YamlAnchorDisallowed", 12, 4},
      {"a: { b: [c, &x d] }\n", "YamlAnchorDisallowed", 11, 13},
      {"a: { b: [c, *x] }\n", "YamlAnchorDisallowed", 11, 13},
      {"a: &x { b: c }\n", "YamlAnchorDisallowed", 11, 4},
      {"- <<: 1\n", "YamlAnchorDisallowed", 11, 3},
      {"a: ! b\n", "YamlTagDisallowed", 11, 4},
      {"a: !!str b\n", "YamlTagDisallowed", 11, 4},
      {"a: !x [b]\n", "YamlTagDisallowed", 11, 4},
      {"a: 1\nb: 2\na: 3\n", "DuplicateKey", 13, 1},
      {"a: { b: NO }\n", "NorwayToken", 11, 9},
      {"a: [x, y]\n", "NorwayToken", 11, 8},
      {"a:\n  - on\n", "NorwayToken", 12, 5},
      {"a:\n\tb: c\n", "YamlTabIndent", 12, 1},
      {"a: 1\n--- \nb: 2\n", "YamlSyntax", 11, 1},
      {"a: 'open\n", "YamlSyntax", 11, 9},
      {"[a, b]\n", "YamlSyntax", 11, 1},
      {"a: b: c\n", "YamlSyntax", 11, 5},
      {"[a]: b\n", "BadScalarType", 11, 1},
      {fmt::format("a: {}{}\n", std::string(20, '['), std::string(20, ']')), "NestingTooDeep", 11, 19},
      {fmt::format("a: {}\n", std::string(max_scalar_bytes + 1, 'x')), "ScalarTooLong", 11, 4},
      {fmt::format("a: b\n{}\n", std::string(max_chunk_bytes, '#')), "BlockTooLarge", 11, 1},
  };
  for (const Refusal& refusal : refusals) {
    const Parsed parsed = parse(refusal.text);
    const std::string shown = refusal.text.substr(0, 40);
    EXPECT_FALSE(parsed.root) << shown;
    ASSERT_EQ(parsed.found.size(), 1u) << shown;
    EXPECT_EQ(parsed.found[0].name, refusal.name) << render(parsed.found[0]);
    EXPECT_EQ(parsed.found[0].line, refusal.line) << render(parsed.found[0]);
    EXPECT_EQ(parsed.found[0].column, refusal.column) << render(parsed.found[0]);
  }
}

TEST(Yaml, OffencesOfOneChunkAreAllTold) {
  EXPECT_EQ(parse("a: &x 1\na: 2\nb: no\nc: !t 3\nd: [*x]\n").found.size(), 5u);
}

}  // namespace
}  // namespace convoke::contract

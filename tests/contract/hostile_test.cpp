// SPDX-License-Identifier: Apache-2.0 OR MIT
// Input that is meant to hurt: a diagnostic in bounded time and memory, never a crash. The bounds are generous: they
// catch what is quadratic, on a slow machine and under sanitizers too.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>

#include "contract/report.hpp"
#include "contract/source.hpp"
#include "sample.hpp"

namespace convoke::contract::testing {
namespace {

constexpr std::chrono::seconds patience{60};

ParsedDocument timed(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  ParsedDocument document = parse_document(text, "hostile");
  (void)format_document(text, "hostile");
  EXPECT_LT(std::chrono::steady_clock::now() - start, patience);
  EXPECT_LE(document.diagnostics.size(), 2 * Report::max_findings + 1);
  for (const Diagnostic& diagnostic : document.diagnostics) EXPECT_LT(render(diagnostic).size(), 4000u);
  return document;
}

/// The name of the only error.
std::string error_of(const std::string& text) {
  const ParsedDocument document = timed(text);
  for (const Diagnostic& diagnostic : document.diagnostics)
    if (diagnostic.severity == Severity::error) return diagnostic.name;
  return {};
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

std::string in_block(const std::string& yaml) { return fmt::format("{}## a\n```fkc\n{}\n```\n", sample_front, yaml); }

TEST(Hostile, HugeDocuments) {
  const std::string text = sample() + std::string(std::size_t{100} << 20, 'a');
  const ParsedDocument document = timed(text);
  ASSERT_EQ(document.diagnostics.size(), 1u);
  EXPECT_EQ(document.diagnostics[0].name, "DocumentTooLarge");
  EXPECT_EQ(document.diagnostics[0].line, 1);
  EXPECT_EQ(document.diagnostics[0].column, 1);
}

TEST(Hostile, BytesThatAreNotText) {
  for (const std::string_view bad :
       {std::string_view("\xff"), std::string_view("\xc3"), std::string_view("\xed\xa0\x80"),
        std::string_view("\xc0\xaf"), std::string_view("\xf5\x80\x80\x80"), std::string_view("\0", 1),
        std::string_view("\x1b"), std::string_view("\rx")}) {
    const std::string text = plant(sample(), "Prose about", fmt::format("Prose {} about", bad));
    const ParsedDocument document = timed(text);
    ASSERT_EQ(document.diagnostics.size(), 1u);
    EXPECT_EQ(document.diagnostics[0].name, "BadEncoding");
    EXPECT_EQ(document.diagnostics[0].line, line_of(text, "Prose "));
    EXPECT_EQ(document.diagnostics[0].column, 7);
  }
  EXPECT_EQ(error_of("\xff\xfe-\0-\0-\0"), "BadEncoding");
}

TEST(Hostile, EveryTruncationIsReadOrRefused) {
  const std::string text = sample();
  const std::size_t front_end = text.find("\n---\n") + 4;
  const std::size_t section = text.find("## conv");
  const std::size_t end = text.rfind("```") + 3;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const ParsedDocument document = parse_document(text.substr(0, size), "cut");
    const bool no_section_yet = size >= front_end && size < section + 3;
    EXPECT_EQ(document.has_errors(), !no_section_yet && size < end) << size;
    EXPECT_EQ(document.contracts.size(), size >= end ? 1u : 0u) << size;
  }
}

TEST(Hostile, DeepNesting) {
  EXPECT_EQ(error_of(in_block(fmt::format("a: {}", std::string(100000, '[')))), "NestingTooDeep");
  EXPECT_EQ(error_of(in_block(fmt::format("a: {}", std::string(100000, '{')))), "NestingTooDeep");
  EXPECT_EQ(error_of(in_block(repeated("- ", 100000))), "NestingTooDeep");
  EXPECT_EQ(error_of(in_block(repeated("? ", 100000))), "NestingTooDeep");
  std::string stairs;
  for (std::size_t depth = 0; depth < 600; ++depth) stairs += fmt::format("{}a:\n", std::string(depth, ' '));
  EXPECT_EQ(error_of(in_block(stairs)), "NestingTooDeep");
}

TEST(Hostile, HugeScalarsAndBlocks) {
  EXPECT_EQ(error_of(in_block(fmt::format("a: \"{}\"", std::string(200000, 'x')))), "ScalarTooLong");
  EXPECT_EQ(error_of(in_block(fmt::format("a: \"{}\"", std::string(300000, 'x')))), "BlockTooLarge");
  EXPECT_EQ(error_of(in_block(fmt::format("a: [{}", repeated("x, ", 80000)))), "YamlSyntax");
}

TEST(Hostile, ExpressionsWithoutEnd) {
  for (const std::string_view part : {"(", "-", "a[", "a(", "1+", "a;", "==", "a.", "not "}) {
    const std::string text = repeated(part, 15000 / part.size());
    timed(plant(sample(), "2 * out_shape[0] * groups", text));
    timed(plant(sample(), "weight.dim[1] == x.dim[1] / groups", text));
    timed(plant(sample(), "groups == 1", text));
  }
}

TEST(Hostile, ABillionLaughs) {
  std::string yaml = "a0: &a0 lol\n";
  for (int i = 1; i < 30; ++i) {
    yaml += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
  }
  EXPECT_EQ(error_of(in_block(yaml)), "YamlAnchorDisallowed");
}

TEST(Hostile, ManySections) {
  EXPECT_EQ(error_of(std::string(sample_front) + repeated("## a\n", 100000)), "MissingFkcBlock");
  EXPECT_EQ(error_of(std::string(sample_front) + repeated("## a\n```fkc\n", 100000)), "MissingFkcBlock");
  EXPECT_EQ(error_of(std::string(sample_front) + repeated("## a\n```fkc\n```\n", 100000)), "MissingField");
  EXPECT_EQ(error_of(std::string(sample_front) + "## a\n" + repeated("```fkc\n```\n", 100000)), "MultipleFkcBlocks");
  EXPECT_EQ(error_of(std::string(sample_front) + repeated("```yaml\n~~~\n", 20000)), "");
}

TEST(Hostile, MarkdownThatMakesParsersSlow) {
  constexpr std::size_t many = 100000;
  for (const std::string_view part :
       {"[",  "![", "[a](", "*a_ ", "**a __b ", "`a``",     "<a ",   "<!--", "<?",   "<![CDATA[", "&a;",
        "> ", "- ", "1. ",  "* ",   ">",        "[a]: b\n", "~~~\n", "\\",   "* \n", "> \n",      "`` ` "}) {
    timed(std::string(sample_front) + repeated(part, many) + "\n" + std::string(sample_section));
    timed(std::string(sample_front) + repeated(part, many) + "\n" + repeated("a\n", many));
  }
}

TEST(Hostile, ManyOperandsAndFields) {
  timed(plant(sample(), "    - name: bias", repeated("    - name: b\n", 15000) + "    - name: bias"));
  timed(plant(sample(), "      groups:", repeated("      b: {}\n", 15000) + "      groups:"));
  std::string keys;
  for (int i = 0; i < 20000; ++i) keys += fmt::format("k{}: 1\n", i);
  const ParsedDocument document = timed(plant(sample(), "determinism:", keys + "determinism:"));
  EXPECT_EQ(document.diagnostics.size(), Report::max_findings + 1);
  EXPECT_EQ(document.diagnostics.back().name, "TooManyFindings");
  EXPECT_FALSE(document.has_errors());
}

TEST(Hostile, AnErrorBehindManyWarningsIsStillTold) {
  std::string keys;
  for (int i = 0; i < 2000; ++i) keys += fmt::format("k{}: 1\n", i);
  std::string second = plant(std::string(sample_section), "kernel: conv", "kernel: other");
  second = plant(second, "determinism: same_hardware_bitwise", "determinism: always");
  EXPECT_EQ(error_of(plant(sample(), "op_kind:", keys + "op_kind:") + second), "UnknownAdmissibilityEnum");
}

}  // namespace
}  // namespace convoke::contract::testing

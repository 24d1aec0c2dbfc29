// SPDX-License-Identifier: Apache-2.0 OR MIT
// A document that lost its leading blanks says the same as before, with one warning more.
#include "contract/flat.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "dump.hpp"
#include "sample.hpp"

namespace convoke::contract::testing {
namespace {

std::string dump_all(const ParsedDocument& document) {
  std::string out;
  for (const Contract& contract : document.contracts) out += testing::dump(contract);
  return out;
}

void expect_same(const std::string& text, const std::string& flat) {
  const ParsedDocument whole = parse_document(text, "a");
  const ParsedDocument found = parse_document(flat, "a");
  EXPECT_EQ(dump_all(found), dump_all(whole));
  EXPECT_FALSE(whole.contracts.empty());
  ASSERT_EQ(found.diagnostics.size(), whole.diagnostics.size() + 1) << rendered(found.diagnostics);
  EXPECT_EQ(std::ranges::count(found.diagnostics, "IndentationLost", &Diagnostic::name), 1);
}

/// Everything that encloses something, in block style and in flow style.
std::string everything() {
  std::string text = sample();
  text = plant(text, "      rank: 1\n",
               "      rank: 1\n      fdx:\n        requires_ext: false\n        quant:\n          family: AFFINE_INT\n"
               "          granularity: PerTensor\n          role: weight\n        symbolic_extent: tolerated\n"
               "      shape_constraint: \"weight.dim[0] == bias.dim[0]\"\n");
  text = plant(text, "layout: { contiguous: required, strided: rejected }",
               "layout:\n        contiguous: required\n        strided: rejected");
  text = plant(text, "    - { when: \"groups == 1\", class: conv }\n",
               "    # the usual case\n    - when: \"groups == 1\"\n      class: conv\n    - { when: \"depthwise\",\n"
               "        note: \"over\n          two lines\" }\n");
  text =
      plant(text, "  provenance: judge_measured\n",
            "  provenance: judge_measured\n  memory:\n    device_bytes: 0\n    host_bytes: \"n\"\n  bytes_moved: ~\n");
  text = plant(
      text, "  invariant_to: [threads, batch]\n",
      "  invariant_to:\n    - threads\n    - batch\n  error:\n    scale: output\n    terms: \"n\"\n    unit: F32\n"
      "requires:\n  isa: [avx2]\nworkspace_bytes: \"n\"\npacking:\n  operand: weight\n  kernel: pack\n"
      "  bytes: \"n\"\n");
  return text;
}

TEST(Flat, TheSampleSurvives) { expect_same(sample(), flattened(sample())); }

TEST(Flat, EveryEnclosingKeySurvives) {
  EXPECT_EQ(rendered(parse_document(everything(), "a").diagnostics), "");
  expect_same(everything(), flattened(everything()));
}

TEST(Flat, TheSeedDocumentsSurvive) {
  for (const std::string name : {"cpu-conv", "vulkan-conv"}) {
    const std::string text = read_repository_file(fmt::format("suites/contracts/{}.fkc.md", name));
    expect_same(text, flattened(text));
    const std::string flat = read_repository_file(fmt::format("suites/contracts/flat/{}.txt", name));
    EXPECT_EQ(parse_document(flat, "a").diagnostics.size(), parse_document(text, "a").diagnostics.size() + 1);
  }
}

TEST(Flat, PlacesAreThoseOfTheFile) {
  const std::string text = flattened(plant(sample(), "strided: rejected", "strided: maybe"));
  const ParsedDocument document = parse_document(text, "a");
  const auto found = std::ranges::find(document.diagnostics, "BadLayoutFlag", &Diagnostic::name);
  ASSERT_NE(found, document.diagnostics.end()) << rendered(document.diagnostics);
  EXPECT_EQ(found->line, line_of(text, "maybe"));
  EXPECT_EQ(found->source_line.substr(static_cast<std::size_t>(found->column) - 1, 5), "maybe");
}

TEST(Flat, AKeyNobodyKnowsStaysWhereItIs) {
  const std::string text = plant(sample(), "  in_place: false\n", "  mood: good\n  in_place: false\n");
  const ParsedDocument document = parse_document(flattened(text), "a");
  EXPECT_EQ(document.contracts.size(), 1u);
  EXPECT_NE(rendered(document.diagnostics).find("`caps.mood` is not known"), std::string::npos);
}

TEST(Flat, OneIndentedLineMeansThatNothingWasLost) {
  const auto is_flat = [](const std::string& text) {
    Chunk chunk;
    const std::vector<std::string_view> lines = split_lines(text);
    chunk.lines = lines;
    chunk.first_line = 1;
    return find_flattened({chunk}) != 0;
  };
  EXPECT_TRUE(is_flat("accept:\ninputs:\n- name: x\n"));
  EXPECT_TRUE(is_flat("# c\naccept: # c\n\n# c\nop_params:\nvariant: None\n"));
  EXPECT_FALSE(is_flat("accept:\n  inputs: []\ncost:\nprovenance: x\n"));
  EXPECT_FALSE(is_flat("inputs:\n- name: x\n"));  // YAML needs no indentation here
  EXPECT_FALSE(is_flat("kernel: a\nblurb: b\n"));
}

}  // namespace
}  // namespace convoke::contract::testing

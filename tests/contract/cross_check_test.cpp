// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace convoke::contract::testing {
namespace {

ParsedDocument parse(const std::string& text, const std::string& path) {
  ParsedDocument document = parse_document(text, path);
  EXPECT_EQ(count_errors(document.diagnostics), 0u) << rendered(document.diagnostics);
  return document;
}

/// The sample under another function's name, so that nothing is bound twice.
std::string other_function() { return plant(sample(), "sample::conv", "sample::other"); }

TEST(CrossCheck, DocumentsOfOneProviderAgreeOnItsFields) {
  struct Row {
    std::string_view from, to, field;
  };
  const Row rows[] = {{"backend: Cpu", "backend: Cuda", "backend"},
                      {"kernel_source: \"plain\"", "kernel_source: \"fancy\"", "kernel_source"},
                      {"sample::TABLE", "sample::OTHER", "link_registry"},
                      {"  revision_base: \"rev 1\"\n", "", "revision_base"}};
  for (const Row& row : rows) {
    const auto found = cross_check({parse(sample(), "a"), parse(plant(other_function(), row.from, row.to), "b")});
    ASSERT_EQ(found.size(), 1u) << row.field << rendered(found);
    EXPECT_EQ(found[0].name, "ProviderMismatch");
    EXPECT_EQ(found[0].path, "b");
    EXPECT_GE(found[0].line, 4);
    EXPECT_NE(found[0].message.find(row.field), std::string::npos);
  }
  const std::string renamed = plant(plant(other_function(), "name: sample", "name: another"), "sample::TABLE", "other");
  EXPECT_TRUE(cross_check({parse(sample(), "a"), parse(renamed, "b")}).empty());
}

TEST(CrossCheck, AFunctionIsBoundOnceToAKeyFromOneSource) {
  const ParsedDocument first = parse(sample(), "a");
  const auto found = cross_check({first, parse(sample(), "b")});
  ASSERT_EQ(found.size(), 1u) << rendered(found);
  EXPECT_EQ(found[0].rule, "10");
  EXPECT_EQ(found[0].name, "DuplicateEntryPoint");
  EXPECT_EQ(found[0].line, line_of(sample(), "entry_point"));
  EXPECT_NE(found[0].message.find("a:"), std::string::npos);
}

TEST(CrossCheck, AnotherSourceKeyOrBackendIsNoDuplicate) {
  const ParsedDocument first = parse(sample(), "a");
  const auto alone = [&](std::string_view from, std::string_view to) {
    return cross_check({first, parse(plant(sample(), from, to), "b")}).empty();
  };
  EXPECT_TRUE(alone("op_kind: Conv2D", "kernel_source: fancy\nop_kind: Conv2D"));
  EXPECT_TRUE(alone("op_kind: Conv2D", "backend: Vulkan\nop_kind: Conv2D"));
  EXPECT_TRUE(alone("passthrough(x)", "fixed(F64)"));
  EXPECT_FALSE(alone("rank: 1", "rank: 2"));
}

TEST(CrossCheck, FindingsAreInTheOrderOfPathAndLine) {
  const std::string other = plant(other_function(), "kernel_source: \"plain\"", "kernel_source: \"fancy\"");
  const std::string twice = plant(sample(), "revision_base: \"rev 1\"", "revision_base: \"rev 2\"");
  const auto found = cross_check({parse(sample(), "a"), parse(twice, "c"), parse(other, "b")});
  ASSERT_EQ(found.size(), 3u) << rendered(found);
  EXPECT_EQ(found[0].path, "b");
  EXPECT_EQ(found[1].path, "c");
  EXPECT_EQ(found[1].name, "ProviderMismatch");
  EXPECT_EQ(found[2].name, "DuplicateEntryPoint");
}

TEST(CrossCheck, EveryCpuOperatorHasABitStableKernel) {
  const std::string unaudited = plant(sample(), "audited: true", "audited: false");
  const auto found = cross_check({parse(unaudited, "a")});
  ASSERT_EQ(found.size(), 1u) << rendered(found);
  EXPECT_EQ(found[0].name, "MissingBitStableCoverage");
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_TRUE(cross_check({parse(unaudited, "a"), parse(other_function(), "b")}).empty());
  EXPECT_TRUE(cross_check({parse(plant(unaudited, "backend: Cpu", "backend: Cuda"), "a")}).empty());
}

}  // namespace
}  // namespace convoke::contract::testing

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace convoke::contract::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> keys_of(const std::string& text) {
  const ParsedDocument document = parse_document(text, "");
  EXPECT_EQ(count_errors(document.diagnostics), 0u) << rendered(document.diagnostics);
  std::vector<std::string> out;
  for (const Contract& contract : document.contracts)
    for (const Key& key : keys(contract))
      out.push_back(fmt::format("{} {}{}", key.symbol, fmt::join(key.dtypes, ","), key.optional_present ? "" : " -"));
  return out;
}

TEST(Keys, AnOptionalLastOperandMakesTwo) {
  EXPECT_THAT(keys_of(sample()), ElementsAre("sample::conv F32,F32,F32,F32", "sample::conv F32,F32,F32 -"));
  EXPECT_THAT(keys_of(plant(sample(), "      optional: true\n", "")), ElementsAre("sample::conv F32,F32,F32,F32"));
}

TEST(Keys, SeveralDtypesFanOut) {
  std::string text = plant(sample(), "x\n      dtypes: [F32]", "x\n      dtypes: [F32, BF16]");
  text = plant(text, "weight\n      dtypes: [F32]", "weight\n      dtypes: [F32, BF16]");
  EXPECT_THAT(keys_of(text), ElementsAre("sample::conv_f32 F32,F32,F32,F32", "sample::conv_f32 F32,F32,F32 -",
                                         "sample::conv_bf16 BF16,BF16,F32,BF16", "sample::conv_bf16 BF16,BF16,BF16 -"));
}

TEST(Keys, OutputRulesGiveTheLastSlots) {
  EXPECT_THAT(keys_of(plant(sample(), "passthrough(x)", "fixed(U8)")),
              ElementsAre("sample::conv F32,F32,F32,U8", "sample::conv F32,F32,U8 -"));
  EXPECT_THAT(keys_of(plant(sample(), "passthrough(x)", "cast(to)")),
              ElementsAre("sample::conv F32,F32,F32", "sample::conv F32,F32 -"));
  const std::string bundle = plant(sample(), "  outputs:\n    - name: out\n      dtype_rule: passthrough(x)\n",
                                   "  bundle:\n    - name: second\n      dtype_rule: fixed(U8)\n    - name: out\n"
                                   "      dtype_rule: passthrough(x)\n");
  EXPECT_THAT(keys_of(bundle), ElementsAre("sample::conv F32,F32,F32,U8", "sample::conv F32,F32,U8 -"));
}

TEST(Keys, DescribedSectionsHaveNone) {
  EXPECT_THAT(keys_of(plant(sample(), "op_kind: Conv2D", "registrable: false")), IsEmpty());
}

TEST(Keys, OfTheSeedDocuments) {
  EXPECT_EQ(keys_of(read_repository_file("suites/contracts/cpu-conv.fkc.md")).size(), 16u);
  EXPECT_EQ(keys_of(read_repository_file("suites/contracts/vulkan-conv.fkc.md")).size(), 3u);
}

}  // namespace
}  // namespace convoke::contract::testing

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "contract/text.hpp"
#include "dump.hpp"
#include "sample.hpp"

namespace convoke::contract::testing {
namespace {

std::string formatted(const std::string& text) {
  const auto out = format_document(text, "a");
  EXPECT_TRUE(out) << rendered(out.error());
  return out.value_or("");
}

TEST(Format, AFormattedDocumentStaysAsItIs) { EXPECT_EQ(formatted(sample()), sample()); }

TEST(Format, LostIndentationComesBack) { EXPECT_EQ(formatted(flattened(sample())), sample()); }

TEST(Format, CommentsStandWithWhatTheyPrecede) {
  const std::string text = plant(sample(), "  in_place: false", "  # about placement\n  in_place: false");
  EXPECT_EQ(formatted(flattened(text)), text);
}

TEST(Format, LineEndsMarksAndTrailingBlanksAreNormalised) {
  std::string messy = "\xEF\xBB\xBF";
  for (const char c : plant(sample(), "in_place: false", "in_place: false   ")) {
    if (c == '\n') messy += '\r';
    messy += c;
  }
  messy.resize(messy.size() - 2);
  EXPECT_EQ(formatted(messy), sample());
}

TEST(Format, ProseIsNotTouched) {
  const std::string text = plant(sample(), "Prose about everything.", "Prose  \n   with blanks\n\n\n    code");
  EXPECT_EQ(formatted(text), text);
}

TEST(Format, TheSeedDocumentsKeepTheirMeaning) {
  for (const std::string name : {"cpu-conv", "vulkan-conv"}) {
    const std::string flat = read_repository_file(fmt::format("suites/contracts/flat/{}.txt", name));
    const std::string once = formatted(flat);
    EXPECT_EQ(formatted(once), once);
    const ParsedDocument before = parse_document(flat, "a");
    const ParsedDocument after = parse_document(once, "a");
    ASSERT_EQ(after.contracts.size(), before.contracts.size());
    for (std::size_t i = 0; i < after.contracts.size(); ++i)
      EXPECT_EQ(dump(after.contracts[i]), dump(before.contracts[i]));
    EXPECT_EQ(after.diagnostics.size() + 1, before.diagnostics.size());
  }
}

TEST(Format, NeedsReadableYamlAndNothingElse) {
  EXPECT_TRUE(format_document(plant(sample(), "Conv2D\nblurb", "Conv9D\nblurb"), "a"));
  EXPECT_FALSE(format_document(plant(sample(), "in_place: false", "in_place: [false"), "a"));
  EXPECT_FALSE(format_document("no front matter\n", "a"));
  EXPECT_FALSE(format_document("\xff", "a"));
}

}  // namespace
}  // namespace convoke::contract::testing

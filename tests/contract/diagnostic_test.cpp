// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/diagnostic.hpp"

#include <gtest/gtest.h>

#include <string>

namespace convoke::contract {
namespace {

Diagnostic example() {
  return {.severity = Severity::error,
          .rule = "4",
          .name = "LayoutIncoherent",
          .message = "needs `strided: accepted`",
          .accepted = "",
          .path = "a.fkc.md",
          .line = 12,
          .column = 5,
          .source_line = "    layout: {}",
          .source_column = 0};
}

TEST(Render, PlaceMessageRuleSourceAndCaret) {
  EXPECT_EQ(render(example()),
            "a.fkc.md:12:5: error: needs `strided: accepted` [4 LayoutIncoherent]\n"
            "      layout: {}\n"
            "      ^\n");
}

TEST(Render, WarningWithoutRuleAndWithNote) {
  Diagnostic d = example();
  d.severity = Severity::warning;
  d.rule.clear();
  d.accepted = "something else";
  EXPECT_EQ(render(d),
            "a.fkc.md:12:5: warning: needs `strided: accepted` [LayoutIncoherent]\n"
            "      layout: {}\n"
            "      ^\n"
            "  note: accepted: something else\n");
}

TEST(Render, TheFileAsAWholeHasNoPlace) {
  Diagnostic d = example();
  d.line = d.column = 0;
  d.source_line.clear();
  EXPECT_EQ(render(d), "a.fkc.md: error: needs `strided: accepted` [4 LayoutIncoherent]\n");
}

TEST(Render, CaretCountsCharactersAndKeepsTabs) {
  Diagnostic d = example();
  d.source_line = "\tgröße: x";
  d.column = static_cast<int>(d.source_line.find('x')) + 1;
  EXPECT_NE(render(d).find("  \tgröße: x\n  \t       ^\n"), std::string::npos) << render(d);
}

TEST(Render, LongLinesAreCutAroundTheColumn) {
  Diagnostic d = example();
  d.source_line = std::string(1000, 'a');
  d.source_line += "HERE";
  d.source_line.append(1000, 'b');
  d.column = 1001;
  const std::string text = render(d);
  const std::size_t line = text.find("\n  ") + 3;
  const std::size_t caret = text.find('^');
  EXPECT_LT(text.size(), 500u);
  EXPECT_EQ(text.substr(text.find("HERE"), 4), "HERE");
  const std::size_t caret_line = text.rfind('\n', caret) + 1;
  EXPECT_EQ(caret - caret_line, text.find("HERE") - line + 2) << text;
}

TEST(Render, ControlCharactersDoNotReachTheTerminal) {
  Diagnostic d = example();
  d.source_line = "a\x1b[31m\xff z";
  EXPECT_NE(render(d).find("a?[31m? z"), std::string::npos);
}

TEST(SortByPlace, PathThenLineThenColumnAndTheWholeFileLast) {
  std::vector<Diagnostic> found(5, example());
  found[0].path = "b.fkc.md";
  found[1].line = 0;
  found[2].line = 30;
  found[3].column = 9;
  found[4].name = "First";
  sort_by_place(found);
  EXPECT_EQ(found[0].name, "First");
  EXPECT_EQ(found[1].column, 9);
  EXPECT_EQ(found[2].line, 30);
  EXPECT_EQ(found[3].line, 0);
  EXPECT_EQ(found[4].path, "b.fkc.md");
}

}  // namespace
}  // namespace convoke::contract

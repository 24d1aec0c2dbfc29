// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/table.hpp"

#include <gmock/gmock.h>

namespace convoke::cli {
namespace {

using testing::ElementsAre;

TEST(Table, AlignsColumns) {
  Table table({{"NAME"}, {"MS", true}, {"KERNEL"}});
  table.add({"a", "1.5", "first"});
  table.add({"longer", "10.25", "second"});
  EXPECT_EQ(table.render(100, false),
            "NAME       MS  KERNEL\n"
            "a         1.5  first\n"
            "longer  10.25  second\n");
}

TEST(Table, WrapsTheLastColumnIntoTheWidth) {
  Table table({{"NAME"}, {"KERNEL"}});
  table.add({"a", "cpu/portable/conv2d_f32/f32,f32,f32"});
  EXPECT_EQ(table.render(26, false),
            "NAME  KERNEL\n"
            "a     cpu/portable/\n"
            "      conv2d_f32/f32,f32,\n"
            "      f32\n");
}

TEST(Table, KeepsNotesWhole) {
  Table table({{"NAME"}});
  table.add({"a"});
  table.note(std::string(120, 'x'));
  EXPECT_EQ(table.render(40, false), "NAME\na\n    " + std::string(120, 'x') + "\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"NAME"}, {"KERNEL"}});
  table.add({"\u00b5s", "x"});
  table.add({"ms", "y"});
  EXPECT_EQ(table.render(100, false), "NAME  KERNEL\n\u00b5s    x\nms    y\n");
}

TEST(Table, ColoursOnlyWhenAsked) {
  Table table({{"NAME"}});
  table.add({Cell("a", Style::red)});
  EXPECT_EQ(table.render(100, true), "\x1b[1mNAME\x1b[0m\n\x1b[31ma\x1b[0m\n");
}

TEST(Table, LetsNoControlCharacterThrough) {
  Table table({{"NAME"}});
  table.add({"a\x1b[2J\r"});
  EXPECT_EQ(table.render(100, false), "NAME\na\\x1b[2J\\x0d\n");
}

TEST(Wrapped, CutsWordsThatHaveNoBreak) {
  EXPECT_THAT(wrapped("abcdef", 4), ElementsAre("abcd", "ef"));
  EXPECT_THAT(wrapped("ab cdef", 4), ElementsAre("ab", "cdef"));
  EXPECT_THAT(wrapped("", 4), ElementsAre(""));
}

}  // namespace
}  // namespace convoke::cli

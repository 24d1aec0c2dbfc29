// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/output.hpp"

#include <gtest/gtest.h>

namespace convoke::cli {
namespace {

TEST(ShellWord, QuotesWhatAShellWouldChange) {
  EXPECT_EQ(shell_word("a/b.npy"), "a/b.npy");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("cpu/*"), "'cpu/*'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Counted, KnowsTheSingular) {
  EXPECT_EQ(counted(0, "key"), "0 keys");
  EXPECT_EQ(counted(1, "key"), "1 key");
  EXPECT_EQ(counted(16, "key"), "16 keys");
}

TEST(Escaped, KeepsTextAndShowsControls) { EXPECT_EQ(escaped("a\tb\n\u00b5\x1b\x7f"), "a\tb\n\u00b5\\x1b\\x7f"); }

TEST(Hint, StandsBehindTheMessage) {
  EXPECT_EQ(with_hint(usage_error("x", "wrong"), "do this").message, "wrong; do this");
}

}  // namespace
}  // namespace convoke::cli

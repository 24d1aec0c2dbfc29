// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/progress.hpp"

#include <gtest/gtest.h>

namespace convoke::cli {
namespace {

TEST(ProgressLine, ShowsShareAndTimeLeft) {
  EXPECT_EQ(progress_line("layers", 6, 24, 10.0, "resnet50_conv1", 100),
            "layers [######..................]  25%  6/24  eta 0:30  resnet50_conv1");
}

TEST(ProgressLine, HasNoTimeLeftAtEitherEnd) {
  EXPECT_EQ(progress_line("a", 0, 2, 0.0, "", 100), "a [........................]   0%  0/2");
  EXPECT_EQ(progress_line("a", 2, 2, 1.0, "", 100), "a [########################] 100%  2/2");
}

TEST(ProgressLine, StaysWithinTheTerminal) { EXPECT_EQ(progress_line("label", 1, 2, 1.0, "x", 10), "label [###"); }
TEST(ProgressLine, NothingToDoIsDone) {
  EXPECT_NE(progress_line("a", 0, 0, 0, "", 80).find("100%"), std::string::npos);
}

}  // namespace
}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/peers/report.hpp"
#include "tests/bench/peers/rows.hpp"

namespace convoke::peers {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

const Setting table_setting{.peer = "oneDNN 3.2.0", .cpu = "a processor", .openmp = "libomp.so.5", .bound = false};

std::string table(const std::vector<Row>& rows, const Setting& where = table_setting) {
  return table_text(where, rows, 200, false);
}

TEST(PeersTable, ALineHasTimesRatiosAndTheKernel) {
  EXPECT_THAT(table({row_of("layer", 150, 80)}),
              ContainsRegex("layer +f32 +1 +100\\.0 +150\\.0 +80\\.0 +1\\.50 +0\\.80 +25\\.0 +portable/conv2d_f32\n"));
}

TEST(PeersTable, AnAbsentPeerIsADash) {
  EXPECT_THAT(table({row_of("layer", std::nullopt, 80)}), ContainsRegex("100\\.0 +- +80\\.0 +- +0\\.80"));
}

TEST(PeersTable, OurOwnF32IsAColumnOnlyWhereItWasMeasured) {
  Row row = row_of("layer", 150, 80);
  EXPECT_THAT(table({row}), Not(HasSubstr("/F32")));
  row.dtype = DType::f16;
  row.f32_us = 90;
  EXPECT_THAT(table({row}), AllOf(HasSubstr("/F32"), ContainsRegex("25\\.0 +0\\.90 +portable")));
}

TEST(PeersTable, DisturbedAndWrongRowsAreMarked) {
  Row disturbed = row_of("shaken", 150, 80), wrong = row_of("broken", 150, 80);
  disturbed.disturbed = true;
  wrong.wrong = "differs from oneDNN's ref";
  wrong.reproducer = "conv2d x=1x1x1x1";
  const std::string text = table({disturbed, wrong});
  EXPECT_THAT(text, ContainsRegex("shaken.*~"));
  EXPECT_THAT(text, HasSubstr("WRONG: differs from oneDNN's ref\n    conv2d x=1x1x1x1\n"));
  EXPECT_THAT(text, HasSubstr("1 row disturbed"));
}

TEST(PeersTable, TwoOpenMpLibrariesAreSaid) {
  Setting two = table_setting;
  two.openmp.clear();
  EXPECT_THAT(table({row_of("layer", 150, 80)}, two), HasSubstr("not to be trusted"));
  EXPECT_THAT(table({row_of("layer", 150, 80)}), Not(HasSubstr("not to be trusted")));
}

}  // namespace
}  // namespace convoke::peers

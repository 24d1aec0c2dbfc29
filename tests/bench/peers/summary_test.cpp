// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/summary.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/bench/peers/rows.hpp"

namespace convoke::peers {
namespace {

TEST(Row, ARatioAboveOneMeansThatWeAreFaster) {
  const Row row = row_of("a", 150, 80);
  EXPECT_DOUBLE_EQ(*row.ratio_plain(), 1.5);
  EXPECT_DOUBLE_EQ(*row.ratio_best(), 0.8);
  EXPECT_FALSE(row.ratio_f32());
}

TEST(Row, AnF64VectorHoldsHalfAsManyLanesAsTheLoop) {
  Row row = row_of("a", std::nullopt, std::nullopt);
  EXPECT_DOUBLE_EQ(row.peak(), 25);
  row.dtype = DType::f64;
  EXPECT_DOUBLE_EQ(row.peak(), 50);
}

TEST(Summary, MeansAreGeometricAndTheWorstIsNamed) {
  const auto summaries = summaries_of({row_of("a", 50, 400), row_of("b", 200, 100)});
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_DOUBLE_EQ(summaries[0].plain->mean, 1);
  EXPECT_DOUBLE_EQ(summaries[0].plain->worst, 0.5);
  EXPECT_EQ(summaries[0].plain->worst_name, "a");
  EXPECT_DOUBLE_EQ(summaries[0].best->mean, 2);
  EXPECT_EQ(summaries[0].best->worst_name, "b");
}

TEST(Summary, RowsWithoutAPeerOrWithAWrongResultDoNotCount) {
  Row wrong = row_of("wrong", 1e9, 1e9);
  wrong.wrong = "differs";
  const auto summaries = summaries_of({row_of("a", 200, std::nullopt), row_of("b", std::nullopt, std::nullopt), wrong});
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].rows, 2U);
  EXPECT_EQ(summaries[0].wrong, 1U);
  EXPECT_EQ(summaries[0].plain->rows, 1U);
  EXPECT_DOUBLE_EQ(summaries[0].plain->mean, 2);
  EXPECT_FALSE(summaries[0].best);
}

TEST(Summary, GroupedLayersAreLeftOutOfTheDenseMean) {
  Row grouped = row_of("grouped", 800, 100);
  grouped.dense = false;
  const auto summaries = summaries_of({row_of("a", 200, 100), grouped});
  EXPECT_DOUBLE_EQ(summaries[0].plain->mean, 4);
  EXPECT_DOUBLE_EQ(summaries[0].plain->dense_mean, 2);
}

TEST(Summary, ThereIsOneForEachDtypeAndNumberOfThreads) {
  Row two = row_of("a", 300, 100), half = row_of("a", std::nullopt, 100);
  two.threads = 2;
  half.dtype = DType::f16;
  half.f32_us = 200;
  const auto summaries = summaries_of({row_of("a", 100, 100), two, half});
  ASSERT_EQ(summaries.size(), 3U);
  EXPECT_EQ(summaries[1].threads, 2);
  EXPECT_DOUBLE_EQ(summaries[1].plain->mean, 3);
  EXPECT_EQ(summaries[2].dtype, DType::f16);
  EXPECT_DOUBLE_EQ(summaries[2].f32->mean, 2);
}

TEST(Summary, ThePeakIsTheMedianOfDenseLayersOfThreeByThreeTaps) {
  std::vector<Row> rows = {row_of("a", 1, 1), row_of("b", 1, 1), row_of("c", 1, 1), row_of("1x1", 1, 1)};
  for (std::size_t i = 0; i < 3; ++i) {
    rows[i].square3 = true;
    rows[i].gflops = 100 + 20 * static_cast<double>(i);
  }
  EXPECT_DOUBLE_EQ(*summaries_of(rows)[0].square3_peak, 60);
}

}  // namespace
}  // namespace convoke::peers

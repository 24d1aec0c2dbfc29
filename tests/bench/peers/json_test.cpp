// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/json.hpp"

#include <gtest/gtest.h>

#include "bench/peers/report.hpp"
#include "tests/bench/peers/rows.hpp"

namespace convoke::peers {
namespace {

const Setting json_setting{.peer = "oneDNN 3.2.0", .cpu = "a processor", .openmp = "libomp.so.5", .bound = false};

TEST(PeersJson, ARowSaysWhatReadersOfTheDocumentRelyOn) {
  const auto document = parse_json(json_text(json_setting, {row_of("layer", 150, 80)}), "json");
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["peer"], "oneDNN 3.2.0");
  EXPECT_EQ((*document)["cpu"], "a processor");
  const Json& row = (*document)["rows"][0];
  EXPECT_EQ(row["name"], "layer");
  EXPECT_EQ(row["dtype"], "f32");
  EXPECT_EQ(row["threads"], 1);
  EXPECT_DOUBLE_EQ(row["ours_us"], 100);
  EXPECT_DOUBLE_EQ(row["plain_us"], 150);
  EXPECT_DOUBLE_EQ(row["best_us"], 80);
  EXPECT_DOUBLE_EQ(row["ratio_plain"], 1.5);
  EXPECT_DOUBLE_EQ(row["ratio_best"], 0.8);
  EXPECT_DOUBLE_EQ(row["peak"], 25);
}

TEST(PeersJson, AnAbsentPeerIsNull) {
  const auto document = parse_json(json_text(json_setting, {row_of("layer", std::nullopt, std::nullopt)}), "json");
  ASSERT_TRUE(document);
  const Json& row = (*document)["rows"][0];
  for (const char* key : {"plain_us", "best_us", "ratio_plain", "ratio_best"})
    EXPECT_TRUE(row.at(key).is_null()) << key;
  EXPECT_TRUE((*document)["summary"][0].at("plain").is_null());
}

TEST(PeersJson, AWrongRowHasNoTimes) {
  Row row = row_of("layer", std::nullopt, std::nullopt);
  row.wrong = "differs";
  row.gflops = row.fma_gflops = row.ours_us = 0;
  const auto document = parse_json(json_text(json_setting, {row}), "json");
  ASSERT_TRUE(document);
  EXPECT_TRUE((*document)["rows"][0]["ours_us"].is_null());
  EXPECT_TRUE((*document)["rows"][0]["peak"].is_null());
  EXPECT_EQ((*document)["rows"][0]["wrong"], "differs");
}

}  // namespace
}  // namespace convoke::peers

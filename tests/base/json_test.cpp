// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace convoke {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string message(std::string_view text) {
  const Result<Json> result = parse_json(text, "a.json");
  if (result) return "";
  EXPECT_EQ(result.error().code, ErrorCode::invalid_file);
  EXPECT_EQ(result.error().rule, "json");
  return result.error().message;
}

TEST(Json, KeepsTheOrderOfKeys) {
  const Result<Json> result = parse_json(R"({"z": 1, "a": [true, null, 1.5, "text"]})", "a.json");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->dump(), R"({"z":1,"a":[true,null,1.5,"text"]})");
}

TEST(Json, SaysWhere) {
  EXPECT_THAT(message("{\"a\": 1,\n  oops}"), StartsWith("a.json:2:3: "));
  EXPECT_THAT(message(""), StartsWith("a.json:1:1: "));
  EXPECT_THAT(message("[1, 2"), StartsWith("a.json:1:6: "));
  EXPECT_THAT(message("[1] 2"), StartsWith("a.json:1:5: "));
  EXPECT_THAT(message("[1e999]"), HasSubstr("a.json"));
  EXPECT_THAT(message("\"\xff\""), StartsWith("a.json:1:2: "));
  EXPECT_THAT(message("[1 2]"), testing::Not(HasSubstr("exception")));
}

TEST(Json, RefusesAKeyGivenTwice) {
  EXPECT_THAT(message("{\"a\": 1, \"b\": {\"a\": 2},\n \"a\": 3}"),
              testing::AllOf(StartsWith("a.json:2:4: "), HasSubstr("\"a\"")));
  EXPECT_EQ(message(R"([{"a": 1}, {"a": {"a": 1, "b": [{"a": 2}]}, "b": 2}])"), "");
}

TEST(Json, RefusesDeepNesting) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(message(nested(max_json_depth)), "");
  EXPECT_THAT(message(nested(max_json_depth + 1)), testing::AllOf(StartsWith("a.json:1:65: "), HasSubstr("nested")));
  EXPECT_THAT(message(nested(1'000'000)), HasSubstr("nested"));
  EXPECT_THAT(message(std::string(1'000'000, '[')), HasSubstr("a.json:1:"));
}

}  // namespace
}  // namespace convoke

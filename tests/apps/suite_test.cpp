// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "program.hpp"

namespace convoke::apps_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string case_text(const std::string& id, const std::string& stride, const std::string& expectation) {
  return fmt::format(
      R"({{"id": "{}", "why": "a test", "op": "conv2d", "dtypes": ["F32", "F16"], "x": [[[[1, 2], [3, 4]]]],)"
      R"( "weight": [[[[3]]]], "params": {{"stride": [{}, 1], "padding": [0, 0], "dilation": [1, 1], "groups": 1}},)"
      R"( {}}})",
      id, stride, expectation);
}

std::string case_file(const std::vector<std::string>& cases) {
  std::string text = R"({"about": "tests", "cases": [)";
  for (const std::string& one : cases) text += (&one == cases.data() ? "" : ", ") + one;
  return text + "]}";
}

const std::string right = case_text("right", "1", R"("expect": [[[[3, 6], [9, 12]]]])");
const std::string wrong = case_text("wrong", "1", R"("expect": [[[[3, 6], [9, 13]]]])");
const std::string refused = case_text("refused", "0", R"("expect_error": "stride")");
const std::string accepted = case_text("accepted", "1", R"("expect_error": "stride")");
const std::string misnamed = case_text("misnamed", "0", R"("expect_error": "dilation")");
const std::string misshapen = case_text("misshapen", "1", R"("expect_shape": [1, 1, 3, 3])");

const std::string layers =
    "op,name,n,cin,h,w,cout,kh,kw,sh,sw\n"
    "conv2d,small,1,3,8,8,4,3,3,2,1\n"
    "conv_transpose2d,back,1,3,4,4,2,2,2,2,2\n";

TEST(SuiteCases, PassesForEveryDtype) {
  const Scratch scratch;
  const Ran ran = convoke({"suite", "--json", scratch.write("cases.json", case_file({right, refused}))});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  const Json json = json_of(ran);
  ASSERT_TRUE(json.is_object()) << ran.out << ran.err;
  EXPECT_THAT(keys_of(json), ElementsAre("passed", "failed", "skipped", "cases"));
  EXPECT_EQ(json.at("passed"), 4);
  EXPECT_EQ(json.at("failed"), 0);
  EXPECT_EQ(json.at("skipped"), 0);
  ASSERT_EQ(json.at("cases").size(), 4U);
  const Json& first = json.at("cases").at(0);
  EXPECT_EQ(first.at("id"), "right");
  EXPECT_EQ(first.at("dtype"), "f32");
  EXPECT_EQ(first.at("status"), "passed");
  EXPECT_EQ(first.at("reason"), "");
  ASSERT_GE(first.at("bindings").size(), 1U);
  EXPECT_THAT(first.at("bindings").at(0).at("kernel").get<std::string>(),
              StartsWith("cpu/portable/conv2d_f32/f32,f32,f32#"));
  EXPECT_EQ(first.at("bindings").at(0).at("status"), "passed");
}

TEST(SuiteCases, PassWithAPackedWeightToo) {
  const Scratch scratch;
  const std::string cases = scratch.write("cases.json", case_file({right, refused}));
  const Ran ran = convoke({"suite", "--packed", "--json", cases, scratch.write("layers.csv", layers)});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_EQ(json_of(ran).at("failed"), 0);
  const Ran bad = convoke({"suite", "--packed", scratch.write("wrong.json", case_file({wrong}))});
  EXPECT_EQ(bad.exit, 1);
  EXPECT_THAT(bad.out, HasSubstr(" --packed"));
  EXPECT_EQ(convoke({"suite", "--packed", "--random", "20"}).exit, 0);
}

TEST(SuiteCases, FailsWhatIsWrong) {
  const Scratch scratch;
  const std::string path = scratch.write("cases.json", case_file({right, wrong, accepted, misnamed, misshapen}));
  const Ran ran = convoke({"suite", "--json", path});
  EXPECT_EQ(ran.exit, 1);
  const Json json = json_of(ran);
  EXPECT_EQ(json.at("passed"), 2);
  EXPECT_EQ(json.at("failed"), 8);
  for (const Json& one : json.at("cases")) {
    EXPECT_EQ(one.at("status"), one.at("id") == "right" ? "passed" : "failed") << one;
    EXPECT_EQ(one.at("reason") == "", one.at("id") == "right") << one;
  }
}

TEST(SuiteCases, PrintsFailuresWithTheirReproducer) {
  const Scratch scratch;
  const std::string path = scratch.write("cases.json", case_file({right, wrong}));
  const Ran ran = convoke({"suite", path});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("convoke suite " + path + " --case wrong --dtype f16 --kernel 'cpu/portable/"),
                             HasSubstr("conv2d x=1x1x2x2 weight=1x1x1x1 dtype=f16"),
                             EndsWith("2 passed, 2 failed, 0 skipped\n")));
  const Ran alone = convoke({"suite", path, "--case", "wrong", "--dtype", "f16"});
  EXPECT_THAT(alone.out, EndsWith("0 passed, 1 failed, 0 skipped\n"));
  EXPECT_THAT(convoke({"suite", path, "--case", "ri*"}).out, EndsWith("2 passed, 0 failed, 0 skipped\n"));
}

TEST(SuiteCases, SkipsWhatTheGlobHasNoKernelFor) {
  const Scratch scratch;
  const std::string path = scratch.write("cases.json", case_file({right}));
  const Ran ran = convoke({"suite", path, "--kernel", "*/conv2d_f16/*", "--json"});
  EXPECT_EQ(ran.exit, 0);
  const Json json = json_of(ran);
  EXPECT_EQ(json.at("passed"), 1);
  EXPECT_EQ(json.at("skipped"), 1);
  EXPECT_THAT(json.at("cases").at(0).at("reason").get<std::string>(), HasSubstr("no kernel that matches"));
}

TEST(SuiteCases, AreKnownByNameOrFirstCharacter) {
  const Scratch scratch;
  EXPECT_EQ(convoke({"suite", scratch.write("cases", case_file({right}))}).exit, 0);
  for (const std::string& path : {scratch.write("list.json", "op,name\n"), scratch.write("array", "[1]")}) {
    const Ran ran = convoke({"suite", path});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.err, testing::Not(HasSubstr("column")));
  }
}

// The documents the project started from: the CPU's are bound to functions, the GPU's are known by name.
TEST(SuiteCases, RunsForeignBindingsBesideOurs) {
  const Scratch scratch;
  const std::string path = scratch.write("cases.json", case_file({right}));
  const Json json = json_of(convoke({"suite", path, "--contracts", CONVOKE_SUITES "/contracts", "--json"}));
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json.at("passed"), 2);
  const auto status_of = [&](const std::string& start) {
    for (const Json& binding : json.at("cases").at(0).at("bindings"))
      if (binding.at("kernel").get<std::string>().starts_with(start)) return binding.at("status").get<std::string>();
    return std::string("absent");
  };
  EXPECT_EQ(status_of("cpu/portable/conv2d_f32/"), "passed");
  EXPECT_EQ(status_of("cpu/portable-cpu/conv2d_f32/"), "passed");
  EXPECT_EQ(status_of("vulkan/vulkan-slang/conv2d_f32/"), "skipped");
}

TEST(SuiteCases, SkipsWhatTheHostLacksAndNamesIt) {
  const Scratch scratch;
  const std::string path = scratch.write("cases.json", case_file({right}));
  const Ran ran =
      convoke({"suite", path, "--contracts", CONVOKE_SUITES "/contracts", "--kernel", "vulkan/*", "--json"});
  EXPECT_EQ(ran.exit, 0);
  const Json json = json_of(ran);
  EXPECT_EQ(json.at("skipped"), 2);
  EXPECT_THAT(json.at("cases").at(0).at("reason").get<std::string>(), HasSubstr("backend"));
}

TEST(SuiteLayers, RunsTheDtypesAskedFor) {
  const Scratch scratch;
  const std::string path = scratch.write("layers.csv", layers);
  const Ran plain = convoke({"suite", path, "--repeat", "1"});
  EXPECT_EQ(plain.exit, 0) << plain.out << plain.err;
  EXPECT_THAT(plain.out, AllOf(HasSubstr("    convoke run conv2d x=1x3x8x8 weight=4x3x3x3 stride=2x1 --verify\n"),
                               HasSubstr("GFLOP/S"), EndsWith("2 passed, 0 failed, 0 skipped\n")));
  const Json json = json_of(convoke({"suite", path, "--repeat", "1", "--verify", "--json", "--dtype", "bf16,f64"}));
  EXPECT_EQ(json.at("passed"), 4);
  std::vector<std::string> dtypes;
  for (const Json& one : json.at("cases")) dtypes.push_back(one.at("dtype"));
  EXPECT_THAT(dtypes, ElementsAre("bf16", "f64", "bf16", "f64"));
  EXPECT_EQ(json.at("cases").at(3).at("problem"), "conv_transpose2d x=1x3x4x4 weight=3x2x2x2 stride=2 dtype=f64");
}

TEST(SuiteRandom, CountsRelationsAndRepeats) {
  const std::vector<std::string> arguments = {"suite", "--random", "40", "--seed", "7", "--json"};
  const Ran ran = convoke(arguments);
  EXPECT_EQ(ran.exit, 0) << ran.out.substr(0, 2000);
  Json json = json_of(ran);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json.at("passed"), 80);
  EXPECT_EQ(json.at("cases").size(), 80U);
  EXPECT_FALSE(json.at("relations").at("conv_transpose2d").empty());
  EXPECT_EQ(json_of(convoke(arguments)).at("cases"), json.at("cases")) << "the same seed, the same problems";
  Json other = json_of(convoke({"suite", "--random", "40", "--seed", "8", "--json"}));
  EXPECT_NE(other.at("cases").at(0).at("problem"), json.at("cases").at(0).at("problem"));
}

TEST(SuiteRandom, RunsAsManyOfTheDtypesAskedFor) {
  const std::vector<std::string> arguments = {"suite", "--random", "20", "--dtype", "bf16", "--json"};
  const Json json = json_of(convoke(arguments));
  EXPECT_EQ(json.at("passed"), 40);
  for (const Json& one : json.at("cases")) EXPECT_EQ(one.at("dtype"), "bf16");
  EXPECT_EQ(json_of(convoke(arguments)).at("cases"), json.at("cases"));
}

TEST(SuiteRandom, PrintsTheTable) {
  const Ran ran = convoke({"suite", "--random", "20"});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_THAT(ran.out, AllOf(StartsWith("RELATION"), HasSubstr("conv_transpose2d"),
                             EndsWith("40 passed, 0 failed, 0 skipped\n")));
}

TEST(Suite, CannotRunWithoutCases) {
  const Scratch scratch;
  const auto could_not = [](const std::vector<std::string>& arguments, const std::string& part) {
    const Ran ran = convoke(arguments);
    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, AllOf(StartsWith("convoke: error: "), HasSubstr(part)));
    EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
  };
  could_not({"suite"}, "--random");
  could_not({"suite", scratch.at("none.csv")}, "none.csv");
  could_not({"suite", scratch.write("cut.json", case_file({right}).substr(0, 60))}, "cut.json");
  could_not({"suite", scratch.write("bad.csv", "op,name\nconv2d,a\n")}, "bad.csv");
  could_not({"suite", scratch.write("cases.json", case_file({right})), "--case", "none"}, "--case");
  could_not({"suite", scratch.at("cases.json"), "--dtype", "f8"}, "f8");
  could_not({"suite", "--random", "0"}, "random");
  could_not({"suite", "--random", "1", "--seed", "-1"}, "`-1` is not a number from 0 to 2^64 - 1");
  could_not({"suite", "--random", "1", "--seed", "18446744073709551616"}, "2^64 - 1");
  could_not({"suite", scratch.at("cases.json"), "--kernel", "zz*"}, "no kernel matches 'zz*'");
}

}  // namespace
}  // namespace convoke::apps_test

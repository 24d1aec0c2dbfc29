// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/case_file.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace convoke::problem {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One case; a key among `changed` replaces or joins the ones of a sound case, an empty value takes it away.
std::string one_case(std::initializer_list<std::pair<std::string, std::string>> changed) {
  std::vector<std::pair<std::string, std::string>> keys = {
      {"id", R"("a")"},           {"op", R"("conv2d")"},   {"dtypes", R"(["F32", "BF16"])"},
      {"x", "[[[[1, 2]]]]"},      {"weight", "[[[[3]]]]"}, {"params", R"({"stride": [1, 1]})"},
      {"expect", "[[[[3, 6]]]]"},
  };
  for (const auto& change : changed) {
    const auto found = std::ranges::find(keys, change.first, &std::pair<std::string, std::string>::first);
    if (found == keys.end()) {
      keys.push_back(change);
    } else {
      found->second = change.second;
    }
  }
  std::string text;
  for (const auto& [key, value] : keys)
    if (!value.empty()) text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", key, value);
  return "{\"cases\": [{" + text + "}]}";
}

const Case& named(const CaseFile& file, std::string_view id) { return *std::ranges::find(file.cases, id, &Case::id); }

TEST(CaseFile, ReadsTheCasesOfTheSuites) {
  const auto file = read_case_file(CONVOKE_SUITES "/conv-cases.json");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->cases.size(), 40u);
  EXPECT_THAT(file->about, HasSubstr("exact sums"));
  std::ptrdiff_t values = 0, shapes = 0, errors = 0;
  for (const Case& c : file->cases) {
    values += c.expect.has_value();
    shapes += c.expect_shape.has_value();
    errors += c.expect_error.has_value();
  }
  EXPECT_EQ(values + shapes + errors, 40);
  EXPECT_EQ(shapes, 2);
  EXPECT_EQ(errors, 8);

  const Case& sliced = named(*file, "sliced-weight");
  EXPECT_EQ(sliced.weight.tensor.shape, (Dims{1, 1, 2, 2}));
  EXPECT_EQ(sliced.weight.view->strides, (Dims{16, 16, 8, 2}));
  EXPECT_EQ(sliced.weight.view->base.size(), 16u);
  EXPECT_EQ(named(*file, "transposed-weight").weight.view->strides, (Dims{4, 8, 2, 1}));
  EXPECT_EQ(named(*file, "expanded-weight").weight.view->strides[3], 0);
  EXPECT_EQ(named(*file, "batch-zero").x.tensor.shape, (Dims{0, 3, 8, 8}));
  EXPECT_TRUE(std::isinf(named(*file, "inf-stays-local").x.tensor.values[0]));
  EXPECT_THAT(named(*file, "kernel-256-wide").dtypes, ElementsAre(DType::f32, DType::f64, DType::f16));
  EXPECT_EQ(named(*file, "transpose-output-padding").params.output_padding, Extent2(1));
}

TEST(CaseFile, ReadsParametersInEveryForm) {
  const auto file = parse_case_file(
      one_case({{"params",
                 R"({"stride": 2, "padding": [1, 2, 3, 4], "dilation": [1, 2], "groups": 3, "output_padding": [1]})"},
                {"bias", "[-0.0]"}}),
      "f");
  ASSERT_TRUE(file) << file.error().message;
  const Case& c = file->cases[0];
  EXPECT_EQ(c.params.stride, Extent2(2));
  EXPECT_EQ(c.params.padding.bottom, 2);
  EXPECT_EQ(c.params.padding.left, 3);
  EXPECT_EQ(c.params.dilation, Extent2(1, 2));
  EXPECT_EQ(c.params.groups, 3);
  EXPECT_EQ(c.params.output_padding, Extent2(1));
  EXPECT_TRUE(std::signbit(c.bias->tensor.values[0]));
  EXPECT_TRUE(parse_case_file(one_case({{"params", R"({"padding": "same"})"}}), "f")->cases[0].params.padding.same);
}

struct CaseFault {
  std::string text;
  const char *rule, *message;
};

class CaseFileFault : public ::testing::TestWithParam<CaseFault> {};

TEST_P(CaseFileFault, NamesCaseAndKey) {
  const auto file = parse_case_file(GetParam().text, "f.json");
  ASSERT_FALSE(file) << GetParam().text;
  EXPECT_EQ(file.error().code, ErrorCode::invalid_file);
  EXPECT_EQ(file.error().rule, GetParam().rule);
  EXPECT_THAT(file.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Each, CaseFileFault,
    ::testing::Values(
        CaseFault{"{", "json", "f.json:1:"}, CaseFault{"[]", "file", "is not an object"},
        CaseFault{R"({"case": []})", "file", "did you mean `cases`?"}, CaseFault{"{}", "cases", "not a list of cases"},
        CaseFault{R"({"about": 1, "cases": []})", "about", "not a text"},
        CaseFault{R"({"cases": [1]})", "case", "case without an id: case: `1` is not an object"},
        CaseFault{one_case({{"id", ""}}), "id", "case without an id: id: missing"},
        CaseFault{one_case({{"id", "7"}}), "id", "`7` is not a text"},
        CaseFault{one_case({{"colour", "7"}}), "case", "case a: case: unknown key `colour`"},
        CaseFault{one_case({{"op", R"("conv3d")"}}), "op", "case a: op: `\"conv3d\"` is neither"},
        CaseFault{one_case({{"dtypes", "[]"}}), "dtypes", "not a list of dtypes"},
        CaseFault{one_case({{"dtypes", R"(["I8"])"}}), "dtypes", "`I8` is not one of"},
        CaseFault{one_case({{"dtypes", R"(["F32", "F32"])"}}), "dtypes", "twice"},
        CaseFault{one_case({{"x", ""}}), "x", "case a: x: missing"},
        CaseFault{one_case({{"x", "1"}}), "x", "`1` is not a list"},
        CaseFault{one_case({{"x", "[[1, 2], [3]]"}}), "x", "equally long"},
        CaseFault{one_case({{"x", "[1, [2]]"}}), "x", "neither a number nor"},
        CaseFault{one_case({{"x", "[[[[[[[1]]]]]]]"}}), "x", "more than 6 axes"},
        CaseFault{one_case({{"x", R"([[[["Inf"]]]])"}}), "x", "`\"Inf\"` is neither a number nor inf"},
        CaseFault{one_case({{"x", "[[[[0.1]]]]"}}), "x", "0.1 is not a value of f32"},
        CaseFault{one_case({{"weight", "[[[[257]]]]"}}), "weight", "257 is not a value of bf16"},
        CaseFault{one_case({{"bias", "[65537.5]"}}), "bias", "is not a value of bf16"},
        CaseFault{one_case({{"params", R"({"strides": 1})"}}), "params", "did you mean `stride`?"},
        CaseFault{one_case({{"params", R"({"stride": 1.5})"}}), "params", "stride: `1.5` is not a whole number"},
        CaseFault{one_case({{"params", R"({"stride": [1, 2, 3]})"}}), "params", "neither a number nor [height, width]"},
        CaseFault{one_case({{"params", R"({"padding": [1, 2, 3]})"}}), "params", "[top, bottom, left, right]"},
        CaseFault{one_case({{"params", R"({"groups": "2"})"}}), "params", "groups: "},
        CaseFault{one_case({{"params", R"({"groups": 18446744073709551615})"}}), "params", "groups: "},
        CaseFault{one_case({{"params", "[]"}}), "params", "is not an object"},
        CaseFault{one_case({{"view", R"({"out": {}})"}}), "view", "unknown key `out`"},
        CaseFault{one_case({{"view", R"({"bias": {}})"}}), "view", "bias: the case has none"},
        CaseFault{one_case({{"view", R"({"x": {"slice": [":"]}})"}}), "view", "x: base: missing"},
        CaseFault{one_case({{"view", R"({"x": {"base": [[[[1, 2]]]], "slice": [":"]}})"}}), "view",
                  "1 slices for 4 axes"},
        CaseFault{one_case({{"view", R"({"x": {"base": [[[[1, 2]]]], "slice": [1]}})"}}), "view", "`1` is not a text"},
        CaseFault{one_case({{"view", R"({"x": {"base": [[[[1, 2]]]], "permute": [0]}})"}}), "view", "permute: "},
        CaseFault{one_case({{"view", R"({"x": {"base": [[[[1, 2]]]], "expand": [2, 1, 1, 2]}})"}}), "view",
                  "does not show"},
        CaseFault{one_case({{"view", R"({"x": {"base": [[[[2, 1]]]]}})"}}), "view", "does not show"},
        CaseFault{one_case({{"x", "[[[[0, 2]]]]"}, {"view", R"({"x": {"base": [[[[-0.0, 2]]]]}})"}}), "view",
                  "does not show"},
        CaseFault{one_case({{"view", R"({"x": {"empty_shape": [0, 1, 1, 1]}})"}}), "view", "the tensor be []"},
        CaseFault{one_case({{"x", "[]"}, {"view", R"({"x": {"empty_shape": [1, 1, 1, 1]}})"}}), "view", "a size of 0"},
        CaseFault{one_case({{"x", "[]"}, {"view", R"({"x": {"empty_shape": [0, -1, 1, 1]}})"}}), "view", "not a shape"},
        CaseFault{one_case({{"expect", ""}}), "expect", "exactly one of"},
        CaseFault{one_case({{"expect_error", R"("x")"}}), "expect", "exactly one of"},
        CaseFault{one_case({{"expect", ""}, {"expect_shape", R"([1, "2"])"}}), "expect_shape", "whole number"},
        CaseFault{one_case({{"expect", ""}, {"expect_error", R"("")"}}), "expect_error", "not a text"},
        CaseFault{R"({"cases": [)" + one_case({}).substr(11, one_case({}).size() - 13) + ", " +
                      one_case({}).substr(11, one_case({}).size() - 13) + "]}",
                  "id", "case a is there twice"}));

TEST(CaseFile, RepeatsNoMoreThanALineOfWhatIsWrong) {
  const std::string tail(100'000, 'a');
  for (const std::string& text : {"{\"cases\": \"" + tail, "{\"" + tail + "\": 1}", "[\"" + tail + "\"]"})
    EXPECT_LT(parse_case_file(text, "f.json").error().message.size(), 300U);
}

TEST(CaseFile, AMissingFileIsAnIoError) { EXPECT_EQ(read_case_file("no/such.json").error().code, ErrorCode::io); }

}  // namespace
}  // namespace convoke::problem

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/layer_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace convoke::problem {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;

constexpr std::string_view header = "op,name,n,cin,h,w,cout,kh,kw,groups\n";

TEST(LayerList, ReadsTheListOfTheSuites) {
  const auto layers = read_layer_list(CONVOKE_SUITES "/layers.csv");
  ASSERT_TRUE(layers) << layers.error().message;
  ASSERT_EQ(layers->size(), 52u);
  EXPECT_EQ(std::ranges::count(*layers, "resnet50", &Layer::network), 26);
  EXPECT_EQ(to_line(layers->front().problem), "conv2d x=1x3x224x224 weight=64x3x7x7 stride=2 padding=3");
  EXPECT_EQ(layers->front().problem.name, "resnet50_conv1");
  EXPECT_EQ(layers->front().line, 2);
  EXPECT_EQ(to_line(layers->back().problem),
            "conv_transpose2d x=1x64x64x64 weight=64x32x3x3 stride=2 padding=1 output_padding=1");
}

TEST(LayerList, TakesColumnsInAnyOrderAndDefaults) {
  const auto layers = parse_layer_list(
      "\xef\xbb\xbfkw,kh,cout,w,h,cin,n,name,op,sw,groups\r\n\r\n 3 ,1,8,5,6,4,2,a,conv2d,2,4\r\n"
      "3,1,8,5,6,4,2,b,conv_transpose2d,2,4\r\n",
      "list");
  ASSERT_TRUE(layers) << layers.error().message;
  ASSERT_EQ(layers->size(), 2u);
  EXPECT_EQ(to_line((*layers)[0].problem), "conv2d x=2x4x6x5 weight=8x1x1x3 stride=1x2 groups=4");
  EXPECT_EQ(to_line((*layers)[1].problem), "conv_transpose2d x=2x4x6x5 weight=4x2x1x3 stride=1x2 groups=4");
  EXPECT_EQ((*layers)[1].line, 4);
}

struct ListFault {
  std::string text;
  const char* message;
};

class LayerListFault : public ::testing::TestWithParam<ListFault> {};

TEST_P(LayerListFault, NamesFileLineAndColumn) {
  const auto layers = parse_layer_list(GetParam().text, "f.csv");
  ASSERT_FALSE(layers);
  EXPECT_EQ(layers.error().code, ErrorCode::invalid_file);
  EXPECT_THAT(layers.error().message, StartsWith(GetParam().message));
}

std::string with(std::string_view rows) { return std::string(header) + std::string(rows); }

INSTANTIATE_TEST_SUITE_P(
    Each, LayerListFault,
    ::testing::Values(
        ListFault{"", "f.csv:1:op: the list is empty"}, ListFault{"\n\n", "f.csv:3:op: the list is empty"},
        ListFault{"op,nam\n", "f.csv:1:nam: unknown column `nam`; did you mean `name`?"},
        ListFault{"op,name,op\n", "f.csv:1:op: the column is there twice"},
        ListFault{"op,name,n,cin,h,w,cout,kh\n", "f.csv:1:kw: the column is missing"},
        ListFault{with("conv2d,a,1,1,1,1,1,1\n"), "f.csv:2:kw: 8 cells, but the header names 10 columns"},
        ListFault{with("conv2d,a,1,1,1,1,1,1,1,1,1\n"), "f.csv:2:groups: 11 cells, but"},
        ListFault{with("conv2d,a,1,1,x,1,1,1,1,1\n"), "f.csv:2:h: `x` is not a number"},
        ListFault{with("conv2d,a,1,1,1,,1,1,1,1\n"), "f.csv:2:w: `` is not a number"},
        ListFault{with("conv1d,a,1,1,1,1,1,1,1,1\n"), "f.csv:2:op: `conv1d` is neither"},
        ListFault{with("conv2d,,1,1,1,1,1,1,1,1\n"), "f.csv:2:name: the layer has no name"},
        ListFault{with("conv2d,a,1,1,1,1,1,1,1,1\nconv2d,a,1,1,1,1,1,1,1,1\n"), "f.csv:3:name: `a` is there twice"},
        ListFault{with("conv2d,a,1,3,1,1,1,1,1,2\n"), "f.csv:2:groups: groups must be at least 1 and divide"},
        ListFault{with("conv2d,a,1,1,1,1,1,1,1,0\n"), "f.csv:2:groups:"},
        ListFault{with("conv2d,a,1,2,1,1,3,1,1,2\n"), "f.csv:2:groups:"},
        ListFault{with("conv2d,a,1,1,1,1,1,2,1,1\n"), "f.csv:2:kernel:"},
        ListFault{std::string(1000, 'a') + "\n",
                  "f.csv:1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                  "aaaaaaaa...: unknown column"}));

TEST(LayerList, ALayerThatIsNoProblemIsPrintedBack) {
  const auto layers = parse_layer_list(with("conv2d,a,1,1,1,1,1,2,1,1\n"), "f.csv");
  EXPECT_THAT(layers.error().message, EndsWith("; the layer is conv2d x=1x1x1x1 weight=1x1x2x1"));
}

TEST(LayerList, AMissingFileIsAnIoError) { EXPECT_EQ(read_layer_list("no/such/list.csv").error().code, ErrorCode::io); }

}  // namespace
}  // namespace convoke::problem

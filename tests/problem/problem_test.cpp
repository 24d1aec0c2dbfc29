// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problem/random_problem.hpp"

namespace convoke::problem {
namespace {

using ::testing::HasSubstr;

TEST(ProblemLine, ReadsEveryKeyInAnyOrder) {
  const auto read = parse_problem(
      "demand=accurate(2.5) kernel=cpu/*/conv2d_f32/* threads=3 seed=18446744073709551615 data=special align=8 "
      "out.layout=offset weight.layout=permuted x.layout=flipped dtype=bf16 groups=2 output_padding=0x1 dilation=3 "
      "padding=1,2,3,4 stride=2x1 bias=1 weight=4x3x2x1 conv_transpose2d x=1x4x5x6\n");
  ASSERT_TRUE(read) << read.error().message;
  Problem wanted;
  wanted.op = Op::conv_transpose2d;
  wanted.x = {1, 4, 5, 6};
  wanted.weight = {4, 3, 2, 1};
  wanted.bias = true;
  Padding padding;
  padding.top = 1, padding.bottom = 2, padding.left = 3, padding.right = 4;
  wanted.params = {.stride = {2, 1}, .padding = padding, .dilation = {3, 3}, .output_padding = {0, 1}, .groups = 2};
  wanted.dtype = DType::bf16;
  wanted.x_layout = LayoutKind::flipped;
  wanted.weight_layout = LayoutKind::permuted;
  wanted.out_layout = LayoutKind::offset;
  wanted.align = 8;
  wanted.data = DataKind::special;
  wanted.seed = UINT64_MAX;
  wanted.threads = 3;
  wanted.kernel = "cpu/*/conv2d_f32/*";
  wanted.demand = "accurate(2.5)";
  EXPECT_EQ(*read, wanted) << to_line(*read);
  EXPECT_EQ(read->params.padding.bottom, 2);
}

TEST(ProblemLine, DefaultsAreLeftOut) {
  const auto read = parse_problem(
      "conv2d x=1x64x56x56 weight=64x64x3x3 bias=0 stride=1x1 padding=0 dilation=1 groups=1 dtype=f32 x.layout=dense "
      "align=64 data=normal seed=0 threads=0");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_line(*read), "conv2d x=1x64x56x56 weight=64x64x3x3");
}

TEST(ProblemLine, PrintsTheShortestForm) {
  const std::string line =
      "conv2d x=1x3x8x8 weight=4x3x3x3 bias=1 stride=2x1 padding=0,1,0,1 dilation=2 dtype=f16 demand=order(pairs)";
  EXPECT_EQ(to_line(parse_problem(line).value()), line);
  for (const char* padding : {"same", "2", "2x1", "0,0,0,1"}) {
    const std::string text = std::string("conv2d x=1x1x1x1 weight=1x1x1x1 padding=") + padding;
    EXPECT_EQ(to_line(parse_problem(text).value()), text);
  }
}

TEST(ProblemLine, EveryRandomProblemReadsBack) {
  for (const Op op : {Op::conv2d, Op::conv_transpose2d})
    for (std::uint64_t index = 0; index < 10'000; ++index) {
      Problem problem = random_problem(op, 7, index);
      if (index % 3 == 0) problem.threads = static_cast<int>(index % (max_threads + 1));
      if (index % 5 == 0) problem.kernel = "cpu/simd/*";
      if (index % 7 == 0) problem.demand = "fast";
      const auto read = parse_problem(to_line(problem));
      ASSERT_TRUE(read) << read.error().message;
      ASSERT_EQ(*read, problem) << to_line(problem);
    }
}

TEST(ProblemLine, EqualityLooksAtEverythingButTheName) {
  const Problem plain = parse_problem("conv2d x=1x1x1x1 weight=1x1x1x1").value();
  for (const char* word : {"bias=1", "stride=2", "padding=1", "dilation=2", "output_padding=1", "groups=2", "dtype=f64",
                           "x.layout=sliced", "weight.layout=sliced", "out.layout=sliced", "align=4", "data=int",
                           "seed=1", "threads=1", "kernel=a", "demand=any"})
    EXPECT_NE(parse_problem(std::string("conv2d x=1x1x1x1 weight=1x1x1x1 ") + word).value(), plain) << word;
  Problem named = plain;
  named.name = "conv1";
  EXPECT_EQ(named, plain);
}

struct LineFault {
  const char *line, *rule, *text;
};

class ProblemLineFault : public ::testing::TestWithParam<LineFault> {};

TEST_P(ProblemLineFault, IsRefusedByName) {
  const auto read = parse_problem(GetParam().line);
  ASSERT_FALSE(read) << to_line(*read);
  EXPECT_EQ(read.error().code, ErrorCode::invalid_file);
  EXPECT_EQ(read.error().rule, GetParam().rule);
  EXPECT_THAT(read.error().message, HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Each, ProblemLineFault,
    ::testing::Values(LineFault{"", "op", "needs conv2d or conv_transpose2d"}, LineFault{"x=1 weight=1", "op", "needs"},
                      LineFault{"conv3d x=1 weight=1", "op", "did you mean `conv2d`?"},
                      LineFault{"conv2d conv2d x=1 weight=1", "op", "two operations"},
                      LineFault{"conv2d x=1x1x1x1", "weight", "needs it"},
                      LineFault{"conv2d weight=1x1x1x1", "x", "needs it"},
                      LineFault{"conv2d x=1 weight=1 strid=2", "strid", "did you mean `stride`?"},
                      LineFault{"conv2d x=1 weight=1 colour=2", "colour", "unknown key `colour`"},
                      LineFault{"conv2d x=1 weight=1 x=2", "x", "given twice"},
                      LineFault{"conv2d x=1y2 weight=1", "x", "`1y2` is not a shape"},
                      LineFault{"conv2d x= weight=1", "x", "is not a shape"},
                      LineFault{"conv2d x=1x2x3x4x5x6x7 weight=1", "x", "not a shape"},
                      LineFault{"conv2d x=9223372036854775808 weight=1", "x", "not a shape"},
                      LineFault{"conv2d x=1 weight=1x weight=1", "weight", "not a shape"},
                      LineFault{"conv2d x=1 weight=1 bias=2", "bias", "is not 0 or 1"},
                      LineFault{"conv2d x=1 weight=1 stride=1x2x3", "stride", "is not a number, or height and width"},
                      LineFault{"conv2d x=1 weight=1 padding=1,2,3", "padding", "top,bottom,left,right"},
                      LineFault{"conv2d x=1 weight=1 padding=valid", "padding", "same"},
                      LineFault{"conv2d x=1 weight=1 dilation=two", "dilation", "`two`"},
                      LineFault{"conv2d x=1 weight=1 output_padding=", "output_padding", "``"},
                      LineFault{"conv2d x=1 weight=1 groups=1x1", "groups", "is not a number"},
                      LineFault{"conv2d x=1 weight=1 dtype=F32", "dtype", "f32, f64, bf16 or f16"},
                      LineFault{"conv2d x=1 weight=1 x.layout=nhwc", "x.layout", "channels_last"},
                      LineFault{"conv2d x=1 weight=1 weight.layout=", "weight.layout", "dense"},
                      LineFault{"conv2d x=1 weight=1 out.layout=expanded", "out.layout", "is not dense"},
                      LineFault{"conv2d x=1 weight=1 align=3", "align", "power of two"},
                      LineFault{"conv2d x=1 weight=1 align=8192", "align", "4096"},
                      LineFault{"conv2d x=1 weight=1 align=0", "align", "`0`"},
                      LineFault{"conv2d x=1 weight=1 data=ints", "data", "int, normal or special"},
                      LineFault{"conv2d x=1 weight=1 seed=-1", "seed", "2^64 - 1"},
                      LineFault{"conv2d x=1 weight=1 seed=18446744073709551616", "seed", "2^64 - 1"},
                      LineFault{"conv2d x=1 weight=1 threads=-1", "threads", "0 to 4096"},
                      LineFault{"conv2d x=1 weight=1 threads=4097", "threads", "0 to 4096"},
                      LineFault{"conv2d x=1 weight=1 kernel=", "kernel", "glob"},
                      LineFault{"conv2d x=1 weight=1 demand=quick", "demand", "accurate(factor)"},
                      LineFault{"conv2d x=1 weight=1 demand=accurate", "demand", "`accurate`"},
                      LineFault{"conv2d x=1 weight=1 demand=accurate(x)", "demand", "`accurate(x)`"},
                      LineFault{"conv2d x=1 weight=1 demand=accurate(1.2.3)", "demand", "1.2.3"},
                      LineFault{"conv2d x=1 weight=1 demand=order()", "demand", "order()"},
                      LineFault{"conv2d x=1 weight=1 demand=order(a)b", "demand", "order(a)b"}));

TEST(Problem, GeometryJudgesWhatTheLineSays) {
  EXPECT_EQ(geometry_of(parse_problem("conv2d x=2x3x8x8 weight=4x3x3x3 bias=1 padding=same").value())->out_shape(),
            (Dims{2, 4, 8, 8}));
  EXPECT_EQ(geometry_of(parse_problem("conv_transpose2d x=1x4x2x2 weight=4x3x2x2 groups=2 bias=1").value())->Cout, 6);
  EXPECT_EQ(geometry_of(parse_problem("conv2d x=1x1x1x1 weight=1x1x1x1 stride=0").value()).error().rule, "stride");
  EXPECT_FALSE(geometry_of(
      parse_problem("conv_transpose2d x=1x1x1x1 weight=1x9223372036854775807x1x1 groups=3 bias=1").value()));
  EXPECT_EQ(
      geometry_of(parse_problem("conv2d x=1x1x1x1 weight=1x1x1x1 stride=2 output_padding=1").value()).error().rule,
      "output_padding");
  EXPECT_FALSE(geometry_of(parse_problem("conv2d x=1x1x1 weight=1x1x1 bias=1").value()));
}

}  // namespace
}  // namespace convoke::problem

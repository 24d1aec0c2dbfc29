// SPDX-License-Identifier: Apache-2.0 OR MIT
// The convolutions by direct calls: the law's bits for every build, dtype, relation and layout.
#include <gtest/gtest.h>

#include "tests/kernels/kernel_test.hpp"
#include "tests/kernels/reference.hpp"

namespace convoke::kernel_tests {
namespace {

struct Kind {
  bool transposed;
  int dtype;
};

class ConvolutionTest : public testing::TestWithParam<Kind> {
 protected:
  /// Every row this host runs against the reference.
  static void check(const Problem& p) {
    ASSERT_TRUE(p.valid()) << p.name();
    const Operands operands(p);
    Tensor expected(p.dtype, {p.N, p.Cout, p.out_size(0), p.out_size(1)}, Layout::dense);
    reference(p, operands, expected);
    const auto x_before = operands.x.canonical();
    const auto rows = rows_of(p);
    ASSERT_FALSE(rows.empty());
    for (const convoke_entry& row : rows) {
      const Operands mine(p);
      ASSERT_EQ(mine.run(row.function), CONVOKE_OK);
      ASSERT_EQ(mine.out.canonical(), expected.canonical()) << p.name() << " isa=" << row.isa;
      ASSERT_TRUE(mine.out.gaps_untouched()) << p.name() << " isa=" << row.isa;
      ASSERT_EQ(mine.x.canonical(), x_before) << p.name();
    }
  }
  Problem base() const {
    Problem p;
    p.transposed = GetParam().transposed;
    p.dtype = GetParam().dtype;
    return p;
  }
};

TEST_P(ConvolutionTest, RandomProblemsFollowTheLaw) {
  Random random(0x1234 + static_cast<std::uint64_t>(GetParam().dtype));
  for (int i = 0; i < 400; ++i) {
    check(random_problem(GetParam().transposed, GetParam().dtype, random));
    if (HasFatalFailure()) return;
  }
}

TEST_P(ConvolutionTest, EveryLayoutOfEveryOperand) {
  Problem p = base();
  p.N = 2, p.Cin = 4, p.H = 9, p.W = 10, p.Cout = 6, p.Kh = 3, p.Kw = 2, p.groups = 2, p.bias = true;
  p.stride = {2, 1}, p.padding = {1, 2}, p.padding_end = {0, 1}, p.dilation = {1, 2};
  for (int layout = 0; layout < 8; ++layout) {
    for (Layout Problem::* operand :
         {&Problem::x_layout, &Problem::weight_layout, &Problem::bias_layout, &Problem::out_layout}) {
      Problem one = p;
      one.*operand = static_cast<Layout>(layout);
      if (one.out_layout == Layout::expanded) continue;
      check(one);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(ConvolutionTest, UnitAxesWithWildStrides) {
  Problem p = base();
  p.x_layout = p.weight_layout = p.bias_layout = p.out_layout = Layout::odd_units;
  p.bias = true;
  check(p);
  p.Kh = p.Kw = 3;
  if (!p.transposed) p.padding = p.padding_end = {2, 2};
  check(p);
  p.H = 0;  // an empty x with meaningless strides; the outputs that remain are the bias
  check(p);
}

TEST_P(ConvolutionTest, ManyChannelsAndLongTiles) {
  Problem p = base();
  p.Cin = 37, p.H = 12, p.W = 13, p.Cout = 50, p.Kh = p.Kw = 3, p.padding = p.padding_end = {1, 1}, p.bias = true;
  check(p);
  p.data = Data::special;
  check(p);
}

TEST_P(ConvolutionTest, AbsentTapsAddNothingEvenToAnInfiniteWeight) {
  Problem p = base();
  p.H = p.W = 3, p.Kh = p.Kw = 3, p.padding = p.padding_end = {1, 1}, p.data = Data::integers;
  const Operands operands(p);
  const Format& format = operands.x.format();
  // Only the corner weight is infinite and x is all ones, so exactly the outputs that lack that tap stay finite.
  Operands planted(p);
  for (int i = 0; i < 9; ++i) planted.x.set(i, encode(format, 1.0));
  for (int i = 0; i < 9; ++i) planted.weight.set(i, encode(format, 1.0));
  planted.weight.set(0, format.infinity());
  for (const convoke_entry& row : rows_of(p)) {
    ASSERT_EQ(planted.run(row.function), CONVOKE_OK);
    int finite = 0;
    for (int i = 0; i < 9; ++i) finite += planted.out.bits(i) < format.infinity() ? 1 : 0;
    EXPECT_EQ(finite, 5);
  }
}

TEST_P(ConvolutionTest, PresentZeroTimesInfinityIsNan) {
  Problem p = base();
  Operands operands(p);
  operands.x.set(0, 0);
  operands.weight.set(0, operands.x.format().infinity());
  for (const convoke_entry& row : rows_of(p)) {
    ASSERT_EQ(operands.run(row.function), CONVOKE_OK);
    EXPECT_TRUE(operands.x.format().is_nan(operands.out.bits(0)));
  }
}

TEST_P(ConvolutionTest, NegativeZeroBiasSurvivesAbsentTapsOnly) {
  Problem p = base();
  p.bias = true;
  p.padding = p.padding_end = {1, 1};
  if (p.transposed) p.padding = p.padding_end = {0, 0}, p.stride = {2, 2}, p.output_padding = {1, 1};
  Operands operands(p);
  const Format& format = operands.x.format();
  operands.x.set(0, 0);
  operands.weight.set(0, encode(format, 1.0));
  operands.bias.set(0, format.sign());
  for (const convoke_entry& row : rows_of(p)) {
    ASSERT_EQ(operands.run(row.function), CONVOKE_OK);
    const std::int64_t reached = p.transposed ? 0 : 4;  // of 2x2, of 3x3 outputs
    for (std::int64_t i = 0; i < operands.out.count(); ++i) {
      EXPECT_EQ(operands.out.bits(i), i == reached ? 0 : format.sign()) << i;
    }
  }
}

TEST_P(ConvolutionTest, OneRoundingATap) {
  // (1 + 2^-k)^2 - 1 - 2^(1-k) = 2^-2k: fused it survives, rounded in between it is lost (f32 and f64; the products of
  // the half types are exact in f32 either way).
  Problem p = base();
  p.bias = true;
  Operands operands(p);
  const Format& format = operands.x.format();
  const int k = GetParam().dtype == CONVOKE_F64 ? 30 : GetParam().dtype == CONVOKE_F32 ? 15 : 7;
  operands.x.set(0, encode(format, 1.0 + std::ldexp(1.0, -k)));
  operands.weight.set(0, encode(format, 1.0 + std::ldexp(1.0, -k)));
  operands.bias.set(0, encode(format, -1.0 - std::ldexp(1.0, 1 - k)));
  for (const convoke_entry& row : rows_of(p)) {
    ASSERT_EQ(operands.run(row.function), CONVOKE_OK);
    EXPECT_EQ(operands.out.bits(0), encode(format, std::ldexp(1.0, -2 * k)));
  }
}

std::string name_of(const testing::TestParamInfo<Kind>& info) {
  return (info.param.transposed ? "conv_transpose2d_" : "conv2d_") +
         std::string(formats[static_cast<std::size_t>(info.param.dtype)].name);
}

INSTANTIATE_TEST_SUITE_P(Portable, ConvolutionTest,
                         testing::Values(Kind{false, CONVOKE_F32}, Kind{false, CONVOKE_F64}, Kind{false, CONVOKE_BF16},
                                         Kind{false, CONVOKE_F16}, Kind{true, CONVOKE_F32}, Kind{true, CONVOKE_F64},
                                         Kind{true, CONVOKE_BF16}, Kind{true, CONVOKE_F16}),
                         name_of);

}  // namespace
}  // namespace convoke::kernel_tests

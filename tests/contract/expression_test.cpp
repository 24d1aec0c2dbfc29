// SPDX-License-Identifier: Apache-2.0 OR MIT
// The seeds' own strings with real shapes, names in scope, and limits against hostile texts.
#include "contract/expression.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expression_scope.hpp"

namespace convoke::contract {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Dialect = Constraint::Dialect;

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

Judgement judge(std::string_view text, Dialect dialect, std::string_view subject, const Scope& scope) {
  const auto constraint = Constraint::parse(text, dialect, subject);
  EXPECT_TRUE(constraint) << text << ": " << constraint.error().message;
  EXPECT_GT(constraint->size(), 0U) << text;
  return constraint->judge(scope);
}

TEST(Seeds, Conv2dWeight) {
  const std::string_view text = "divisible(x.dim[1], weight.dim[1]); weight.dim[1] == x.dim[1] / groups";
  MapScope scope = convolution_scope();
  EXPECT_EQ(judge(text, Dialect::shape, "weight", scope).verdict, Verdict::holds);
  scope.shapes["weight"][1] = 5;
  Judgement judgement = judge(text, Dialect::shape, "weight", scope);
  EXPECT_EQ(judgement.verdict, Verdict::fails);
  EXPECT_EQ(judgement.clause, "divisible(x.dim[1], weight.dim[1])");
  EXPECT_EQ(judgement.found, "x.dim[1] = 64, weight.dim[1] = 5");
  scope.shapes["weight"][1] = 8;
  judgement = judge(text, Dialect::shape, "weight", scope);
  EXPECT_EQ(judgement.clause, "weight.dim[1] == x.dim[1] / groups");
  EXPECT_EQ(judgement.found, "weight.dim[1] = 8, x.dim[1] = 64, groups = 4");
}

TEST(Seeds, NoChannelsAreNotDivisible) {
  MapScope scope = convolution_scope();
  scope.shapes["x"][1] = scope.shapes["weight"][1] = 0;
  const Judgement judgement = judge("divisible(x.dim[1], weight.dim[1])", Dialect::shape, "weight", scope);
  EXPECT_EQ(judgement.verdict, Verdict::fails);
  EXPECT_EQ(judgement.found, "x.dim[1] = 0, weight.dim[1] = 0; division by zero");
}

TEST(Seeds, Bias) {
  MapScope scope = convolution_scope();
  EXPECT_EQ(judge("weight.dim[0] == bias.dim[0]", Dialect::shape, "bias", scope).verdict, Verdict::holds);
  EXPECT_EQ(judge("out.dim[1] == bias.dim[0]", Dialect::shape, "bias", scope).verdict, Verdict::holds);
  scope.shapes["bias"] = {31};
  EXPECT_EQ(judge("out.dim[1] == bias.dim[0]", Dialect::shape, "bias", scope).found,
            "out.dim[1] = 32, bias.dim[0] = 31");
  scope.shapes.erase("bias");
  const Judgement absent = judge("out.dim[1] == bias.dim[0]", Dialect::shape, "bias", scope);
  EXPECT_EQ(absent.verdict, Verdict::unknown);
  EXPECT_EQ(absent.found, "out.dim[1] = 32, bias.dim[0] = unknown");
}

TEST(Seeds, Groups) {
  const std::string_view text = "groups != 0; Cin % groups == 0; Cout % groups == 0";
  MapScope scope = convolution_scope();
  EXPECT_EQ(judge(text, Dialect::field, "groups", scope).verdict, Verdict::holds);
  scope.scalars["groups"] = 3;
  const Judgement judgement = judge(text, Dialect::field, "groups", scope);
  EXPECT_EQ(judgement.verdict, Verdict::fails);
  EXPECT_EQ(judgement.clause, "Cin % groups == 0");
  EXPECT_EQ(judgement.found, "Cin = 64, groups = 3");
  // The first clause decides, so that nobody divides by it.
  scope.scalars["groups"] = 0;
  EXPECT_EQ(judge(text, Dialect::field, "groups", scope).clause, "groups != 0");
  EXPECT_EQ(judge("Cin % groups == 0", Dialect::field, "groups", scope).found,
            "Cin = 64, groups = 0; division by zero");
}

TEST(Seeds, DilationIsTheFieldItselfAndTheRemarkIsCut) {
  const std::string_view text = "== (1, 1) (wrapper bails otherwise → CPU/CUDA fallback)";
  MapScope scope = convolution_scope();
  EXPECT_EQ(judge(text, Dialect::field, "dilation", scope).verdict, Verdict::holds);
  scope.tuples["dilation"] = {1, 2};
  const Judgement judgement = judge(text, Dialect::field, "dilation", scope);
  EXPECT_EQ(judgement.verdict, Verdict::fails);
  EXPECT_EQ(judgement.clause, "== (1, 1)");
  EXPECT_EQ(judgement.found, "dilation = (1, 2)");
}

TEST(Seeds, FastPaths) {
  MapScope scope = convolution_scope();
  const auto verdict = [&](std::string_view text) { return Predicate::parse(text)->judge(scope); };
  EXPECT_EQ(verdict("groups == 1"), Verdict::fails);
  scope.scalars["groups"] = 1;
  EXPECT_EQ(verdict("groups == 1"), Verdict::holds);
  EXPECT_EQ(verdict("depthwise"), Verdict::unknown);
  scope.words["depthwise"] = true;
  EXPECT_EQ(verdict("depthwise"), Verdict::holds);
}

TEST(Seeds, Costs) {
  const MapScope scope = convolution_scope();
  const auto value = [&](std::string_view text) { return CostExpression::parse(text)->evaluate(scope); };
  EXPECT_EQ(
      value("2 * out_shape[0] * out_shape[1] * out_shape[2] * out_shape[3] * (x_shape[1] / groups) * w_shape[2] * "
            "w_shape[3]"),
      2.0 * 2 * 32 * 54 * 54 * 16 * 3 * 3);
  EXPECT_EQ(value("out_shape[0]*out_shape[1]*out_shape[2]*out_shape[3] * (dtype_bytes + 4)"), 2.0 * 32 * 54 * 54 * 8);
}

TEST(Names, InReadingOrderOnceEach) {
  using Kind = Name::Kind;
  const auto shape = Constraint::parse("same_as=x; divisible(x.dim[1], groups) ; rank=4", Dialect::shape, "weight");
  EXPECT_THAT(shape->names(), ElementsAre(Name{Kind::operand, "x", 8}, Name{Kind::value, "groups", 31}));
  const auto field = Constraint::parse("== product(out_shape); op_params.n > weight.rank", Dialect::field, "count");
  EXPECT_THAT(field->names(), ElementsAre(Name{Kind::function, "product", 3}, Name{Kind::value, "out_shape", 11},
                                          Name{Kind::value, "n", 33}, Name{Kind::operand, "weight", 37}));
  const auto predicate = Predicate::parse("depthwise && fits(x) && always");
  EXPECT_THAT(predicate->names(), ElementsAre(Name{Kind::word, "depthwise", 0}, Name{Kind::function, "fits", 13},
                                              Name{Kind::value, "x", 18}));
  EXPECT_THAT(CostExpression::parse("min(n, ceil_div(k, 2))")->names(),
              ElementsAre(Name{Kind::function, "min", 0}, Name{Kind::value, "n", 4},
                          Name{Kind::function, "ceil_div", 7}, Name{Kind::value, "k", 16}));
  EXPECT_THAT(CostExpression::parse("2 * n * n")->names(), ElementsAre(Name{Kind::value, "n", 4}));
  const auto layout = Constraint::parse("stride[-1] == 1", Dialect::layout, "x");
  EXPECT_TRUE(layout->names().empty());
  EXPECT_TRUE(Constraint::parse("a == b && even", Dialect::shape, "x")->names().empty());
  EXPECT_TRUE(Constraint::parse("a == even things", Dialect::field, "x")->names().empty());
}

TEST(Defaults, AreEmpty) {
  const MapScope scope;
  EXPECT_EQ(Constraint().judge(scope).verdict, Verdict::holds);
  EXPECT_EQ(Constraint().text(), "");
  EXPECT_EQ(Predicate().judge(scope), Verdict::unknown);
  EXPECT_EQ(CostExpression().evaluate(scope), std::nullopt);
  const auto copy = *Constraint::parse("a == 1; so it goes", Dialect::shape, "x");
  EXPECT_EQ(copy.text(), "a == 1; so it goes");
  EXPECT_THAT(copy.prose(), ElementsAre("so it goes"));
}

struct Hostile {
  std::string text;
  std::string message;
};

void refuse(const Hostile& hostile) {
  const auto constraint = Constraint::parse(fmt::format("{} == 1", hostile.text), Dialect::shape, "x");
  ASSERT_FALSE(constraint) << hostile.message;
  EXPECT_THAT(constraint.error().message, HasSubstr(hostile.message));
  const auto cost = CostExpression::parse(hostile.text);
  ASSERT_FALSE(cost) << hostile.message;
  EXPECT_THAT(cost.error().message, HasSubstr(hostile.message));
  EXPECT_LE(cost.error().offset, hostile.text.size());
}

// `middle` inside `depth` openers and closers.
std::string nested(std::string_view open, std::string_view middle, std::string_view close, std::size_t depth) {
  return fmt::format("{}{}{}", repeated(open, depth), middle, repeated(close, depth));
}

TEST(Limits, RefuseHostileTexts) {
  refuse({nested("(", "1", ")", 64), "nested more than 32 deep"});
  refuse({repeated("(", 4000), "nested more than 32 deep"});
  refuse({nested("a[", "1", "]", 64), "nested more than 32 deep"});
  refuse({nested("f(", "1", ")", 64), "nested more than 32 deep"});
  refuse({nested("a", "[0]", "[0]", 1100).substr(1099), "more than 1024 numbers, names and operators"});
  refuse({nested("1+", "1", "", 600), "more than 1024 numbers, names and operators"});
  refuse({nested("-", "1", "", 2000), "more than 1024 numbers, names and operators"});
  refuse({fmt::format("f({}1)", repeated("1,", 16)), "more than 16 arguments"});
  refuse({nested("1+2*f(3,4,", "1", ")", 16), "more than 64 values wait"});
  refuse({std::string(4097, ' '), "longer than 4096 bytes"});
  refuse({repeated("9", 400), "number"});
}

TEST(Limits, AdmitWhatIsInside) {
  const MapScope scope;
  EXPECT_EQ(CostExpression::parse(nested("(", "7", ")", 32))->evaluate(scope), 7.0);
  EXPECT_EQ(CostExpression::parse(nested("1+", "1", "", 511))->evaluate(scope), 512.0);
  EXPECT_EQ(CostExpression::parse(nested("-", "1", "", 1000))->evaluate(scope), 1.0);
  EXPECT_EQ(CostExpression::parse(nested("2[0][0]+", "1", "", 2))->evaluate(scope), std::nullopt);
  EXPECT_TRUE(CostExpression::parse(nested("t[0]*", "t[-1]", "", 100)));
  const auto many = Constraint::parse(repeated("1==1;", 512), Dialect::shape, "x");
  EXPECT_EQ(many->size(), 512U);
  EXPECT_EQ(many->judge(scope).verdict, Verdict::holds);
}

TEST(Limits, ALimitIsAnErrorInProseAndFieldsToo) {
  EXPECT_FALSE(Constraint::parse("== 9223372036854775808", Dialect::field, "groups"));
  EXPECT_TRUE(Constraint::parse("== 9223372036854775807", Dialect::field, "groups"));
  EXPECT_FALSE(Constraint::parse(repeated("(", 40), Dialect::field, "groups"));
  EXPECT_FALSE(Predicate::parse("groups == 9223372036854775808"));
  EXPECT_FALSE(Constraint::parse("same_as=x.dim[9223372036854775808]", Dialect::shape, "y"));
}

}  // namespace
}  // namespace convoke::contract

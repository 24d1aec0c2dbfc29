// SPDX-License-Identifier: Apache-2.0 OR MIT
// Arithmetic at the edges of int64, costs in double, and no allocation where the answer is yes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "contract/expression_program.hpp"
#include "expression_scope.hpp"

namespace {
std::size_t allocations = 0;
}  // namespace

// All forms that are used with one another, or a sanitizer's own would meet ours. Not inlined: GCC would see free()
// meet a pointer from new and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace convoke::contract {
namespace {

using Dialect = Constraint::Dialect;
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();

TEST(Integers, TruncateAndKeepPrecedence) {
  MapScope scope = convolution_scope();
  scope.scalars["k"] = 7;
  for (const char* text :
       {"k / 2 == 3", "-k / 2 == -3", "k / -2 == -3", "-k % 4 == -3", "k % -4 == 3", "2 + 3 * 4 == 14",
        "(2 + 3) * 4 == 20", "20 - 3 - 4 == 13", "100 / 10 / 5 == 2", "2 * 7 % 4 == 2", "- -k == 7", "--k == k",
        "-x_shape[1] == -64", "-(k + 1) == -8", "7 / 2 * 2 == 6", "x_shape[k - 6] == 64", "x_shape[-1] == 56"}) {
    const auto constraint = Constraint::parse(text, Dialect::shape, "x");
    ASSERT_TRUE(constraint && constraint->size() == 1) << text;
    EXPECT_EQ(constraint->judge(scope).verdict, Verdict::holds) << text;
  }
}

TEST(Integers, HaveALeastAGreatestAndAQuotientRoundedUp) {
  MapScope scope = convolution_scope();
  scope.scalars = {{"low", lowest}, {"high", highest}, {"zero", 0}, {"k", 7}};
  for (const char* text :
       {"min(k, 5) == 5", "min(-k, 5) == -k", "max(k, 5) == k", "max(low, high) == high", "min(low, high) == low",
        "ceil_div(k, 2) == 4", "ceil_div(k, 7) == 1", "ceil_div(zero, k) == 0", "ceil_div(high, 2) == high / 2 + 1",
        "ceil_div(high, 1) == high", "ceil_div(high, high) == 1", "max(min(k, 3), ceil_div(k, 3)) == 3",
        "min(k, 3) + 1 == 4", "x_shape[min(k, 1)] == 64", "k == max(3, k) != min(3, k)"}) {
    for (const Dialect dialect : {Dialect::shape, Dialect::field}) {
      const auto constraint = Constraint::parse(text, dialect, "x");
      ASSERT_TRUE(constraint && constraint->size() == 1) << text;
      EXPECT_EQ(constraint->judge(scope).verdict, Verdict::holds) << text;
    }
  }
  for (const char* text : {"ceil_div(-1, 2) <= 0", "ceil_div(4, -2) <= 0", "ceil_div(low, low) == 1", "min(k) == k",
                           "min(k, k, k) == k", "ceil_div(k) == k", "max() == k", "minimum(k, k) == k",
                           "min(absent, 1) <= 1", "max(1, absent) >= 1", "min(x_shape, 1) <= 1"}) {
    const auto constraint = Constraint::parse(text, Dialect::shape, "x");
    ASSERT_TRUE(constraint && constraint->size() == 1) << text;
    EXPECT_EQ(constraint->judge(scope).verdict, Verdict::unknown) << text;
  }
  const auto by_zero = Constraint::parse("ceil_div(k, zero) == 1", Dialect::shape, "x")->judge(scope);
  EXPECT_EQ(by_zero.verdict, Verdict::fails);
  EXPECT_EQ(by_zero.found, "k = 7, zero = 0; division by zero");
}

TEST(Integers, OverflowAndDivisionByZeroFail) {
  MapScope scope = convolution_scope();
  scope.scalars = {{"low", lowest}, {"high", highest}, {"zero", 0}};
  scope.tuples["huge"] = {highest, 2};
  const std::pair<const char*, const char*> rows[] = {
      {"high + 1 != zero", "high = 9223372036854775807; int64 overflow"},
      {"low - 1 != zero", "low = -9223372036854775808; int64 overflow"},
      {"high * high != zero", "high = 9223372036854775807; int64 overflow"},
      {"-low != zero", "low = -9223372036854775808; int64 overflow"},
      {"low / -1 != zero", "low = -9223372036854775808; int64 overflow"},
      {"zero != 1 / zero", "zero = 0; division by zero"},
      {"1 % zero != 1", "zero = 0; division by zero"},
      {"divisible(zero, zero)", "zero = 0; division by zero"},
      {"product(huge) != 0", "product(huge) = unknown; int64 overflow"},
      {"sum(huge) != 0", "sum(huge) = unknown; int64 overflow"}};
  for (const auto& [text, found] : rows) {
    const auto constraint = Constraint::parse(text, Dialect::shape, "x");
    ASSERT_TRUE(constraint && constraint->size() == 1) << text;
    const Judgement judgement = constraint->judge(scope);
    EXPECT_EQ(judgement.verdict, Verdict::fails) << text;
    EXPECT_EQ(judgement.found, found) << text;
  }
  const auto remainder = Constraint::parse("low % -1 == 0; divisible(low, -1); low / 1 == low", Dialect::shape, "x");
  EXPECT_EQ(remainder->judge(scope).verdict, Verdict::holds);
}

TEST(Costs, AreDoubles) {
  MapScope scope = convolution_scope();
  scope.scalars["source.n"] = 12;
  scope.scalars["big"] = (std::int64_t{1} << 53) + 1;
  const auto value = [&](std::string_view text) { return CostExpression::parse(text)->evaluate(scope); };
  EXPECT_EQ(value("7 / 2"), 3.5);
  EXPECT_EQ(value("7.25 % 2"), 1.25);
  EXPECT_EQ(value("0.5 * groups"), 2.0);
  EXPECT_EQ(value("3 - 4"), 0.0);
  EXPECT_EQ(value("-(3 - 4)"), 1.0);
  EXPECT_EQ(value("source.n * 2"), 24.0);
  EXPECT_EQ(value("x.dim[0] * out.dim[-1]"), 108.0);
  EXPECT_EQ(value("prod(out_shape) + sum(stride) + x_shape.len()"), 186624.0 + 2 + 4);
  EXPECT_EQ(value("big"), 9007199254740992.0);
  EXPECT_EQ(value("20000000000000000000"), 2e19);
  EXPECT_EQ(value("x_shape[groups / 2]"), 56.0);
  EXPECT_EQ(value("min(groups, 2.5) + max(0.5, -1)"), 3.0);
  EXPECT_EQ(value("ceil_div(Cin, 24) * 24"), 72.0);
  EXPECT_EQ(value("ceil_div(9007199254740992, 2)"), 4503599627370496.0);
  EXPECT_EQ(value("ceil_div(9007199254740992, 9007199254740991)"), 2.0);
  EXPECT_EQ(value("ceil_div(0, 3) + ceil_div(4.0, 4)"), 1.0);
}

TEST(Costs, SayWhichScalarsTheyAskFor) {
  const auto cost = CostExpression::parse("threads * x_shape[n] + product(stride)");
  EXPECT_TRUE(cost->mentions("threads"));
  EXPECT_TRUE(cost->mentions("n"));
  EXPECT_FALSE(cost->mentions("thread"));
  EXPECT_FALSE(cost->mentions("x_shape"));
  EXPECT_FALSE(CostExpression().mentions("threads"));
}

TEST(Costs, WithoutValue) {
  MapScope scope = convolution_scope();
  scope.scalars["zero"] = 0;
  scope.scalars["high"] = highest;
  std::string huge = "high";
  for (int i = 0; i < 20; ++i) huge += " * high";
  for (const std::string& text : {std::string("1 / zero"),
                                  std::string("1 % zero"),
                                  std::string("absent"),
                                  std::string("x_shape[4]"),
                                  std::string("x_shape[1 / 2]"),
                                  std::string("x_shape[0][0]"),
                                  std::string("f(groups)"),
                                  std::string("x_shape"),
                                  std::string("x_shape[high]"),
                                  std::string("dim[0]"),
                                  std::string("ceil_div(1, zero)"),
                                  std::string("ceil_div(7 / 2, 2)"),
                                  std::string("ceil_div(4, 0 - 2)"),
                                  std::string("ceil_div(0 - 4, 2)"),
                                  std::string("ceil_div(9007199254740994, 2)"),
                                  std::string("ceil_div(1, high)"),
                                  "min(" + huge + " * zero, 1)",
                                  "max(1, " + huge + " * zero)",
                                  huge,
                                  huge + " * zero",
                                  "1 / (" + huge + ") - " + huge}) {
    const auto cost = CostExpression::parse(text);
    ASSERT_TRUE(cost) << text;
    EXPECT_EQ(cost->evaluate(scope), std::nullopt) << text;
    EXPECT_EQ(cost->text(), text);
  }
}

// Answers without making anything.
class FixedScope : public Scope {
 public:
  std::optional<std::int64_t> dim(std::string_view role, std::int64_t axis) const override {
    return role == "x" ? (axis == 1 ? 64 : 56) : 16;
  }
  std::optional<std::int64_t> rank(std::string_view) const override { return 4; }
  std::optional<std::int64_t> scalar(std::string_view) const override { return 4; }
  std::optional<std::vector<std::int64_t>> tuple(std::string_view) const override { return std::nullopt; }
  std::optional<std::int64_t> element(std::string_view, std::int64_t) const override { return 4; }
  std::optional<std::int64_t> layout(std::string_view, std::string_view, std::int64_t) const override { return 4; }
  std::optional<bool> word(std::string_view) const override { return true; }
};

TEST(Evaluation, AllocatesNothingWhereTheAnswerIsYes) {
  const FixedScope scope;
  const auto constraint = Constraint::parse(
      "divisible(x.dim[1], weight.dim[1]); weight.dim[1] == x.dim[1] / groups; rank=4; same_as=weight; k < 5 != 7",
      Dialect::shape, "out");
  const auto predicate = Predicate::parse("groups == 4 && depthwise");
  const auto cost = CostExpression::parse("2 * out_shape[0] * (x_shape[1] / groups) * x.dim[0]");
  const std::size_t before = allocations;
  const Verdict shape = constraint->judge(scope).verdict, fast = predicate->judge(scope);
  const auto flops = cost->evaluate(scope);
  const std::size_t after = allocations;
  EXPECT_EQ(after, before);
  EXPECT_EQ(shape, Verdict::holds);
  EXPECT_EQ(fast, Verdict::holds);
  EXPECT_EQ(flops, 2.0 * 4 * 1 * 56);
  EXPECT_GT(allocations, 0U);
}

}  // namespace
}  // namespace convoke::contract

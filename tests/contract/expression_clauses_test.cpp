// SPDX-License-Identifier: Apache-2.0 OR MIT
// What is a clause, what is prose and what is an error; one row for each production and each trap of the format.
#include "contract/expression_clauses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expression_scope.hpp"

namespace convoke::contract {
namespace {

using Dialect = Constraint::Dialect;
using testing::ElementsAre;

// ---- Reading -------------------------------------------------------------------------------------------------------

struct Reading {
  const char* text;
  std::size_t clauses, prose;
};

void expect_readings(Dialect dialect, std::initializer_list<Reading> rows) {
  for (const Reading& row : rows) {
    const auto constraint = Constraint::parse(row.text, dialect, "self");
    ASSERT_TRUE(constraint) << row.text << ": " << constraint.error().offset << ' ' << constraint.error().message;
    EXPECT_EQ(constraint->size(), row.clauses) << row.text;
    EXPECT_EQ(constraint->prose().size(), row.prose) << row.text;
  }
}

TEST(ShapeClauses, EveryProduction) {
  expect_readings(Dialect::shape, {{"", 0, 0},
                                   {" ; ;; ", 0, 0},
                                   {"same_as=x", 1, 0},
                                   {"same_rank = x ;broadcast_to=x; last_dim_eq=x; same_dtype=x; reduces_to=x", 5, 0},
                                   {"same_as=x.dim[1]; same_as=logits[..-1]; same_as=x.dim[-1]", 3, 0},
                                   {"rank=4; rank=any; rank=2..=4; rank=2..", 4, 0},
                                   {"dim[0]=x; dim[-1] = 2 * k + 1", 2, 0},
                                   {"divisible(k, 32); divisible(x.dim[1], weight.dim[1] * 2)", 2, 0},
                                   {"capacity_ge(dim[-1], k)", 1, 0},
                                   {"a == b; a != b; a <= b; a >= b; a < b; a > b; 0 < a <= b", 7, 0},
                                   {"dim[i] == out_shape[i]; dim[0] == 4; dim[axis] <= modulus; rank >= 1", 4, 0},
                                   {"-a + b[c[0]][1] * (d % 2) == f() - g(1, h) / x.dim[-1]", 1, 0},
                                   {"N==2 && k == 4; a == 1&&same_as=x", 4, 0}});
}

TEST(ShapeClauses, WhatMatchesNothingIsProse) {
  expect_readings(Dialect::shape, {{"agree with b on every axis except concat_dim", 0, 1},
                                   {"notes: flat [outer, inner]; bytes == 4", 1, 1},
                                   {"reduce(x, output_shape)", 0, 1},
                                   {"dim[i] == slab size on axis i", 0, 1},
                                   {"dim[i] == ranges[i].end - ranges[i].start", 0, 1},
                                   {"dim = dims[0], in 0..rank", 0, 1},
                                   {"dims sorted-ascending+unique in 0..rank", 0, 1},
                                   {"x.dim[1] == 4 (a remark)", 0, 1},
                                   {"a = b", 0, 1},
                                   {"a == ; == b", 0, 2},
                                   {"a == b && even", 0, 1},
                                   {"a == b &&", 0, 1},
                                   {"same shape as x → y ≥ z", 0, 1},
                                   {"product(reduced dims) > 0", 0, 1},
                                   {"x . dim[0] == 1", 0, 1},
                                   {"count is 99999999999999999999", 0, 1},
                                   {"open (bracket; and more", 0, 2},
                                   {"\xFF\x01", 0, 1}});
}

struct Broken {
  const char* text;
  std::size_t offset;
  const char* message;
};

TEST(ShapeClauses, AKeywordThatBreaksIsAnErrorWithItsPlace) {
  const Broken rows[] = {
      {"same_as", 7, "`same_as` needs an operand, as in `same_as=x`, found end of text"},
      {"same_as=", 8, "`same_as` needs an operand, as in `same_as=x`, found end of text"},
      {"rank=4; same_as x", 16, "`same_as` needs an operand, as in `same_as=x`, found `x`"},
      {"same_as=out of the window", 12, "expected the end of the clause, found `of`"},
      {"same_as=x.shape", 10, "expected `dim`, found `shape`"},
      {"same_as=x[1]", 10, "expected `..`, found `1`"},
      {"broadcast_to=x && large", 15, "expected the end of the clause, found `&&`"},
      {"rank=many", 5, "expected a whole number, found `many`"},
      {"rank=1.5", 5, "expected a whole number, found `1.5`"},
      {"rank=2..4", 8, "expected the end of the clause, found `4`"},
      {"rank=4..=2", 5, "no rank lies in `4..=2`"},
      {"rank of x", 5, "expected a comparison, found `of`"},
      {"divisible(k, 256) for some", 18, "expected the end of the clause, found `for`"},
      {"divisible(k 256)", 12, "expected `,`, found `256`"},
      {"divisible by 8", 10, "expected a comparison, found `by`"},
      {"divisible(k,", 12, "expected a number, a name or `(`, found end of text"},
      {"capacity_ge(k, 2)", 12, "expected `dim[0]` or another axis, found `k`"},
      {"capacity_ge(dim[0], 2)", 20, "expected a name and `)`, found `2`"},
      {"dim[0]=", 7, "expected a number, a name or `(`, found end of text"},
      {"dim[0] + 1 = 3", 11, "expected a comparison, found `=`"},
      {"dim[0] is even", 7, "expected a comparison, found `is`"},
      {"dim[-1] == 4 or so", 13, "expected the end of the clause, found `or`"},
      {"a == 1; dim[0]=\x02", 15, "expected a number, a name or `(`, found byte 0x02"},
  };
  for (const Broken& row : rows) {
    const auto constraint = Constraint::parse(row.text, Dialect::shape, "self");
    ASSERT_FALSE(constraint) << row.text;
    EXPECT_EQ(constraint.error().offset, row.offset) << row.text;
    EXPECT_EQ(constraint.error().message, row.message) << row.text;
  }
}

TEST(FieldClauses, EveryProduction) {
  expect_readings(Dialect::field,
                  {{"<= 8; == x.dim[0]; == a.dim[-1] == b.dim[-2]; != 0; > 0", 5, 0},
                   {"groups != 0; Cin % groups == 0 && Cout % groups == 0", 3, 0},
                   {"== (1, 1) (wrapper bails otherwise → fallback)", 1, 0},
                   {"== 2  (Replicate); len == dtype_size (one (1) element; at least) (or two)", 2, 0},
                   {"== rank (a; b && c)", 1, 0},
                   {"== (k + 1) * 2 (remark)", 1, 0},
                   {"== None; == true; causal == false; == 1.0", 4, 0},
                   {"in {0 Constant, 1 (Reflect), 2}; stride in {(1, 1), (2, 2)}", 2, 0},
                   {"in {1 (Reflect), 2 (Replicate)} — selects the map", 1, 0},
                   {"< base.rank; == product(out_shape); < base_shape.len(); len() == inputs.len()", 4, 0},
                   {"divisible(k, 2)", 1, 0}});
}

TEST(FieldClauses, WhatMatchesNothingIsProse) {
  expect_readings(Dialect::field, {{"must be None (v1 bails → fallback)", 0, 1},
                                   {"sorted ascending, unique, each in 0..input_rank", 0, 1},
                                   {"per-axis == lhs_dims OR even (lhs > rhs && lhs % rhs == 0)", 0, 1},
                                   {"out_shape[i] == in_shape[i] + padding[i].0 + padding[i].1", 0, 1},
                                   {">=1 entry", 0, 1},
                                   {"== product(input shape)", 0, 1},
                                   {"0=Constant, 1=Reflect (CU only)", 0, 1},
                                   {"in 0..rank; in {}; in {1 to 4}; in {1 or more}; in {1", 0, 5},
                                   {"divisible(k", 0, 1},
                                   {"same_as=x", 0, 1},
                                   {"== 1 (not closed", 0, 1},
                                   {"== 1 (never closed; a == 1", 1, 1},
                                   {"== (1, 1", 0, 1},
                                   {"== (1, 1) * 2", 0, 1},
                                   {"k even && k > 0 && ", 1, 2}});
}

TEST(FieldClauses, ProseIsKeptTrimmedAndInOrder) {
  const auto constraint = Constraint::parse(" one ; a == 1;two (a; b)  ;", Dialect::field, "a");
  EXPECT_THAT(constraint->prose(), ElementsAre("one", "two (a; b)"));
}

TEST(LayoutClauses, HaveNoProse) {
  expect_readings(Dialect::layout, {{"stride[-1] == 1; align % 16 == 0; offset >= 0", 3, 0},
                                    {"stride[1] == 1 && stride[3] == shape[1]; divisible(offset, 8)", 3, 0},
                                    {"stride[0] >= stride[1] >= groups * dim[0]", 1, 0}});
  const Broken rows[] = {
      {"rows are dense", 5, "expected a comparison, found `are`"},
      {"stride == 1", 7, "expected an axis after `stride`, as in `stride[-1]`, found `==`"},
      {"align % 16 == 0; shape > 1", 23, "expected an axis after `shape`, as in `shape[-1]`, found `>`"},
      {"stride[-1] == 1 (dense)", 16, "expected the end of the clause, found `(`"},
      {"align == 4 &&", 11, "expected the end of the clause, found `&&`"},
      {"same_as=x", 7, "expected a comparison, found `=`"},
  };
  for (const Broken& row : rows) {
    const auto constraint = Constraint::parse(row.text, Dialect::layout, "self");
    ASSERT_FALSE(constraint) << row.text;
    EXPECT_EQ(constraint.error().offset, row.offset) << row.text;
    EXPECT_EQ(constraint.error().message, row.message) << row.text;
  }
}

TEST(Predicates, Broken) {
  const Broken rows[] = {{"", 0, "expected a number, a name or `(`, found end of text"},
                         {"the rows are dense", 4, "expected `&&` or the end, found `rows`"},
                         {"groups", 6, ""},
                         {"groups == ", 10, "expected a number, a name or `(`, found end of text"},
                         {"groups == 1 &&", 14, "expected a number, a name or `(`, found end of text"},
                         {"groups + 1", 10, "expected a comparison, found end of text"},
                         {"None", 4, "expected a comparison, found end of text"},
                         {"true", 4, "expected a comparison, found end of text"},
                         {"groups == 1; depthwise", 11, "expected `&&` or the end, found `;`"},
                         {"groups == 1 (always)", 12, "expected `&&` or the end, found `(`"}};
  for (const Broken& row : rows) {
    const auto predicate = Predicate::parse(row.text);
    ASSERT_EQ(predicate.has_value(), row.message[0] == '\0') << row.text;
    if (predicate) continue;
    EXPECT_EQ(predicate.error().offset, row.offset) << row.text;
    EXPECT_EQ(predicate.error().message, row.message) << row.text;
  }
}

// ---- Judging -------------------------------------------------------------------------------------------------------

struct Ruling {
  const char* text;
  Verdict verdict;
  const char* found;
};

void expect_rulings(Dialect dialect, std::string_view subject, const Scope& scope, std::initializer_list<Ruling> rows) {
  for (const Ruling& row : rows) {
    const auto constraint = Constraint::parse(row.text, dialect, subject);
    ASSERT_TRUE(constraint) << row.text;
    ASSERT_EQ(constraint->size(), 1U) << row.text;
    const Judgement judgement = constraint->judge(scope);
    EXPECT_EQ(judgement.verdict, row.verdict) << row.text;
    EXPECT_EQ(judgement.found, row.found) << row.text;
    EXPECT_EQ(judgement.clause.empty(), row.verdict == Verdict::holds) << row.text;
  }
}

TEST(ShapeClauses, Meaning) {
  MapScope scope = convolution_scope();
  scope.shapes["y"] = {2, 64, 56, 56};
  scope.shapes["row"] = {56};
  scope.shapes["column"] = {56, 1};
  scope.shapes["scalar"] = {};
  scope.facts = {{"x dtype 0", 1}, {"y dtype 0", 1}, {"out dtype 0", 2}};
  expect_rulings(Dialect::shape, "x", scope,
                 {{"same_as=y", Verdict::holds, ""},
                  {"same_as=out", Verdict::fails, "x = (2, 64, 56, 56), out = (2, 32, 54, 54)"},
                  {"same_as=row", Verdict::fails, "x = (2, 64, 56, 56), row = (56)"},
                  {"same_as=absent", Verdict::unknown, "x = (2, 64, 56, 56), absent = unknown"},
                  {"same_rank=out", Verdict::holds, ""},
                  {"same_rank=scalar", Verdict::fails, "x = (2, 64, 56, 56), scalar = ()"},
                  {"broadcast_to=y", Verdict::holds, ""},
                  {"broadcast_to=row", Verdict::fails, "x = (2, 64, 56, 56), row = (56)"},
                  {"last_dim_eq=row", Verdict::holds, ""},
                  {"last_dim_eq=column", Verdict::fails, "x = (2, 64, 56, 56), column = (56, 1)"},
                  {"last_dim_eq=scalar", Verdict::fails, "x = (2, 64, 56, 56), scalar = ()"},
                  {"same_dtype=y", Verdict::holds, ""},
                  {"same_dtype=out", Verdict::fails, "x dtype = 1, out dtype = 2"},
                  {"same_dtype=row", Verdict::unknown, "x dtype = 1, row dtype = unknown"},
                  {"rank=4", Verdict::holds, ""},
                  {"rank=2..=3", Verdict::fails, "rank = 4"},
                  {"rank=3", Verdict::fails, "rank = 4"},
                  {"rank=5..", Verdict::fails, "rank = 4"},
                  {"rank=2..", Verdict::holds, ""},
                  {"dim[-1]=out.dim[-1] + 2", Verdict::holds, ""},
                  {"dim[1]=32", Verdict::fails, "dim[1] = 64"},
                  {"dim[4]=32", Verdict::unknown, "dim[4] = unknown"},
                  {"capacity_ge(dim[1], Cout)", Verdict::holds, ""},
                  {"capacity_ge(dim[0], Cout)", Verdict::fails, "dim[0] = 2, Cout = 32"},
                  {"divisible(dim[1], -8)", Verdict::holds, ""},
                  {"divisible(9, 6 - 4)", Verdict::fails, ""},
                  {"x.dim[1] == Cin == 64", Verdict::holds, ""},
                  {"x.dim[1] == Cin == Cout", Verdict::fails, "x.dim[1] = 64, Cin = 64, Cout = 32"},
                  {"2 < groups <= 4", Verdict::holds, ""},
                  {"x.rank == 4", Verdict::holds, ""}});
}

TEST(ShapeClauses, BroadcastPadsOnTheLeft) {
  MapScope scope = convolution_scope();
  scope.shapes["column"] = {56, 1};
  scope.shapes["long"] = {1, 1, 1, 1, 1};
  scope.shapes["scalar"] = {};
  expect_rulings(Dialect::shape, "column", scope, {{"broadcast_to=x", Verdict::holds, ""}});
  expect_rulings(Dialect::shape, "scalar", scope, {{"broadcast_to=x", Verdict::holds, ""}});
  expect_rulings(Dialect::shape, "long", scope,
                 {{"broadcast_to=x", Verdict::fails, "long = (1, 1, 1, 1, 1), x = (2, 64, 56, 56)"}});
}

TEST(ShapeClauses, WhatNobodyDefinedIsUnknown) {
  MapScope scope = convolution_scope();
  scope.scalars["n"] = 64;
  expect_rulings(Dialect::shape, "x", scope,
                 {{"same_as=x.dim[1]", Verdict::unknown, "no agreed meaning"},
                  {"same_as=x[..-1]", Verdict::unknown, "no agreed meaning"},
                  {"reduces_to=out", Verdict::unknown, "no agreed meaning"},
                  {"dim[0]=weight", Verdict::unknown, "dim[0] = 2, weight = unknown"},
                  {"dim[i] == 4", Verdict::unknown, "i = unknown"},
                  {"dim[0] == f(n)", Verdict::unknown, "dim[0] = 2, n = 64, f(n) = unknown"},
                  {"x_shape[0][0] == 2", Verdict::unknown, "x_shape[0] = 2, x_shape[0][0] = unknown"},
                  {"dim[0] / 1 == 0.5", Verdict::unknown, "dim[0] = 2"},
                  {"x_shape == 2", Verdict::unknown, "x_shape = (2, 64, 56, 56)"}});
  scope.scalars["i"] = 1;
  expect_rulings(Dialect::shape, "x", scope, {{"dim[i] == dim[i - 1 + 1] == n", Verdict::holds, ""}});
}

TEST(FieldClauses, Meaning) {
  MapScope scope = convolution_scope();
  scope.words["causal"] = true;
  scope.scalars["mode"] = 3;
  expect_rulings(Dialect::field, "groups", scope,
                 {{"== 4", Verdict::holds, ""},
                  {"== 1.0", Verdict::fails, "groups = 4"},
                  {"in {1, 2, 4 Four}", Verdict::holds, ""},
                  {"in {1, 2}", Verdict::fails, "groups = 4"},
                  {"in {1, surprise}", Verdict::unknown, "groups = 4, surprise = unknown"},
                  {"mode in {3 Mode, surprise}", Verdict::holds, ""},
                  {"stride in {(2, 2), (1, 1)}", Verdict::holds, ""},
                  {"== None", Verdict::unknown, "groups = 4"},
                  {"causal == true", Verdict::holds, ""},
                  {"causal == false", Verdict::fails, "causal = 1"},
                  {"stride == (1, 1)", Verdict::holds, ""},
                  {"stride == (1, 1, 1)", Verdict::fails, "stride = (1, 1)"},
                  {"stride != (1, 2)", Verdict::holds, ""},
                  {"stride != (1, 2 - 1)", Verdict::fails, "stride = (1, 1)"},
                  {"stride == padding", Verdict::fails, "stride = (1, 1), padding = (0, 0)"},
                  {"stride > padding", Verdict::unknown, "stride = (1, 1), padding = (0, 0)"},
                  {"stride == 1", Verdict::unknown, "stride = (1, 1)"},
                  {"op_params.groups == 4", Verdict::holds, ""},
                  {"op_params.stride[-1] == 1", Verdict::holds, ""},
                  {"out_shape.len() == x.rank == 4", Verdict::holds, ""},
                  {"< product(out_shape) * sum(stride)", Verdict::holds, ""},
                  {"product(out_shape) == 1", Verdict::fails, "product(out_shape) = 186624"},
                  {"product(absent) == 1", Verdict::unknown, "product(absent) = unknown"},
                  {"dim[0] == 4", Verdict::unknown, "dim[0] = unknown"}});
}

TEST(LayoutClauses, Meaning) {
  MapScope scope = convolution_scope();
  scope.facts = {{"x stride -1", 64}, {"x stride 1", 1}, {"x offset 0", 8}, {"x align 0", 32}};
  expect_rulings(Dialect::layout, "x", scope,
                 {{"stride[1] == 1", Verdict::holds, ""},
                  {"stride[-1] == shape[1]", Verdict::holds, ""},
                  {"stride[-1] == dim[1] * 2", Verdict::fails, "stride[-1] = 64, dim[1] = 64"},
                  {"align % 64 == 0", Verdict::fails, "align = 32"},
                  {"divisible(offset, 8)", Verdict::holds, ""},
                  {"stride[2] == 1", Verdict::unknown, "stride[2] = unknown"},
                  {"x.stride[1] == 1", Verdict::unknown, "x.stride[1] = unknown"}});
}

TEST(Predicates, Meaning) {
  MapScope scope = convolution_scope();
  scope.shapes[""] = {6, 5};
  scope.words = {{"depthwise", false}, {"all_inputs_contiguous", true}};
  const std::pair<const char*, Verdict> rows[] = {{"always", Verdict::holds},
                                                  {"all_inputs_contiguous", Verdict::holds},
                                                  {"depthwise", Verdict::fails},
                                                  {"any_input_reversed", Verdict::unknown},
                                                  {"groups == 4 && always", Verdict::holds},
                                                  {"unheard_of && depthwise", Verdict::fails},
                                                  {"unheard_of && always", Verdict::unknown},
                                                  {"fits(x) && ok", Verdict::unknown},
                                                  {"fits()", Verdict::unknown},
                                                  {"op_params.padding == (0, 0)", Verdict::holds},
                                                  {"depthwise == false", Verdict::holds},
                                                  {"softcap == None", Verdict::unknown},
                                                  {"dtype == U8", Verdict::unknown},
                                                  {"dim[0] % 2 == 0", Verdict::holds},
                                                  {"dim[-1] % 2 == 0", Verdict::fails},
                                                  {"dim[i] % 2 == 0", Verdict::unknown},
                                                  {"inner_div(x) % k == 0", Verdict::unknown},
                                                  {"divisible(Cin, groups)", Verdict::holds},
                                                  {"Cin % (groups - 4) == 0", Verdict::fails}};
  for (const auto& [text, verdict] : rows) {
    const auto predicate = Predicate::parse(text);
    ASSERT_TRUE(predicate) << text;
    EXPECT_EQ(predicate->judge(scope), verdict) << text;
    EXPECT_EQ(predicate->text(), text);
  }
}

}  // namespace
}  // namespace convoke::contract

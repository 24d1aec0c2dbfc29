// SPDX-License-Identifier: Apache-2.0 OR MIT
// Errors of the expression grammar with their places, and random trees: printed, parsed and evaluated both ways.
#include "contract/expression_parser.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "expression_scope.hpp"

namespace convoke::contract {
namespace {

using Dialect = Constraint::Dialect;

TEST(CostSyntax, ErrorsHaveTheirPlace) {
  struct Row {
    const char* text;
    std::size_t offset;
    const char* message;
  };
  const Row rows[] = {{"", 0, "expected a number, a name or `(`, found end of text"},
                      {"  ", 2, "expected a number, a name or `(`, found end of text"},
                      {"2 *", 3, "expected a number, a name or `(`, found end of text"},
                      {"2 * * n", 4, "expected a number, a name or `(`, found `*`"},
                      {"(n + 1", 6, "expected `)`, found end of text"},
                      {"x_shape[1", 9, "expected `]`, found end of text"},
                      {"n m", 2, "expected an operator or the end, found `m`"},
                      {"n == 1", 2, "expected an operator or the end, found `==`"},
                      {"1e9", 1, "expected an operator or the end, found `e9`"},
                      {"x.", 2, "expected a name right after `.`, found end of text"},
                      {"x.0", 2, "expected a name right after `.`, found `0`"},
                      {"f(1,)", 4, "expected a number, a name or `(`, found `)`"},
                      {"n × 2", 2, "expected an operator or the end, found `×`"},
                      {".5", 0, "expected a number, a name or `(`, found `.`"}};
  for (const Row& row : rows) {
    const auto cost = CostExpression::parse(row.text);
    ASSERT_FALSE(cost) << row.text;
    EXPECT_EQ(cost.error().offset, row.offset) << row.text;
    EXPECT_EQ(cost.error().message, row.message) << row.text;
  }
}

// ---- Random trees --------------------------------------------------------------------------------------------------

// A tree with a value of its own: operator and children, or a leaf.
struct Tree {
  char op = 'l';  // l: literal, v: name, e: element, n: negation, or + - * / %
  std::int64_t value = 0;
  std::vector<Tree> children;
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_()) % bound; }

  Tree tree(int depth) {
    if (depth == 0 || below(6) == 0) return leaf();
    if (below(8) == 0) return {'n', 0, {tree(depth - 1)}};
    Tree left = tree(depth - 1), right = tree(depth - 1);
    return {"+-*/%" [below(5)], 0, { std::move(left), std::move(right) }};
  }

  std::string blank() { return std::string(below(3), ' '); }

  // With the parentheses that precedence demands, and now and then some that it does not.
  std::string print(const Tree& tree, int outer = 0) {
    const int own = tree.op == '+' || tree.op == '-' ? 1 : tree.op == '*' || tree.op == '/' || tree.op == '%' ? 2 : 3;
    std::string text = blank();
    if (tree.op == 'l') text += fmt::format("{}", tree.value);
    if (tree.op == 'v') text += fmt::format("v{}", tree.value);
    if (tree.op == 'e') text += fmt::format("t[{}{}{}]", blank(), tree.value, blank());
    if (tree.op == 'n') text += fmt::format("-{}", print(tree.children[0], 3));
    if (own < 3) {
      text += print(tree.children[0], own);
      text += fmt::format("{}{}{}", blank(), tree.op, print(tree.children[1], own + 1));
    }
    return own < outer || below(10) == 0 ? fmt::format("{}({}{})", blank(), text, blank()) : text;
  }

 private:
  Tree leaf() {
    switch (below(4)) {
      case 0:
        return {'v', static_cast<std::int64_t>(below(4)), {}};
      case 1:
        return {'e', static_cast<std::int64_t>(below(4)), {}};
      case 2:
        return {'l', std::int64_t{1} << below(63), {}};
      default:
        return {'l', static_cast<std::int64_t>(below(12)), {}};
    }
  }

  std::mt19937 random_;
};

constexpr std::int64_t leaves[] = {-7, 0, 3, std::numeric_limits<std::int64_t>::min()};

__extension__ using Wide = __int128;

// nullopt: overflow of int64 or division by zero, at any node.
std::optional<std::int64_t> integer_value(const Tree& tree) {
  if (tree.op == 'l') return tree.value;
  if (tree.op == 'v' || tree.op == 'e') return leaves[tree.value];
  std::vector<Wide> sides;
  for (const Tree& child : tree.children) {
    const auto value = integer_value(child);
    if (!value) return std::nullopt;
    sides.push_back(*value);
  }
  if (tree.op == 'n') sides.insert(sides.begin(), 0);
  if ((tree.op == '/' || tree.op == '%') && sides[1] == 0) return std::nullopt;
  const Wide result = tree.op == '+'   ? sides[0] + sides[1]
                      : tree.op == '*' ? sides[0] * sides[1]
                      : tree.op == '/' ? sides[0] / sides[1]
                      : tree.op == '%' ? sides[0] % sides[1]
                                       : sides[0] - sides[1];
  const bool fits =
      result >= std::numeric_limits<std::int64_t>::min() && result <= std::numeric_limits<std::int64_t>::max();
  return fits ? std::optional(static_cast<std::int64_t>(result)) : std::nullopt;
}

std::optional<double> real_value(const Tree& tree) {
  if (tree.op == 'l') return static_cast<double>(tree.value);
  if (tree.op == 'v' || tree.op == 'e') return static_cast<double>(leaves[tree.value]);
  const auto left = real_value(tree.children[0]);
  const auto right = tree.op == 'n' ? left : real_value(tree.children[1]);
  if (!left || !right) return std::nullopt;
  if (tree.op == 'n') return 0.0 - *left;
  if ((tree.op == '/' || tree.op == '%') && *right == 0) return std::nullopt;
  return tree.op == '+'   ? *left + *right
         : tree.op == '-' ? *left - *right
         : tree.op == '*' ? *left * *right
         : tree.op == '/' ? *left / *right
                          : std::fmod(*left, *right);
}

MapScope leaf_scope() {
  MapScope scope;
  for (std::size_t i = 0; i < 4; ++i) scope.scalars[fmt::format("v{}", i)] = leaves[i];
  scope.tuples["t"] = {leaves, leaves + 4};
  return scope;
}

TEST(RandomTrees, EvaluateToTheSameInteger) {
  Generator generator(1);
  MapScope scope = leaf_scope();
  int with_value = 0;
  for (int i = 0; i < 4000; ++i) {
    const Tree tree = generator.tree(1 + i % 6);
    const std::string text = generator.print(tree);
    const auto constraint = Constraint::parse(text + " == expected", Dialect::shape, "x");
    ASSERT_TRUE(constraint) << text << ": " << constraint.error().message;
    ASSERT_EQ(constraint->size(), 1U) << text;
    const auto value = integer_value(tree);
    with_value += value ? 1 : 0;
    scope.scalars["expected"] = value.value_or(0);
    EXPECT_EQ(constraint->judge(scope).verdict, value ? Verdict::holds : Verdict::fails) << text;
    if (!value) {
      const std::string found = constraint->judge(scope).found;
      EXPECT_TRUE(found.ends_with("division by zero") || found.ends_with("int64 overflow")) << text << ": " << found;
      continue;
    }
    scope.scalars["expected"] = *value ^ 1;
    EXPECT_EQ(constraint->judge(scope).verdict, Verdict::fails) << text;
  }
  EXPECT_GT(with_value, 1000);
  EXPECT_LT(with_value, 3800);
}

TEST(RandomTrees, EvaluateToTheSameDouble) {
  Generator generator(2);
  const MapScope scope = leaf_scope();
  int positive = 0;
  for (int i = 0; i < 4000; ++i) {
    const Tree tree = generator.tree(1 + i % 6);
    const std::string text = generator.print(tree);
    const auto cost = CostExpression::parse(text);
    ASSERT_TRUE(cost) << text << ": " << cost.error().message;
    auto value = real_value(tree);
    if (value) value = std::isfinite(*value) ? std::optional(std::max(*value, 0.0)) : std::nullopt;
    positive += value && *value > 0 ? 1 : 0;
    EXPECT_EQ(cost->evaluate(scope), value) << text;
  }
  EXPECT_GT(positive, 1000);
}

// ---- Mutated texts -------------------------------------------------------------------------------------------------

constexpr const char* samples[] = {"divisible(x.dim[1], weight.dim[1]); weight.dim[1] == x.dim[1] / groups",
                                   "groups != 0; Cin % groups == 0 && Cout % groups == 0",
                                   "== (1, 1) (wrapper bails otherwise → CPU/CUDA fallback)",
                                   "in {0 Constant, 1 (Reflect), 2} — selects",
                                   "same_as=logits[..-1]; rank=2..=4; dim[-1] = k; capacity_ge(dim[0], k)",
                                   "stride[-1] == 1 && align % 16 == 0; offset >= shape[0]",
                                   "2 * out_shape[0] * (x_shape[1] / groups) * prod(w_shape) - -x_shape.len()",
                                   "fits(x) && ok && dim[i] % 2 == 0 && op_params.padding == (0, 0)"};

std::string mutated(Generator& generator, std::string text) {
  constexpr std::string_view bytes = "()[]{}<>=!&;,.+-*/% 019axn_\xE2\x80\x94\xFF\t";
  for (std::uint32_t edits = 1 + generator.below(6); edits > 0; --edits) {
    const std::size_t at = generator.below(static_cast<std::uint32_t>(text.size() + 1));
    const std::string_view other = samples[generator.below(std::size(samples))];
    switch (generator.below(4)) {
      case 0:
        text.insert(at, 1, bytes[generator.below(bytes.size())]);
        break;
      case 1:
        text.erase(at, 1 + generator.below(8));
        break;
      case 2:
        text.insert(at, other.substr(generator.below(30), generator.below(20)));
        break;
      default:
        text.insert(at, text.substr(at / 2, generator.below(40)));
    }
  }
  return text;
}

TEST(MutatedTexts, ParseOrFailInsideTheText) {
  Generator generator(3);
  MapScope scope = convolution_scope();
  scope.facts = {{"x stride -1", 1}, {"x offset 0", 0}, {"x align 0", 64}};
  int parsed = 0, refused = 0;
  for (int i = 0; i < 12000; ++i) {
    const std::string text = mutated(generator, samples[generator.below(std::size(samples))]);
    for (const Dialect dialect : {Dialect::shape, Dialect::field, Dialect::layout}) {
      const auto constraint = Constraint::parse(text, dialect, "x");
      if (!constraint) {
        ASSERT_LE(constraint.error().offset, text.size()) << text;
        ASSERT_FALSE(constraint.error().message.empty()) << text;
        ++refused;
        continue;
      }
      ++parsed;
      const Judgement judgement = constraint->judge(scope);
      ASSERT_NE(text.find(judgement.clause), std::string::npos) << text;
      for (const std::string& prose : constraint->prose()) ASSERT_NE(text.find(prose), std::string::npos) << text;
      for (const Name& name : constraint->names()) ASSERT_EQ(text.substr(name.offset, name.text.size()), name.text);
    }
    if (const auto predicate = Predicate::parse(text)) predicate->judge(scope);
    if (const auto cost = CostExpression::parse(text)) {
      ASSERT_GE(cost->evaluate(scope).value_or(0), 0.0) << text;
    }
  }
  EXPECT_GT(parsed, 3000);
  EXPECT_GT(refused, 3000);
}

}  // namespace
}  // namespace convoke::contract

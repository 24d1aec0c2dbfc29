// SPDX-License-Identifier: Apache-2.0 OR MIT
// What an expression compiles to: postfix code for a small stack machine, in one flat vector, and the clauses that use
// it. Flat, because evaluation then neither recurses nor chases pointers, whatever the text looked like.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "contract/expression.hpp"

namespace convoke::contract {

/// Values the stack machine can hold; the parser refuses code that would need more.
constexpr std::size_t stack_limit = 64;

enum class Op : std::uint8_t {
  literal,
  scalar,   ///< Scope::scalar(name)
  element,  ///< Scope::element(name, axis)
  dim,      ///< Scope::dim(name, axis)
  rank,     ///< Scope::rank(name)
  layout,   ///< Scope::layout(subject, name, axis)
  product,  ///< of Scope::tuple(name)
  sum,      ///< of Scope::tuple(name)
  length,   ///< of Scope::tuple(name)
  opaque,   ///< well-formed without a meaning of its own (an unknown call, a chained index): always unknown
  negate,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  minimum,
  maximum,
  ceil_divide,  ///< of whole numbers that are not negative
};

/// One step. Views point into Program::text or Program::subject.
struct Instruction {
  Op op = Op::literal;
  bool indexed = false;       ///< the axis is on top of the stack, not in `integer`
  bool integral = true;       ///< literal: `integer` is its value too
  std::string_view source{};  ///< as written, for messages
  std::string_view name{};    ///< what the scope is asked for
  std::int64_t integer = 0;   ///< literal, or a constant axis
  double real = 0;            ///< literal of a cost
};

enum class Relop : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// A side of a comparison or a member of a set: code that leaves one value, or as many as the tuple has.
struct RelationSide {
  enum class Kind : std::uint8_t {
    expression,
    name,   ///< one bare name: a scalar, else a tuple, else a word as 0 or 1
    tuple,  ///< written out
    none,   ///< `None`
  };
  Kind kind = Kind::expression;
  Relop relop = Relop::equal;          ///< how it compares with its left neighbour
  std::uint32_t first = 0, count = 0;  ///< code
};

enum class ClauseKind : std::uint8_t {
  relation,    ///< a chain of operands
  membership,  ///< the first operand is one of the others
  divisible,   ///< the second operand divides the first
  same_as,
  same_rank,
  broadcast_to,
  last_dim_eq,
  same_dtype,
  rank,    ///< low <= rank <= high
  word,    ///< Scope::word(name)
  always,  ///< holds
  opaque,  ///< well-formed, of no agreed meaning: unknown
};

struct Clause {
  ClauseKind kind = ClauseKind::relation;
  std::string_view text{};             ///< trimmed, without a remark
  std::string_view name{};             ///< role or word
  std::uint32_t first = 0, count = 0;  ///< operands
  std::int64_t low = 0, high = std::numeric_limits<std::int64_t>::max();
};

/// One parsed text. Immutable once parsed, and never moved: the views inside point at its own strings.
struct Program {
  Program(std::string_view source, std::string_view owner) : text(source), subject(owner) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::string text;
  const std::string subject;  ///< role or field the text belongs to; may be empty
  std::vector<Instruction> code;
  std::vector<RelationSide> operands;
  std::vector<Clause> clauses;  ///< none in a cost, which is its whole code
  std::vector<std::string> prose;
};

/// Judges one clause. `found`, where given, receives the names and values looked at (this allocates).
Verdict judge(const Program& program, const Clause& clause, const Scope& scope, std::string* found);

/// Value of a cost program, before clamping; nullopt as CostExpression::evaluate.
std::optional<double> evaluate(const Program& program, const Scope& scope);

}  // namespace convoke::contract

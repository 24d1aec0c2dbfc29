// SPDX-License-Identifier: Apache-2.0 OR MIT
// Clauses: what stands between two `;` of a constraint, or between two `&&` of a predicate.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "contract/expression_parser.hpp"

namespace convoke::contract {

class ClauseParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  /// Reads bytes [begin, end) as one clause of a constraint and appends it; false: nothing was appended, see error().
  bool clause(std::size_t begin, std::size_t end);
  /// Whether bytes [begin, end) start as a clause with a keyword does, so that a mismatch is an error and not prose.
  bool starts_with_keyword(std::size_t begin, std::size_t end);
  /// Reads the whole text as a predicate.
  bool predicate();

 private:
  bool clause_body(Clause& clause);
  bool shape_clause(Clause& clause);
  bool field_clause(Clause& clause);
  bool layout_clause(Clause& clause);
  bool predicate_term(Clause& clause);
  bool directive(Clause& clause, ClauseKind kind);
  bool role_axis();
  bool rank_range(Clause& clause);
  bool count(std::int64_t& value);
  bool dim_equals(Clause& clause);
  bool divisible(Clause& clause);
  bool capacity(Clause& clause);
  bool relation(Clause& clause);
  bool comparisons(Clause& clause);
  bool members(Clause& clause);
  bool member_words();
  bool implied_subject(Clause& clause);
  bool operand(Clause& clause, Relop relop);
  bool tuple(Clause& clause, Relop relop);
  bool constant(Clause& clause, Relop relop);
  bool expression_operand(Clause& clause, Relop relop);
  bool remark();
  bool starts_dim() const;
  void add(Clause& clause, RelationSide::Kind kind, Relop relop, std::size_t code);
};

}  // namespace convoke::contract

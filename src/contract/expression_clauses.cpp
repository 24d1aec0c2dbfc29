// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/expression_clauses.hpp"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <utility>

namespace convoke::contract {
namespace {

struct Directive {
  std::string_view word;
  ClauseKind kind;
};

// `reduces_to` is opaque: whether the reduced axes stay as ones is written nowhere.
constexpr std::array<Directive, 6> directives = {{{"same_as", ClauseKind::same_as},
                                                  {"same_rank", ClauseKind::same_rank},
                                                  {"broadcast_to", ClauseKind::broadcast_to},
                                                  {"last_dim_eq", ClauseKind::last_dim_eq},
                                                  {"same_dtype", ClauseKind::same_dtype},
                                                  {"reduces_to", ClauseKind::opaque}}};

const Directive* directive_of(const Token& token) {
  for (const Directive& directive : directives)
    if (token.is_name(directive.word)) return &directive;
  return nullptr;
}

std::optional<Relop> relop_of(const Token& token) {
  if (token.is("==")) return Relop::equal;
  if (token.is("!=")) return Relop::not_equal;
  if (token.is("<=")) return Relop::less_equal;
  if (token.is(">=")) return Relop::greater_equal;
  if (token.is("<")) return Relop::less;
  if (token.is(">")) return Relop::greater;
  return std::nullopt;
}

bool is_dash(const Token& token) { return token.kind == TokenKind::other && (token.text == "—" || token.text == "–"); }

}  // namespace

bool ClauseParser::clause(std::size_t begin, std::size_t end) {
  enter(begin, end);
  const Mark start = mark();
  Clause clause;
  clause.first = static_cast<std::uint32_t>(program_.operands.size());
  const std::size_t first_byte = peek().offset;
  if (!clause_body(clause)) {
    const auto kept = error();
    restore(start);
    if (!fatal() && kept) fail({.offset = kept->offset}, kept->message);
    return false;
  }
  // A remark is about the clause, not of it.
  if (clause.text.empty()) clause.text = since(first_byte);
  program_.clauses.push_back(clause);
  return true;
}

bool ClauseParser::clause_body(Clause& clause) {
  const bool matched = language_ == Language::shape   ? shape_clause(clause)
                       : language_ == Language::field ? field_clause(clause)
                                                      : layout_clause(clause);
  return matched &&
         (at_end() || fail(peek(), fmt::format("expected the end of the clause, found {}", describe(peek()))));
}

bool ClauseParser::starts_with_keyword(std::size_t begin, std::size_t end) {
  enter(begin, end);
  const Token& first = peek();
  return directive_of(first) != nullptr || first.is_name("rank") || first.is_name("divisible") ||
         first.is_name("capacity_ge") || starts_dim();
}

// `dim[0]`, `dim[-1]`: the keyword form. `dim[i]` occurs in the middle of sentences.
bool ClauseParser::starts_dim() const {
  if (!peek().is_name("dim")) return false;
  Lexer ahead(program_.text, peek().offset, program_.text.size());
  ahead.take();
  if (!ahead.take().is("[")) return false;
  if (ahead.peek().is("-")) ahead.take();
  return ahead.take().kind == TokenKind::number && ahead.peek().is("]");
}

bool ClauseParser::shape_clause(Clause& clause) {
  const Token next = second();
  if (const Directive* found = directive_of(peek()); found && !relop_of(next)) return directive(clause, found->kind);
  if (peek().is_name("rank") && next.is("=")) return rank_range(clause);
  if (peek().is_name("divisible") && next.is("(")) return divisible(clause);
  if (peek().is_name("capacity_ge") && next.is("(")) return capacity(clause);
  if (starts_dim()) return dim_equals(clause);
  return relation(clause);
}

bool ClauseParser::layout_clause(Clause& clause) {
  return peek().is_name("divisible") && second().is("(") ? divisible(clause) : relation(clause);
}

bool ClauseParser::field_clause(Clause& clause) {
  const std::size_t begin = peek().offset;
  if (peek().is_name("divisible") && second().is("(")) {
    if (!divisible(clause)) return false;
  } else {
    if (relop_of(peek()) || (peek().is_name("in") && second().is("{"))) {
      if (!implied_subject(clause)) return false;
    } else if (!operand(clause, Relop::equal)) {
      return false;
    }
    if (peek().is_name("in") ? !members(clause) : !comparisons(clause)) return false;
  }
  clause.text = since(begin);
  return remark();
}

bool ClauseParser::directive(Clause& clause, ClauseKind kind) {
  const Token word = take();
  if (!peek().is("=") || second().kind != TokenKind::name) {
    const Token at = peek().is("=") ? second() : peek();
    return fail(at, fmt::format("`{0}` needs an operand, as in `{0}=x`, found {1}", word.text, describe(at)));
  }
  take();
  clause.kind = kind;
  clause.name = take().text;
  // `same_as=x.dim[1]`, `same_as=logits[..-1]`: the grammar has them, their meaning is anyone's guess.
  if (peek().is(".") || peek().is("[")) {
    clause.kind = ClauseKind::opaque;
    return role_axis();
  }
  return true;
}

bool ClauseParser::role_axis() {
  if (peek().is(".")) {
    take();
    if (!peek().is_name("dim")) return fail(peek(), fmt::format("expected `dim`, found {}", describe(peek())));
    take();
    if (!expect("[")) return false;
  } else {
    take();
    if (!expect("..")) return false;
  }
  if (peek().is("-")) take();
  std::int64_t axis = 0;
  return count(axis) && expect("]");
}

bool ClauseParser::count(std::int64_t& value) {
  const Token token = peek();
  if (token.kind != TokenKind::number || token.text.find('.') != std::string_view::npos)
    return fail(token, fmt::format("expected a whole number, found {}", describe(token)));
  const char* end = token.text.data() + token.text.size();
  if (std::from_chars(token.text.data(), end, value).ec != std::errc())
    return refuse(token.offset, "number beyond 9223372036854775807");
  take();
  return true;
}

bool ClauseParser::rank_range(Clause& clause) {
  take();
  take();
  clause.kind = ClauseKind::rank;
  if (peek().is_name("any")) {
    take();
    return true;
  }
  const std::size_t begin = peek().offset;
  if (!count(clause.low)) return false;
  if (peek().is("..=")) {
    take();
    if (!count(clause.high)) return false;
    return clause.low <= clause.high || refuse(begin, fmt::format("no rank lies in `{}`", since(begin)));
  }
  if (peek().is(".."))
    take();
  else
    clause.high = clause.low;
  return true;
}

// `dim[i] = expr`; with another operator after the index it is a relation like any other.
bool ClauseParser::dim_equals(Clause& clause) {
  if (!operand(clause, Relop::equal)) return false;
  const bool bare = program_.operands.back().count == 1;
  if (!bare || !peek().is("=")) return comparisons(clause);
  take();
  return operand(clause, Relop::equal);
}

bool ClauseParser::divisible(Clause& clause) {
  take();
  clause.kind = ClauseKind::divisible;
  return expect("(") && expression_operand(clause, Relop::equal) && expect(",") &&
         expression_operand(clause, Relop::equal) && expect(")");
}

bool ClauseParser::capacity(Clause& clause) {
  take();
  if (!expect("(")) return false;
  if (!starts_dim()) return fail(peek(), fmt::format("expected `dim[0]` or another axis, found {}", describe(peek())));
  if (!expression_operand(clause, Relop::equal) || !expect(",")) return false;
  if (peek().kind != TokenKind::name || !second().is(")"))
    return fail(peek(), fmt::format("expected a name and `)`, found {}", describe(peek())));
  return expression_operand(clause, Relop::greater_equal) && expect(")");
}

bool ClauseParser::relation(Clause& clause) { return operand(clause, Relop::equal) && comparisons(clause); }

bool ClauseParser::comparisons(Clause& clause) {
  if (!relop_of(peek())) return fail(peek(), fmt::format("expected a comparison, found {}", describe(peek())));
  while (const auto relop = relop_of(peek())) {
    take();
    if (!operand(clause, *relop)) return false;
  }
  return true;
}

bool ClauseParser::members(Clause& clause) {
  take();
  clause.kind = ClauseKind::membership;
  if (!expect("{")) return false;
  for (;;) {
    if (!operand(clause, Relop::equal) || !member_words()) return false;
    if (!peek().is(",")) return expect("}");
    take();
  }
}

// `{0 Constant, 1 (Reflect)}`: one word or one remark names a member. More (`{1 or more}`) would be a sentence.
bool ClauseParser::member_words() {
  if (peek().kind == TokenKind::name) take();
  if (!peek().is("(")) return true;
  while (!at_end() && !peek().is(")")) take();
  return expect(")");
}

bool ClauseParser::implied_subject(Clause& clause) {
  const std::size_t code = program_.code.size();
  const std::string_view field = program_.subject;
  if (!emit({.op = Op::scalar, .source = field, .name = field}, 0, 1)) return false;
  add(clause, RelationSide::Kind::name, Relop::equal, code);
  return true;
}

void ClauseParser::add(Clause& clause, RelationSide::Kind kind, Relop relop, std::size_t code) {
  const auto count = static_cast<std::uint32_t>(program_.code.size() - code);
  program_.operands.push_back({kind, relop, static_cast<std::uint32_t>(code), count});
  ++clause.count;
  settle();
}

bool ClauseParser::operand(Clause& clause, Relop relop) {
  const bool has_values = language_ == Language::field || language_ == Language::predicate;
  if (has_values && peek().kind == TokenKind::name && constant(clause, relop)) return true;
  if (has_values && peek().is("(")) {
    // `(` opens a tuple or a sum; a comma tells, and may be far off.
    const Mark start = mark();
    const Clause before = clause;
    if (tuple(clause, relop)) return true;
    if (fatal()) return false;
    restore(start);
    clause = before;
  }
  return expression_operand(clause, relop);
}

bool ClauseParser::constant(Clause& clause, Relop relop) {
  const std::size_t code = program_.code.size();
  const Token word = peek();
  const bool truth = word.is_name("true");
  if (!truth && !word.is_name("false") && !word.is_name("None")) return false;
  take();
  if (word.is_name("None")) {
    add(clause, RelationSide::Kind::none, relop, code);
    return true;
  }
  const Instruction literal{.op = Op::literal, .source = word.text, .integer = truth ? 1 : 0};
  if (!emit(literal, 0, 1)) return false;
  add(clause, RelationSide::Kind::expression, relop, code);
  return true;
}

bool ClauseParser::tuple(Clause& clause, Relop relop) {
  const std::size_t code = program_.code.size();
  take();
  if (!expression() || !expect(",") || !expression()) return false;
  while (peek().is(",")) {
    take();
    if (!expression()) return false;
  }
  if (!expect(")")) return false;
  add(clause, RelationSide::Kind::tuple, relop, code);
  return true;
}

bool ClauseParser::expression_operand(Clause& clause, Relop relop) {
  const std::size_t code = program_.code.size();
  if (!expression()) return false;
  const bool name = program_.code.size() == code + 1 && program_.code.back().op == Op::scalar;
  add(clause, name ? RelationSide::Kind::name : RelationSide::Kind::expression, relop, code);
  return true;
}

// What may follow a field's clause: text in parentheses, any number of times, and text after a dash.
bool ClauseParser::remark() {
  while (peek().is("(")) {
    std::size_t depth = 0;
    do {
      if (at_end()) return expect(")");
      const Token token = take();
      if (token.is("(")) ++depth;
      if (token.is(")")) --depth;
    } while (depth > 0);
  }
  if (is_dash(peek()))
    while (!at_end()) take();
  return true;
}

bool ClauseParser::predicate() {
  enter(0, program_.text.size());
  for (;;) {
    Clause clause;
    clause.first = static_cast<std::uint32_t>(program_.operands.size());
    const std::size_t begin = peek().offset;
    if (!predicate_term(clause)) return false;
    clause.text = since(begin);
    program_.clauses.push_back(clause);
    if (at_end()) return true;
    if (!peek().is("&&")) return fail(peek(), fmt::format("expected `&&` or the end, found {}", describe(peek())));
    take();
  }
}

bool ClauseParser::predicate_term(Clause& clause) {
  if (peek().is_name("divisible") && second().is("(")) return divisible(clause);
  if (!operand(clause, Relop::equal)) return false;
  if (relop_of(peek())) return comparisons(clause);
  const RelationSide& only = program_.operands.back();
  if (only.kind == RelationSide::Kind::name) {
    clause.name = program_.code.back().name;
    clause.kind = clause.name == "always" ? ClauseKind::always : ClauseKind::word;
    // A word is asked for as such; the load that was compiled for it is nobody's.
    program_.code.pop_back();
    program_.operands.pop_back();
    clause.count = 0;
    return true;
  }
  clause.kind = ClauseKind::opaque;
  const bool call = only.count > 0 && program_.code.back().op == Op::opaque;
  return call || fail(peek(), fmt::format("expected a comparison, found {}", describe(peek())));
}

}  // namespace convoke::contract

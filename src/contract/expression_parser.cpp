// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/expression_parser.hpp"

#include <fmt/core.h>

#include <charconv>
#include <utility>

namespace convoke::contract {
namespace {

constexpr std::size_t max_arguments = 16;

// `op_params.groups` and `groups` are one name: parameters have no namespace of their own in a scope.
std::string_view without_namespace(std::string_view name) {
  constexpr std::string_view prefix = "op_params.";
  return name.substr(0, prefix.size()) == prefix ? name.substr(prefix.size()) : name;
}

std::optional<Op> additive(const Token& token) {
  if (token.is("+")) return Op::add;
  if (token.is("-")) return Op::subtract;
  return std::nullopt;
}

std::optional<Op> multiplicative(const Token& token) {
  if (token.is("*")) return Op::multiply;
  if (token.is("/")) return Op::divide;
  if (token.is("%")) return Op::modulo;
  return std::nullopt;
}

// A function of two numbers.
std::optional<Op> binary_function(std::string_view name) {
  if (name == "min") return Op::minimum;
  if (name == "max") return Op::maximum;
  if (name == "ceil_div") return Op::ceil_divide;
  return std::nullopt;
}

// The integer that a decimal literal is, where it is one: `2` and `2.0` are, `0.5` is not. `fits` is false where the
// whole part is beyond int64.
std::optional<std::int64_t> integer_value(std::string_view digits, bool& fits) {
  const std::size_t point = digits.find('.');
  const std::string_view whole = digits.substr(0, point);
  std::int64_t value = 0;
  fits = std::from_chars(whole.data(), whole.data() + whole.size(), value).ec == std::errc();
  const bool fraction = point != std::string_view::npos && digits.find_first_not_of('0', point + 1) != digits.npos;
  return fits && !fraction ? std::optional(value) : std::nullopt;
}

}  // namespace

ExpressionParser::ExpressionParser(Program& program, Language language) noexcept
    : program_(program), language_(language), lexer_(program.text, 0, program.text.size()) {}

void ExpressionParser::enter(std::size_t begin, std::size_t end) {
  lexer_ = Lexer(program_.text, begin, end);
  consumed_ = begin;
  pending_ = depth_ = 0;
  error_.reset();
}

ExpressionParser::Mark ExpressionParser::mark() const {
  return {lexer_, consumed_, program_.code.size(), program_.operands.size(), program_.clauses.size(), pending_};
}

void ExpressionParser::restore(const Mark& mark) {
  lexer_ = mark.lexer;
  consumed_ = mark.consumed;
  program_.code.resize(mark.code);
  program_.operands.resize(mark.operands);
  program_.clauses.resize(mark.clauses);
  pending_ = mark.pending;
  depth_ = 0;
  if (!fatal_) error_.reset();
}

Token ExpressionParser::take() noexcept {
  const Token token = lexer_.take();
  consumed_ = token.offset + token.text.size();
  return token;
}

Token ExpressionParser::second() const noexcept {
  Lexer ahead = lexer_;
  ahead.take();
  return ahead.peek();
}

bool ExpressionParser::expect(std::string_view symbol) {
  if (!peek().is(symbol)) return fail(peek(), fmt::format("expected `{}`, found {}", symbol, describe(peek())));
  take();
  return true;
}

bool ExpressionParser::fail(const Token& at, std::string message) {
  if (!error_) error_ = SyntaxError{at.offset, std::move(message)};
  return false;
}

bool ExpressionParser::refuse(std::size_t offset, std::string message) {
  if (!fatal_) error_ = SyntaxError{offset, std::move(message)};
  fatal_ = true;
  return false;
}

std::string_view ExpressionParser::since(std::size_t begin) const noexcept {
  return std::string_view(program_.text).substr(begin, consumed_ - begin);
}

bool ExpressionParser::emit(const Instruction& instruction, std::size_t pops, std::size_t pushes) {
  if (program_.code.size() >= max_expression_nodes)
    return refuse(consumed_, fmt::format("more than {} numbers, names and operators", max_expression_nodes));
  pending_ = pending_ - pops + pushes;
  if (pending_ > stack_limit)
    return refuse(consumed_, fmt::format("more than {} values wait for their operator", stack_limit));
  program_.code.push_back(instruction);
  return true;
}

bool ExpressionParser::nest(const Token& opener) {
  if (++depth_ > max_expression_depth)
    return refuse(opener.offset, fmt::format("nested more than {} deep", max_expression_depth));
  return true;
}

bool ExpressionParser::expression() {
  if (!term()) return false;
  while (const auto op = additive(peek())) {
    take();
    if (!term() || !emit({.op = *op}, 2, 1)) return false;
  }
  return true;
}

bool ExpressionParser::term() {
  if (!factor()) return false;
  while (const auto op = multiplicative(peek())) {
    take();
    if (!factor() || !emit({.op = *op}, 2, 1)) return false;
  }
  return true;
}

bool ExpressionParser::factor() {
  // Counted, not recursed into: a text may consist of minus signs.
  std::size_t signs = 0;
  for (; peek().is("-"); take()) ++signs;
  const std::size_t begin = peek().offset;
  if (!primary()) return false;
  while (peek().is("["))
    if (!chained(begin)) return false;
  for (; signs > 0; --signs)
    if (!emit({.op = Op::negate}, 1, 1)) return false;
  return true;
}

bool ExpressionParser::primary() {
  if (peek().kind == TokenKind::number) return literal();
  if (peek().kind == TokenKind::name) return path();
  if (peek().is("(")) return parentheses();
  return fail(peek(), fmt::format("expected a number, a name or `(`, found {}", describe(peek())));
}

bool ExpressionParser::literal() {
  const Token token = take();
  bool fits = false;
  const auto integer = integer_value(token.text, fits);
  Instruction instruction{.op = Op::literal, .integral = integer.has_value(), .source = token.text};
  instruction.integer = integer.value_or(0);
  if (language_ == Language::cost) {
    const char* end = token.text.data() + token.text.size();
    if (std::from_chars(token.text.data(), end, instruction.real, std::chars_format::fixed).ec != std::errc())
      return refuse(token.offset, "number outside the range of a double");
  } else if (!fits) {
    return refuse(token.offset, "number beyond 9223372036854775807");
  }
  return emit(instruction, 0, 1);
}

bool ExpressionParser::parentheses() {
  if (!nest(take()) || !expression() || !expect(")")) return false;
  --depth_;
  return true;
}

bool ExpressionParser::path() {
  Path path;
  if (!dotted(path)) return false;
  // In a field's constraint `rank (a remark)` is a name and a remark, `rank(x)` a call: only the blank tells.
  const bool remark = language_ == Language::field && peek().after_blank;
  if (peek().is("(") && !remark) return call(path);
  return peek().is("[") ? subscript(path) : bare(path);
}

bool ExpressionParser::dotted(Path& path) {
  path.begin = peek().offset;
  path.last = take().text;
  while (peek().is(".")) {
    path.prefix = since(path.begin);
    const Token point = take();
    if (peek().kind != TokenKind::name || point.after_blank || peek().after_blank)
      return fail(peek(), fmt::format("expected a name right after `.`, found {}", describe(peek())));
    path.last = take().text;
  }
  path.full = since(path.begin);
  return true;
}

bool ExpressionParser::call(const Path& path) {
  const std::size_t code = program_.code.size();
  std::size_t count = 0;
  if (!nest(take()) || !arguments(count) || !expect(")")) return false;
  --depth_;
  if (path.last == "len" && !path.prefix.empty() && count == 0)
    return emit({.op = Op::length, .source = since(path.begin), .name = without_namespace(path.prefix)}, 0, 1);
  const bool product = path.full == "product" || path.full == "prod";
  const bool one_name = count == 1 && program_.code.size() == code + 1 && program_.code.back().op == Op::scalar;
  if (one_name && (product || path.full == "sum")) {
    program_.code.back().op = product ? Op::product : Op::sum;
    program_.code.back().source = since(path.begin);
    return true;
  }
  const auto function = count == 2 ? binary_function(path.full) : std::nullopt;
  return emit({.op = function.value_or(Op::opaque), .source = since(path.begin), .name = path.full}, count, 1);
}

bool ExpressionParser::arguments(std::size_t& count) {
  if (peek().is(")")) return true;
  for (;;) {
    if (++count > max_arguments) return refuse(consumed_, fmt::format("more than {} arguments", max_arguments));
    if (!expression()) return false;
    if (!peek().is(",")) return true;
    take();
  }
}

bool ExpressionParser::bare(const Path& path) {
  Instruction load{.op = Op::scalar, .source = path.full, .name = without_namespace(path.full)};
  if (path.last == "rank" && !path.prefix.empty()) {
    load.op = Op::rank;
    load.name = path.prefix;
  } else if (language_ == Language::layout && (path.full == "offset" || path.full == "align")) {
    load.op = Op::layout;
  } else if (language_ == Language::layout && (path.full == "stride" || path.full == "shape")) {
    // Elsewhere `stride` is the parameter; here it could only be mistaken for it.
    return fail(peek(),
                fmt::format("expected an axis after `{0}`, as in `{0}[-1]`, found {1}", path.full, describe(peek())));
  }
  return emit(load, 0, 1);
}

bool ExpressionParser::subscript(const Path& path) {
  Instruction load{.op = Op::element, .name = without_namespace(path.full)};
  const bool own = path.prefix.empty() &&
                   (language_ == Language::shape || language_ == Language::layout || language_ == Language::predicate);
  if (path.last == "dim" && (own || !path.prefix.empty())) {
    load.op = Op::dim;
    load.name = own ? std::string_view(program_.subject) : path.prefix;
  } else if (language_ == Language::layout && path.full == "shape") {
    load.op = Op::dim;
    load.name = program_.subject;
  } else if (language_ == Language::layout && path.full == "stride") {
    load.op = Op::layout;
  }
  if (!index(load)) return false;
  load.source = since(path.begin);
  return emit(load, load.indexed ? 1 : 0, 1);
}

// Reads `[expr]`; a constant goes into the instruction, anything else stays on the stack for it.
bool ExpressionParser::index(Instruction& target) {
  const std::size_t code = program_.code.size();
  if (!nest(take()) || !expression() || !expect("]")) return false;
  --depth_;
  const Instruction& first = program_.code[code];
  const std::size_t count = program_.code.size() - code;
  const bool negated = count == 2 && program_.code.back().op == Op::negate;
  target.indexed = first.op != Op::literal || !first.integral || !(count == 1 || negated);
  if (target.indexed) return true;
  target.integer = negated ? -first.integer : first.integer;
  program_.code.resize(code);
  --pending_;
  return true;
}

// An index of an index, of a number or of a sum: the grammar has it, and no value in a scope has such elements.
bool ExpressionParser::chained(std::size_t begin) {
  if (!nest(take()) || !expression() || !expect("]")) return false;
  --depth_;
  return emit({.op = Op::opaque, .source = since(begin)}, 2, 1);
}

}  // namespace convoke::contract

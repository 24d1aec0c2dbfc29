// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/expression.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "contract/expression_clauses.hpp"

namespace convoke::contract {
namespace {

struct Piece {
  std::size_t begin = 0, end = 0;
};

Piece trimmed(std::string_view text, Piece piece) {
  while (piece.begin < piece.end && is_blank(text[piece.begin])) ++piece.begin;
  while (piece.end > piece.begin && is_blank(text[piece.end - 1])) --piece.end;
  return piece;
}

// Cuts [begin, end) at each `separator`; where `nesting`, only at those outside brackets, unless a bracket stays open,
// as happens in prose: then all count.
std::vector<Piece> split(std::string_view text, Piece whole, std::string_view separator, bool nesting) {
  std::vector<Piece> pieces;
  std::size_t begin = whole.begin, depth = 0;
  for (std::size_t i = whole.begin; i < whole.end; ++i) {
    const char byte = text[i];
    if (nesting && (byte == '(' || byte == '[' || byte == '{')) ++depth;
    if (depth > 0 && (byte == ')' || byte == ']' || byte == '}')) --depth;
    if (depth > 0 || text.substr(i, separator.size()) != separator) continue;
    pieces.push_back(trimmed(text, {begin, i}));
    i += separator.size() - 1;
    begin = i + 1;
  }
  if (depth > 0) return split(text, whole, separator, false);
  pieces.push_back(trimmed(text, {begin, whole.end}));
  return pieces;
}

// Reads one `;`-segment: all its `&&`-pieces as clauses or, in a field, each as a clause or as prose.
class SegmentReader {
 public:
  SegmentReader(Program& program, Language language)
      : program_(program), language_(language), parser_(program, language) {}

  bool read(Piece segment) {
    const auto pieces = split(program_.text, segment, "&&", true);
    if (language_ == Language::field) {
      return std::all_of(pieces.begin(), pieces.end(), [&](Piece piece) { return clause_or_prose(piece); });
    }
    const std::size_t clauses = program_.clauses.size(), operands = program_.operands.size();
    const std::size_t code = program_.code.size();
    for (const Piece piece : pieces) {
      if (parser_.clause(piece.begin, piece.end)) continue;
      if (parser_.fatal()) return false;
      // Not a conjunction of clauses: what it is, is decided on the whole.
      program_.clauses.resize(clauses);
      program_.operands.resize(operands);
      program_.code.resize(code);
      return clause_or_prose(segment);
    }
    return true;
  }

  const SyntaxError& error() const { return *parser_.error(); }

 private:
  bool clause_or_prose(Piece piece) {
    if (parser_.clause(piece.begin, piece.end)) return true;
    if (parser_.fatal() || language_ == Language::layout) return false;
    if (language_ == Language::shape && starts_with_keyword(piece)) return false;
    program_.prose.emplace_back(program_.text.substr(piece.begin, piece.end - piece.begin));
    return true;
  }

  bool starts_with_keyword(Piece piece) {
    return ClauseParser(program_, language_).starts_with_keyword(piece.begin, piece.end);
  }

  Program& program_;
  const Language language_;
  ClauseParser parser_;
};

std::optional<SyntaxError> too_long(std::string_view text) {
  if (text.size() <= max_expression_bytes) return std::nullopt;
  return SyntaxError{max_expression_bytes, fmt::format("longer than {} bytes", max_expression_bytes)};
}

class NameList {
 public:
  explicit NameList(std::string_view text) : text_(text) {}

  void add(Name::Kind kind, std::string_view name) {
    // The implied left side of a field's clause is not in the text. std::less orders unrelated pointers too.
    const std::less_equal<const char*> not_after;
    if (name.empty() || !not_after(text_.data(), name.data()) || !not_after(name.data(), text_.data() + text_.size()))
      return;
    names_.push_back({kind, std::string(name), static_cast<std::size_t>(name.data() - text_.data())});
  }

  std::vector<Name> take() {
    std::sort(names_.begin(), names_.end(), [](const Name& a, const Name& b) {
      return std::tie(a.offset, a.kind, a.text) < std::tie(b.offset, b.kind, b.text);
    });
    std::vector<Name> once;
    for (Name& name : names_) {
      const auto same = [&](const Name& other) { return other.kind == name.kind && other.text == name.text; };
      if (std::none_of(once.begin(), once.end(), same)) once.push_back(std::move(name));
    }
    return once;
  }

 private:
  std::string_view text_;
  std::vector<Name> names_;
};

const std::string& text_of(const Program* program) {
  static const std::string none;
  return program != nullptr ? program->text : none;
}

std::vector<Name> names_of(const Program* program) {
  if (program == nullptr) return {};
  NameList names(program->text);
  for (const Clause& clause : program->clauses)
    if (clause.kind != ClauseKind::always)
      names.add(clause.kind == ClauseKind::word ? Name::Kind::word : Name::Kind::operand, clause.name);
  for (const Instruction& step : program->code) {
    const bool is_operand = step.op == Op::dim || step.op == Op::rank;
    if (step.op == Op::product || step.op == Op::sum)
      names.add(Name::Kind::function, step.source.substr(0, step.source.find_first_of(" \t\r\n(")));
    if (step.op == Op::opaque || step.op >= Op::minimum)
      names.add(Name::Kind::function, step.name);
    else if (step.op != Op::layout)
      names.add(is_operand ? Name::Kind::operand : Name::Kind::value, step.name);
  }
  return names.take();
}

std::vector<Access> accesses_of(const Program* program) {
  std::vector<Access> out;
  if (program == nullptr) return out;
  for (const Instruction& step : program->code) {
    if ((step.op != Op::dim && step.op != Op::element) || step.indexed) continue;
    const auto kind = step.op == Op::dim ? Name::Kind::operand : Name::Kind::value;
    out.push_back({kind, std::string(step.name), step.integer,
                   static_cast<std::size_t>(step.source.data() - program->text.data())});
  }
  return out;
}

}  // namespace

std::optional<std::int64_t> Scope::element(std::string_view name, std::int64_t index) const {
  const auto values = tuple(name);
  if (!values) return std::nullopt;
  const auto size = static_cast<std::int64_t>(values->size());
  const std::int64_t position = index < 0 ? index + size : index;
  if (position < 0 || position >= size) return std::nullopt;
  return (*values)[static_cast<std::size_t>(position)];
}

tl::expected<Constraint, SyntaxError> Constraint::parse(std::string_view text, Dialect dialect,
                                                        std::string_view subject) {
  if (auto error = too_long(text)) return tl::unexpected(*std::move(error));
  const Language language = dialect == Dialect::shape   ? Language::shape
                            : dialect == Dialect::field ? Language::field
                                                        : Language::layout;
  const auto program = std::make_shared<Program>(text, subject);
  SegmentReader reader(*program, language);
  for (const Piece segment : split(text, {0, text.size()}, ";", dialect == Dialect::field))
    if (segment.begin < segment.end && !reader.read(segment)) return tl::unexpected(reader.error());
  Constraint constraint;
  constraint.program_ = program;
  return constraint;
}

Judgement Constraint::judge(const Scope& scope) const {
  if (!program_) return {};
  for (const Clause& clause : program_->clauses) {
    const Verdict verdict = contract::judge(*program_, clause, scope, nullptr);
    if (verdict == Verdict::holds) continue;
    Judgement judgement{verdict, std::string(clause.text), {}};
    contract::judge(*program_, clause, scope, &judgement.found);
    return judgement;
  }
  return {};
}

const std::string& Constraint::text() const noexcept { return text_of(program_.get()); }

const std::vector<std::string>& Constraint::prose() const noexcept {
  static const std::vector<std::string> none;
  return program_ ? program_->prose : none;
}

std::size_t Constraint::size() const noexcept { return program_ ? program_->clauses.size() : 0; }

std::vector<Name> Constraint::names() const { return names_of(program_.get()); }

std::vector<Access> Constraint::accesses() const { return accesses_of(program_.get()); }

tl::expected<Predicate, SyntaxError> Predicate::parse(std::string_view text) {
  if (auto error = too_long(text)) return tl::unexpected(*std::move(error));
  const auto program = std::make_shared<Program>(text, "");
  ClauseParser parser(*program, Language::predicate);
  if (!parser.predicate()) return tl::unexpected(*parser.error());
  Predicate predicate;
  predicate.program_ = program;
  return predicate;
}

Verdict Predicate::judge(const Scope& scope) const {
  if (!program_) return Verdict::unknown;
  Verdict verdict = Verdict::holds;
  for (const Clause& clause : program_->clauses) {
    const Verdict one = contract::judge(*program_, clause, scope, nullptr);
    if (one == Verdict::fails) return one;
    if (one == Verdict::unknown) verdict = one;
  }
  return verdict;
}

const std::string& Predicate::text() const noexcept { return text_of(program_.get()); }

std::vector<Name> Predicate::names() const { return names_of(program_.get()); }

tl::expected<CostExpression, SyntaxError> CostExpression::parse(std::string_view text) {
  if (auto error = too_long(text)) return tl::unexpected(*std::move(error));
  const auto program = std::make_shared<Program>(text, "");
  ExpressionParser parser(*program, Language::cost);
  parser.enter(0, text.size());
  if (!parser.expression()) return tl::unexpected(*parser.error());
  if (!parser.at_end()) {
    parser.fail(parser.peek(), fmt::format("expected an operator or the end, found {}", describe(parser.peek())));
    return tl::unexpected(*parser.error());
  }
  CostExpression cost;
  cost.program_ = program;
  return cost;
}

std::optional<double> CostExpression::evaluate(const Scope& scope) const {
  const auto value = program_ ? contract::evaluate(*program_, scope) : std::nullopt;
  return value ? std::optional(std::max(*value, 0.0)) : std::nullopt;
}

bool CostExpression::mentions(std::string_view name) const noexcept {
  return program_ && std::ranges::any_of(program_->code, [&](const Instruction& step) {
           return step.op == Op::scalar && step.name == name;
         });
}

const std::string& CostExpression::text() const noexcept { return text_of(program_.get()); }

std::vector<Name> CostExpression::names() const { return names_of(program_.get()); }

std::vector<Access> CostExpression::accesses() const { return accesses_of(program_.get()); }

}  // namespace convoke::contract

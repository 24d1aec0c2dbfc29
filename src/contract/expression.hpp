// SPDX-License-Identifier: Apache-2.0 OR MIT
// The three small languages of a contract: constraints and predicates (64-bit checked integers) and costs (doubles).
// Parsing never fails by accident: a text is a program, prose, or an error with a position. Evaluation is pure and,
// where the answer is yes, allocates nothing itself; the caller supplies every name through a Scope.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace convoke::contract {

/// Where names in an expression get their values. Absent names are nullopt, never a guess.
class Scope {
 public:
  virtual ~Scope() = default;
  /// Size of `axis` of operand `role` (`x`, `weight`, `bias`, `out`); a negative axis counts from the end.
  virtual std::optional<std::int64_t> dim(std::string_view role, std::int64_t axis) const = 0;
  /// Rank of operand `role`; nullopt where there is no such operand (an absent optional one included).
  virtual std::optional<std::int64_t> rank(std::string_view role) const = 0;
  /// A scalar: an op-param (`groups`), an alias (`Cin`), `n`, `dtype_bytes`.
  virtual std::optional<std::int64_t> scalar(std::string_view name) const = 0;
  /// A tuple or array op-param or its element: `stride`, `x_shape`, `w_shape`, `out_shape`.
  virtual std::optional<std::vector<std::int64_t>> tuple(std::string_view name) const = 0;
  /// One element of `tuple(name)`; a negative index counts from the end, one out of range has no value. Costs ask
  /// nothing else of `x_shape` and its like: override it where making the vector would be felt.
  virtual std::optional<std::int64_t> element(std::string_view name, std::int64_t index) const;
  /// Facts about an operand beyond its shape. For layout_constraint: `stride` (axis as in dim), `offset`, `align` (axis
  /// 0). For `same_dtype=x`: `dtype`, any number that is the same for the same dtype.
  virtual std::optional<std::int64_t> layout(std::string_view role, std::string_view what, std::int64_t axis) const = 0;
  /// Bare words of fast-path predicates, such as `all_inputs_contiguous` or `depthwise`.
  virtual std::optional<bool> word(std::string_view name) const = 0;
};

/// Where in the text a parse failed, and what would have been accepted there.
struct SyntaxError {
  std::size_t offset = 0;  ///< byte offset into the text given to the parser
  std::string message;
};

/// Outcome of one clause. `unknown` means a name had no value in this scope.
enum class Verdict { holds, fails, unknown };

/// A clause that did not hold, for people: its source text, and the values it compared.
struct Judgement {
  Verdict verdict = Verdict::holds;
  std::string clause;  ///< source text of the clause that decided
  std::string found;   ///< `groups = 3, Cin = 64`
};

/// A name that a text refers to, for checks of scope.
struct Name {
  enum class Kind {
    value,     ///< looked up as a scalar, tuple or element: `groups`, `x_shape`, dotted where written so (`source.n`)
    operand,   ///< an operand's role: `x` of `x.dim[1]` or `same_as=x`
    word,      ///< a bare word of a predicate
    function,  ///< called: `product`
  };
  Kind kind = Kind::value;
  std::string text;
  std::size_t offset = 0;  ///< byte offset of its first mention
  friend bool operator==(const Name&, const Name&) = default;
};

/// A constant index of a name: `x_shape[1]` (a value) or `weight.dim[0]` (an operand); `dim[0]` of the operand that the
/// text belongs to has that operand's name.
struct Access {
  Name::Kind kind = Name::Kind::value;
  std::string name;
  std::int64_t index = 0;
  std::size_t offset = 0;  ///< where it stands in the text
};

/// Texts beyond these limits are refused with a SyntaxError, prose or not.
constexpr std::size_t max_expression_bytes = 4096;
constexpr std::size_t max_expression_depth = 32;    ///< nested parentheses, brackets and calls
constexpr std::size_t max_expression_nodes = 1024;  ///< numbers, names and operators of one text

struct Program;  // expression_program.hpp

/// A list of clauses joined by `;`: a shape_constraint, a fields.*.constraint or a layout_constraint. `&&` between
/// clauses joins them too. A default-made one has no clauses.
class Constraint {
 public:
  enum class Dialect {
    shape,   ///< accept.inputs[].shape_constraint (docs/format.md, Clauses); dim[i] is the operand's own axis
    field,   ///< op_params.fields.*.constraint (same place): `== (1, 1) (remark)` means the field itself
    layout,  ///< layout_constraint: relations over stride[i], shape[i], offset, align of the operand itself
  };
  /// `subject` is the operand's role or the field's name. Prose clauses are kept, and listed by prose(); in a
  /// layout_constraint, which is ours alone, they are errors. So is a shape clause that starts with a keyword
  /// (`same_as`, `divisible`, ..., or `dim[0]`) and then breaks.
  static tl::expected<Constraint, SyntaxError> parse(std::string_view text, Dialect dialect, std::string_view subject);

  /// Judges all clauses in order; the first that fails or is unknown decides. Division by zero fails the clause; so
  /// does overflow of int64. Prose never refuses. Forms whose meaning nobody has fixed (`same_as=x.dim[1]`,
  /// `reduces_to=out`, calls other than product, prod, sum, len, min, max and ceil_div) are unknown.
  Judgement judge(const Scope& scope) const;
  const std::string& text() const noexcept;
  /// Clauses that are prose, kept and never evaluated.
  const std::vector<std::string>& prose() const noexcept;
  /// Number of clauses that are evaluated.
  std::size_t size() const noexcept;
  /// Every name the clauses refer to, once, in reading order. The implied left side of `== 1` is not among them.
  std::vector<Name> names() const;
  /// Every constant index, in the order of evaluation.
  std::vector<Access> accesses() const;

 private:
  std::shared_ptr<const Program> program_;
};

/// A fast-path predicate: `groups == 1`, `depthwise`, `dim[0] % 2 == 0`, ... (docs/format.md, Clauses). A default-made
/// one is always unknown.
class Predicate {
 public:
  static tl::expected<Predicate, SyntaxError> parse(std::string_view text);
  /// Of terms joined by `&&`: fails where one fails, else unknown where one is unknown. `dim[i]`, which has no operand
  /// here, asks the scope for the operand with the empty name.
  Verdict judge(const Scope& scope) const;
  const std::string& text() const noexcept;
  std::vector<Name> names() const;

 private:
  std::shared_ptr<const Program> program_;
};

/// A cost expression: a double, never negative (clamped at 0). A default-made one has no value.
class CostExpression {
 public:
  static tl::expected<CostExpression, SyntaxError> parse(std::string_view text);
  /// nullopt: a name without value, a division or modulo by zero, or a result that is not finite.
  std::optional<double> evaluate(const Scope& scope) const;
  /// Whether the scalar of that name is asked for.
  bool mentions(std::string_view name) const noexcept;
  const std::string& text() const noexcept;
  std::vector<Name> names() const;
  std::vector<Access> accesses() const;

 private:
  std::shared_ptr<const Program> program_;
};

}  // namespace convoke::contract

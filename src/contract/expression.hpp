// SPDX-License-Identifier: Apache-2.0 OR MIT
// The three small languages of a contract as typed trees: constraints (64-bit checked integers), predicates (fast
// paths, layout_constraint) and costs (doubles). Parsing never fails by accident: a text is a tree, prose, or an error
// with a position. Evaluation is pure; the caller supplies every name through a Scope.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
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
  /// Facts about an operand beyond its shape, for layout_constraint: `stride` (axis as in dim), `offset`, `align`.
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

struct Node;  // expression.cpp

/// A list of clauses joined by `;`: a shape_constraint, a fields.*.constraint or a layout_constraint.
class Constraint {
 public:
  enum class Dialect {
    shape,   ///< accept.inputs[].shape_constraint (format section 6); dim[i] is the operand's own axis
    field,   ///< op_params.fields.*.constraint (section 7): `== (1, 1) (remark)` means the field itself
    layout,  ///< layout_constraint: relations over stride[i], shape[i], offset, align of the operand itself
  };
  /// `subject` is the operand's role or the field's name. Prose clauses are kept, and listed by prose().
  static tl::expected<Constraint, SyntaxError> parse(std::string_view text, Dialect dialect, std::string_view subject);

  /// Judges all clauses in order; the first that fails or is unknown decides. Division by zero fails the clause; so
  /// does overflow of int64. Prose never refuses.
  Judgement judge(const Scope& scope) const;
  const std::string& text() const noexcept { return text_; }
  /// Clauses that are prose, kept and never evaluated.
  const std::vector<std::string>& prose() const noexcept { return prose_; }
  /// Number of clauses that are evaluated.
  std::size_t size() const noexcept { return clauses_.size(); }

 private:
  std::string text_;
  std::vector<std::string> prose_;
  std::vector<std::shared_ptr<const Node>> clauses_;
};

/// A fast-path predicate (`groups == 1`, `depthwise`, `dim[0] % 2 == 0`, ... format section 5).
class Predicate {
 public:
  static tl::expected<Predicate, SyntaxError> parse(std::string_view text);
  Verdict judge(const Scope& scope) const;
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

/// A cost expression: a double, never negative (clamped at 0).
class CostExpression {
 public:
  static tl::expected<CostExpression, SyntaxError> parse(std::string_view text);
  /// nullopt: a name without value, or a division or modulo by zero.
  std::optional<double> evaluate(const Scope& scope) const;
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::shared_ptr<const Node> root_;
};

}  // namespace convoke::contract

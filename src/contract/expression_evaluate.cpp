// SPDX-License-Identifier: Apache-2.0 OR MIT
// What clauses mean.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "contract/expression_machine.hpp"
#include "contract/expression_program.hpp"

namespace convoke::contract {
namespace {

// What one operand came to.
struct Values {
  Stack<std::int64_t> stack;
  std::vector<std::int64_t> tuple;  // of a name that stands for one
  bool is_tuple = false;
  Fault fault = Fault::none;

  std::span<const std::int64_t> view() const {
    return tuple.empty() ? std::span<const std::int64_t>(stack.values, stack.size) : std::span(tuple);
  }
};

class ClauseJudge {
 public:
  ClauseJudge(const Program& program, const Clause& clause, const Scope& scope, Trace* trace)
      : program_(program), clause_(clause), scope_(scope), trace_(trace) {}

  Verdict judge() {
    switch (clause_.kind) {
      case ClauseKind::relation:
        return relation();
      case ClauseKind::membership:
        return membership();
      case ClauseKind::divisible:
        return divisible();
      case ClauseKind::rank:
        return rank();
      case ClauseKind::same_dtype:
        return same_dtype();
      case ClauseKind::word:
        return word();
      case ClauseKind::always:
        return Verdict::holds;
      case ClauseKind::opaque:
        return opaque();
      default:
        return shapes();
    }
  }

 private:
  static Verdict truth(bool holds) { return holds ? Verdict::holds : Verdict::fails; }

  Verdict faulted(Fault fault) const {
    if (fault == Fault::unknown) return Verdict::unknown;
    if (trace_) trace_->remark(fault == Fault::overflow ? "int64 overflow" : "division by zero");
    return Verdict::fails;
  }

  void evaluate(std::uint32_t index, Values& out) const {
    const RelationSide& operand = program_.operands[clause_.first + index];
    out.stack.size = 0;
    out.tuple.clear();
    out.is_tuple = operand.kind == RelationSide::Kind::tuple;
    out.fault = Fault::unknown;
    if (operand.kind == RelationSide::Kind::none) return;
    const auto code = std::span(program_.code).subspan(operand.first, operand.count);
    if (operand.kind == RelationSide::Kind::name)
      name(code.front(), out);
    else
      out.fault = run(program_, code, scope_, out.stack, trace_);
  }

  void name(const Instruction& step, Values& out) const {
    auto value = scope_.scalar(step.name);
    if (!value) {
      if (auto tuple = scope_.tuple(step.name)) {
        if (trace_) trace_->add(step.source, listed(*tuple));
        out.tuple = *std::move(tuple);
        out.is_tuple = true;
        out.fault = Fault::none;
        return;
      }
      if (const auto word = scope_.word(step.name)) value = *word ? 1 : 0;
    }
    if (trace_) trace_->add(step.source, value);
    if (!value) return;
    out.stack.push(*value);
    out.fault = Fault::none;
  }

  static std::string listed(std::span<const std::int64_t> values) {
    std::string text = "(";
    for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
    return text + ")";
  }

  static Verdict compare(Relop relop, const Values& left, const Values& right) {
    const auto a = left.view(), b = right.view();
    const bool ordered = relop != Relop::equal && relop != Relop::not_equal;
    // A tuple beside a number, or before another, is a question without an answer.
    if (left.is_tuple != right.is_tuple || (left.is_tuple && ordered)) return Verdict::unknown;
    if (!ordered) return truth(std::equal(a.begin(), a.end(), b.begin(), b.end()) == (relop == Relop::equal));
    switch (relop) {
      case Relop::less:
        return truth(a[0] < b[0]);
      case Relop::less_equal:
        return truth(a[0] <= b[0]);
      case Relop::greater:
        return truth(a[0] > b[0]);
      default:
        return truth(a[0] >= b[0]);
    }
  }

  Verdict relation() const {
    Values first, second;
    Values *left = &first, *right = &second;
    evaluate(0, *left);
    if (left->fault == Fault::division_by_zero || left->fault == Fault::overflow) return faulted(left->fault);
    for (std::uint32_t i = 1; i < clause_.count; ++i, std::swap(left, right)) {
      // The right side is looked at even where the left is unknown: a refusal then shows both.
      evaluate(i, *right);
      const Fault fault = left->fault != Fault::none ? left->fault : right->fault;
      if (fault != Fault::none) return faulted(fault);
      const Verdict verdict = compare(program_.operands[clause_.first + i].relop, *left, *right);
      if (verdict != Verdict::holds) return verdict;
    }
    return Verdict::holds;
  }

  Verdict membership() const {
    Values sought, member;
    evaluate(0, sought);
    if (sought.fault != Fault::none) return faulted(sought.fault);
    Verdict verdict = Verdict::fails;
    for (std::uint32_t i = 1; i < clause_.count; ++i) {
      evaluate(i, member);
      const Verdict equal = member.fault != Fault::none ? Verdict::unknown : compare(Relop::equal, sought, member);
      if (equal == Verdict::holds) return equal;
      if (equal == Verdict::unknown) verdict = equal;
    }
    return verdict;
  }

  Verdict divisible() const {
    Values dividend, divisor;
    evaluate(0, dividend);
    if (dividend.fault != Fault::none) return faulted(dividend.fault);
    evaluate(1, divisor);
    if (divisor.fault != Fault::none) return faulted(divisor.fault);
    if (dividend.is_tuple || divisor.is_tuple) return Verdict::unknown;
    const std::int64_t b = divisor.view()[0];
    if (b == 0) return faulted(Fault::division_by_zero);
    return truth(b == -1 || dividend.view()[0] % b == 0);
  }

  Verdict word() const {
    const auto value = scope_.word(clause_.name);
    if (trace_) trace_->add(clause_.name, value ? (*value ? "true" : "false") : "unknown");
    return value ? truth(*value) : Verdict::unknown;
  }

  Verdict opaque() const {
    if (trace_) trace_->remark("no agreed meaning");
    return Verdict::unknown;
  }

  Verdict rank() const {
    const auto value = scope_.rank(program_.subject);
    if (trace_) trace_->add("rank", value);
    if (!value) return Verdict::unknown;
    return truth(clause_.low <= *value && *value <= clause_.high);
  }

  Verdict same_dtype() const {
    const auto own = scope_.layout(program_.subject, "dtype", 0);
    const auto other = scope_.layout(clause_.name, "dtype", 0);
    if (trace_) {
      trace_->add(fmt::format("{} dtype", program_.subject), own);
      trace_->add(fmt::format("{} dtype", clause_.name), other);
    }
    return own && other ? truth(*own == *other) : Verdict::unknown;
  }

  void note_shape(std::string_view role) const {
    const auto rank = scope_.rank(role);
    std::vector<std::int64_t> sizes;
    for (std::int64_t axis = 0; axis < rank.value_or(0); ++axis) {
      const auto size = scope_.dim(role, axis);
      if (!size) return trace_->add(role, "unknown");
      sizes.push_back(*size);
    }
    trace_->add(role, rank ? listed(sizes) : "unknown");
  }

  Verdict shapes() const {
    if (trace_) {
      note_shape(program_.subject);
      note_shape(clause_.name);
    }
    const auto own = scope_.rank(program_.subject), other = scope_.rank(clause_.name);
    if (!own || !other) return Verdict::unknown;
    switch (clause_.kind) {
      case ClauseKind::same_rank:
        return truth(*own == *other);
      case ClauseKind::same_as:
        return *own == *other ? axes(*own, false) : Verdict::fails;
      case ClauseKind::broadcast_to:
        return *own <= *other ? axes(*own, true) : Verdict::fails;
      default:
        return *own == 0 || *other == 0 ? Verdict::fails : axes(1, false);
    }
  }

  // The last `count` axes, from the end, of the subject and of the other operand.
  Verdict axes(std::int64_t count, bool broadcast) const {
    for (std::int64_t axis = 1; axis <= count; ++axis) {
      const auto own = scope_.dim(program_.subject, -axis), other = scope_.dim(clause_.name, -axis);
      if (!own || !other) return Verdict::unknown;
      if (*own != *other && !(broadcast && *own == 1)) return Verdict::fails;
    }
    return Verdict::holds;
  }

  const Program& program_;
  const Clause& clause_;
  const Scope& scope_;
  Trace* trace_;
};

}  // namespace

Verdict judge(const Program& program, const Clause& clause, const Scope& scope, std::string* found) {
  if (found == nullptr) return ClauseJudge(program, clause, scope, nullptr).judge();
  Trace trace(*found);
  return ClauseJudge(program, clause, scope, &trace).judge();
}

std::optional<double> evaluate(const Program& program, const Scope& scope) {
  Stack<double> stack;
  if (run(program, program.code, scope, stack, nullptr) != Fault::none) return std::nullopt;
  const double value = stack.pop();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace convoke::contract

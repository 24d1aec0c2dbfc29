// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/expression_machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace convoke::contract {
namespace {

// a / b, rounded up, of whole numbers; of others nobody has said what it would be.
Fault ceil_divide(std::int64_t a, std::int64_t b, std::int64_t& result) {
  if (a < 0 || b < 0) return Fault::unknown;
  if (b == 0) return Fault::division_by_zero;
  result = a / b + (a % b != 0 ? 1 : 0);
  return Fault::none;
}

Fault ceil_divide(double a, double b, double& result) {
  // Beyond 2^53 not every whole number is a double, and which one was meant is lost.
  const auto counts = [](double value) { return value >= 0 && value <= 0x1p53 && value == std::trunc(value); };
  if (!counts(a) || !counts(b)) return Fault::unknown;
  std::int64_t whole = 0;
  const Fault fault = ceil_divide(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b), whole);
  result = static_cast<double>(whole);
  return fault;
}

Fault apply(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  bool overflow = false;
  switch (op) {
    case Op::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Op::subtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Op::multiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case Op::minimum:
      result = std::min(a, b);
      break;
    case Op::maximum:
      result = std::max(a, b);
      break;
    case Op::ceil_divide:
      return ceil_divide(a, b, result);
    default:
      if (b == 0) return Fault::division_by_zero;
      // The lowest value has no negation, so its quotient by -1 does not fit; hardware traps on the remainder too.
      if (b == -1) return apply(Op::multiply, op == Op::divide ? a : 0, -1, result);
      result = op == Op::divide ? a / b : a % b;
  }
  return overflow ? Fault::overflow : Fault::none;
}

Fault apply(Op op, double a, double b, double& result) {
  switch (op) {
    case Op::add:
      result = a + b;
      break;
    case Op::subtract:
      result = a - b;
      break;
    case Op::multiply:
      result = a * b;
      break;
    case Op::minimum:
      result = std::isnan(b) || b < a ? b : a;
      break;
    case Op::maximum:
      result = std::isnan(b) || b > a ? b : a;
      break;
    case Op::ceil_divide:
      return ceil_divide(a, b, result);
    default:
      if (b == 0) return Fault::division_by_zero;
      result = op == Op::divide ? a / b : std::fmod(a, b);
  }
  return Fault::none;
}

std::optional<std::int64_t> literal(const Instruction& step, std::int64_t) {
  return step.integral ? std::optional(step.integer) : std::nullopt;
}
std::optional<double> literal(const Instruction& step, double) { return step.real; }

std::optional<std::int64_t> axis_of(std::int64_t value) { return value; }
std::optional<std::int64_t> axis_of(double value) {
  // No axis is beyond a million; the bound keeps the conversion defined.
  if (!(std::abs(value) < 1e6) || value != std::trunc(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> load(const Program& program, const Instruction& step, std::int64_t axis,
                                 const Scope& scope) {
  switch (step.op) {
    case Op::scalar:
      return scope.scalar(step.name);
    case Op::element:
      return scope.element(step.name, axis);
    case Op::dim:
      return scope.dim(step.name, axis);
    case Op::rank:
      return scope.rank(step.name);
    case Op::layout:
      return scope.layout(program.subject, step.name, axis);
    default:
      return std::nullopt;
  }
}

// product, sum, length of a tuple.
template <class Number>
Fault fold(const Instruction& step, const Scope& scope, Number& result) {
  const auto tuple = scope.tuple(step.name);
  if (!tuple) return Fault::unknown;
  result = step.op == Op::product ? 1 : 0;
  if (step.op == Op::length) result = static_cast<Number>(tuple->size());
  for (const std::int64_t value : *tuple) {
    if (step.op == Op::length) break;
    const Op op = step.op == Op::product ? Op::multiply : Op::add;
    if (const Fault fault = apply(op, result, static_cast<Number>(value), result); fault != Fault::none) return fault;
  }
  return Fault::none;
}

template <class Number>
void note(Trace* trace, const Instruction& step, Fault fault, Number value) {
  if (trace == nullptr) return;
  if (fault == Fault::none)
    trace->add(step.source, fmt::format("{}", value));
  else
    trace->add(step.source, "unknown");
}

// Everything that leaves a value without taking two.
template <class Number>
Fault fetch(const Program& program, const Instruction& step, const Scope& scope, Stack<Number>& stack, Trace* trace) {
  std::optional<std::int64_t> axis = step.integer;
  if (step.indexed) axis = axis_of(stack.pop());
  Number value{};
  Fault fault = Fault::none;
  if (step.op == Op::product || step.op == Op::sum || step.op == Op::length) {
    fault = fold(step, scope, value);
  } else {
    const auto found = axis ? load(program, step, *axis, scope) : std::nullopt;
    fault = found ? Fault::none : Fault::unknown;
    if (found) value = static_cast<Number>(*found);
  }
  note(trace, step, fault, value);
  stack.push(value);
  return fault;
}

template <class Number>
Fault execute(const Program& program, std::span<const Instruction> code, const Scope& scope, Stack<Number>& stack,
              Trace* trace) {
  for (const Instruction& step : code) {
    Fault fault = Fault::none;
    if (step.op >= Op::add) {
      const Number right = stack.pop(), left = stack.pop();
      Number result{};
      fault = apply(step.op, left, right, result);
      stack.push(result);
    } else if (step.op == Op::negate) {
      const Number value = stack.pop();
      Number result{};
      fault = apply(Op::subtract, Number{}, value, result);
      stack.push(result);
    } else if (step.op == Op::literal) {
      const auto value = literal(step, Number{});
      if (!value) return Fault::unknown;
      stack.push(*value);
    } else {
      fault = fetch(program, step, scope, stack, trace);
    }
    if (fault != Fault::none) return fault;
  }
  return Fault::none;
}

}  // namespace

void Trace::add(std::string_view name, std::string_view value) {
  if (std::find(seen_.begin(), seen_.end(), name) != seen_.end()) return;
  seen_.emplace_back(name);
  text_ += fmt::format("{}{} = {}", text_.empty() ? "" : ", ", name, value);
}

void Trace::add(std::string_view name, std::optional<std::int64_t> value) {
  add(name, value ? std::to_string(*value) : std::string("unknown"));
}

void Trace::remark(std::string_view text) { text_ += fmt::format("{}{}", text_.empty() ? "" : "; ", text); }

Fault run(const Program& program, std::span<const Instruction> code, const Scope& scope, Stack<std::int64_t>& stack,
          Trace* trace) {
  return execute(program, code, scope, stack, trace);
}

Fault run(const Program& program, std::span<const Instruction> code, const Scope& scope, Stack<double>& stack,
          Trace* trace) {
  return execute(program, code, scope, stack, trace);
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The stack machine that runs compiled expressions, once for checked integers and once for doubles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contract/expression_program.hpp"

namespace convoke::contract {

/// Why code has no value; `unknown` is a name without value.
enum class Fault : std::uint8_t { none, unknown, division_by_zero, overflow };

/// Collects `name = value` for a refusal; absent on the path that has to be fast. A name is listed once.
class Trace {
 public:
  explicit Trace(std::string& text) : text_(text) {}
  void add(std::string_view name, std::string_view value);
  void add(std::string_view name, std::optional<std::int64_t> value);
  void remark(std::string_view text);

 private:
  std::string& text_;
  std::vector<std::string> seen_;
};

template <class Number>
struct Stack {  // NOLINT(cppcoreguidelines-pro-type-member-init): clearing values would cost more than most clauses
  Number values[stack_limit];  // the parser proved that no code needs more
  std::size_t size = 0;

  void push(Number value) { values[size++] = value; }
  Number pop() { return values[--size]; }
};

/// Runs `code`, one operand or one cost, and leaves its values on the stack; after a fault what lies there is
/// meaningless. Names looked at go to `trace`, where there is one.
Fault run(const Program& program, std::span<const Instruction> code, const Scope& scope, Stack<std::int64_t>& stack,
          Trace* trace);
Fault run(const Program& program, std::span<const Instruction> code, const Scope& scope, Stack<double>& stack,
          Trace* trace);

}  // namespace convoke::contract

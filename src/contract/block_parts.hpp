// SPDX-License-Identifier: Apache-2.0 OR MIT
// The parts of a block, one reader for each; block.cpp puts them together. Every function reports what it finds and
// gives back what it could read.
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/contract.hpp"
#include "contract/reader.hpp"
#include "contract/words.hpp"

namespace convoke::contract {

/// Parses the constraint at `key`. A clause that breaks is `name` under rule 7; prose is kept with a warning.
std::optional<Constraint> read_constraint(Reader& reader, std::string_view key, Constraint::Dialect dialect,
                                          std::string_view subject, std::string_view name);

/// Parses the cost expression or number at `key`; an empty text and `~` are unknown, hence nullopt.
std::optional<CostExpression> read_expression(Reader& reader, std::string_view key);

/// The word at `key` where it is one of `table`'s; another one is an error, absence is nullopt.
template <class Table>
auto read_choice(Reader& reader, std::string_view key, const Table& table, std::string_view rule, std::string_view name)
    -> decltype(look_up(table, std::string_view())) {
  const std::optional<std::string> word = reader.text(key);
  if (!word) return std::nullopt;
  const auto value = look_up(table, *word);
  if (!value) reader.error(key, {rule, name, fmt::format("`{}` is `{}`", reader.name(key), *word), words_of(table)});
  return value;
}

/// The text at `key` is a name for people: no control characters, nothing that turns the direction of what follows.
void check_name(Reader& reader, std::string_view key);

/// The argument of `head(argument)`; nullopt: `text` is something else.
std::optional<std::string_view> argument_of(std::string_view text, std::string_view head) noexcept;

/// The five flags and the axes (docs/format.md, Words), with rule 4. `coherent` becomes false when a rule was broken.
LayoutFlags read_layout(Reader& layout, bool& coherent);

/// Inputs, or outputs, that a section may have.
inline constexpr std::size_t max_operands = 64;

/// What the operands need to know of their block.
struct OperandContext {
  bool registrable = true;
  std::optional<AwkwardStrategy> strategy;  ///< kernel-wide; nullopt: an unknown word, already reported
};
std::vector<Operand> read_inputs(Reader& accept, const OperandContext& context);

/// The descriptor extension of one operand: rules 3 (sub-byte), 6, 14, 15 and 16.
void check_fdx(const YamlNode* node, const Operand& operand, const std::vector<std::string>& roles, bool registrable,
               std::string_view path, Position at, Report& report);

void read_params(Reader& accept, Contract& contract);
void read_return(Reader& block, Contract& contract);
void read_caps(Reader& caps, Contract& contract);
void read_cost(Reader& block, Contract& contract);
void read_precision(Reader& block, Contract& contract);

/// Our additive fields: numerics, requires, workspace_bytes, packing.
void read_additions(Reader& block, Contract& contract);

/// Names in costs and constraints of an operator that we run: each has a value (rules 7 and 8).
void check_scope(const YamlNode& root, const Contract& contract, Report& report);

/// Fan-out and the optional operand (docs/format.md, A block).
void check_keys(Reader& block, const Contract& contract);

}  // namespace convoke::contract

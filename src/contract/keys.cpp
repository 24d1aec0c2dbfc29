// SPDX-License-Identifier: Apache-2.0 OR MIT
// Dispatch keys (docs/format.md, A block): one for each dtype of a section that fans out, and without the optional
// operand once more.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "contract/block_parts.hpp"

namespace convoke::contract {
namespace {

/// The operand whose dtypes the section fans out over; nullptr: it has one dtype everywhere.
const Operand* fan_operand(const Contract& contract) {
  const auto fan = std::ranges::find_if(contract.inputs, [](const Operand& o) { return o.dtypes.size() > 1; });
  return fan == contract.inputs.end() ? nullptr : &*fan;
}

std::string dtype_of(const Operand& operand, std::size_t variant) {
  if (operand.dtypes.empty()) return {};
  return operand.dtypes.size() > 1 ? operand.dtypes[variant] : operand.dtypes.front();
}

/// Only `passthrough` and `fixed` make a slot of the key, and of a bundle only the first output does.
void push_outputs(const Contract& contract, std::size_t variant, Key& key) {
  for (const Output& output : contract.outputs) {
    if (const auto token = argument_of(output.dtype_rule, "fixed")) {
      key.dtypes.emplace_back(*token);
    } else if (const auto role = argument_of(output.dtype_rule, "passthrough")) {
      const auto input = std::ranges::find(contract.inputs, *role, &Operand::name);
      if (input != contract.inputs.end()) key.dtypes.push_back(dtype_of(*input, variant));
    }
    if (contract.bundle) break;
  }
}

std::string with_suffix(const std::string& entry_point, std::string dtype) {
  for (char& c : dtype) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return fmt::format("{}_{}", entry_point, dtype);
}

}  // namespace

std::vector<Key> keys(const Contract& contract) {
  std::vector<Key> out;
  if (!contract.registrable) return out;
  const Operand* fan = fan_operand(contract);
  const bool optional = !contract.inputs.empty() && contract.inputs.back().optional;
  for (std::size_t variant = 0; variant < (fan != nullptr ? fan->dtypes.size() : 1); ++variant) {
    Key key;
    key.symbol = fan != nullptr ? with_suffix(contract.entry_point, fan->dtypes[variant]) : contract.entry_point;
    for (const Operand& input : contract.inputs) key.dtypes.push_back(dtype_of(input, variant));
    Key without = key;
    push_outputs(contract, variant, key);
    out.push_back(std::move(key));
    if (!optional) continue;
    without.dtypes.pop_back();
    without.optional_present = false;
    push_outputs(contract, variant, without);
    out.push_back(std::move(without));
  }
  return out;
}

void check_keys(Reader& block, const Contract& contract) {
  const Operand* fan = fan_operand(contract);
  if (!contract.registrable || fan == nullptr) return;
  for (const Operand& input : contract.inputs) {
    if (input.dtypes.size() < 2 || input.dtypes == fan->dtypes) continue;
    block.error("accept",
                {"", "FanoutDtypeMismatch",
                 fmt::format("`{}` and `{}` both take several dtypes, but not the same list", fan->name, input.name),
                 "the same dtypes in the same order"});
    return;
  }
}

}  // namespace convoke::contract

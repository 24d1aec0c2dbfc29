// SPDX-License-Identifier: Apache-2.0 OR MIT
// return.outputs and return.bundle: dtype, shape and layout rules, aliasing, and rule 13.
#include <fmt/core.h>

#include <algorithm>

#include "contract/block_parts.hpp"
#include "contract/vocabulary.hpp"

namespace convoke::contract {
namespace {

constexpr std::uint64_t max_slot_rank = 6;

bool is_input(const Contract& contract, std::string_view role) {
  return std::ranges::find(contract.inputs, role, &Operand::name) != contract.inputs.end();
}

std::string inputs_of(const Contract& contract) {
  std::vector<std::string_view> names;
  for (const Operand& input : contract.inputs) names.push_back(input.name);
  return names.empty() ? "no role: there are no inputs" : one_of(names);
}

void check_role(Reader& reader, std::string_view key, std::string_view role, const Contract& contract) {
  if (!is_input(contract, role))
    reader.error(key, {"", "UnknownRole", fmt::format("`{}` names `{}`, which is no input", reader.name(key), role),
                       inputs_of(contract)});
}

void check_dtype_rule(Reader& reader, const Output& output, const Contract& contract) {
  const std::string_view rule = output.dtype_rule;
  if (const auto role = argument_of(rule, "passthrough")) {
    check_role(reader, "dtype_rule", *role, contract);
    const bool optional = std::ranges::any_of(
        contract.inputs, [&](const Operand& operand) { return operand.optional && operand.name == *role; });
    if (optional)
      reader.error("dtype_rule", {"", "PassthroughNamesOptionalOperand",
                                  fmt::format("the dtype would come from `{}`, which may be absent", *role),
                                  "an input that is not optional"});
  } else if (const auto token = argument_of(rule, "fixed")) {
    if (!is_dtype(*token))
      reader.error("dtype_rule",
                   {"3", "BadDType", fmt::format("`{}` is no dtype", *token), "F32 and the format's other dtypes"});
  } else if (rule != "bundle" && !argument_of(rule, "cast") && !argument_of(rule, "dequant")) {
    reader.error("dtype_rule", {"", "UnknownDtypeRule", fmt::format("`{}` is no dtype rule", rule),
                                "passthrough(role), fixed(dtype), cast(param), dequant(role) or bundle"});
  }
}

void read_aliasing(Reader& reader, Output& output, const Contract& contract) {
  output.aliasing = reader.text("aliasing").value_or("none");
  auto role = argument_of(output.aliasing, "in_place");
  if (!role) role = argument_of(output.aliasing, "accumulate");
  // Public documents name the output's own buffer here when the caller hands it over and it is no input.
  if (role && !is_input(contract, *role))
    reader.warning("aliasing",
                   {"", "UnknownRole", fmt::format("`{}` names no input", output.aliasing), inputs_of(contract)});
  if (!role && output.aliasing != "none")
    reader.error("aliasing", {"", "UnknownAdmissibilityEnum", fmt::format("`{}` is no aliasing rule", output.aliasing),
                              "none, in_place(role) or accumulate(role)"});
}

void read_guarantee(Reader& reader, Output& output) {
  const std::string word = reader.text("layout_guarantee").value_or("contiguous");
  if (word == "contiguous")
    output.layout_guarantee = LayoutGuarantee::contiguous;
  else if (word == "preallocated")
    output.layout_guarantee = LayoutGuarantee::preallocated;
  else if (word == "bundle")
    output.layout_guarantee = LayoutGuarantee::bundle;
  else if (argument_of(word, "same_as"))
    output.layout_guarantee = LayoutGuarantee::same_as;
  else
    reader.error("layout_guarantee", {"", "UnknownAdmissibilityEnum", fmt::format("`{}` is no layout guarantee", word),
                                      "contiguous, preallocated, same_as(role) or bundle"});
}

/// What a shape rule says is the operator's own; a rule that nobody knows is a misspelling or a later version's.
void read_shape_rule(Reader& reader, Output& output) {
  const auto rule = reader.text("shape_rule");
  output.shape_rule = rule.value_or("");
  if (!rule) return;
  const std::string_view head = trim(std::string_view(*rule).substr(0, rule->find('(')));
  if (is_shape_rule(head) && argument_of(*rule, head)) return;
  const auto words = shape_rule_words();
  reader.warning("shape_rule",
                 {"", "UnknownShapeRule", fmt::format("`{}` is no shape rule{}", *rule, did_you_mean(head, words)),
                  fmt::format("{}, each with its arguments in parentheses", one_of({words.begin(), words.end()}))});
}

Output read_output(const YamlNode& node, std::string_view path, const Contract& contract, Report& report) {
  Reader reader(&node, path, report);
  Output output;
  output.name = reader.text("name").value_or("<output>");
  if (const auto rule = reader.required("dtype_rule")) {
    output.dtype_rule = *rule;
    check_dtype_rule(reader, output, contract);
  }
  read_shape_rule(reader, output);
  read_guarantee(reader, output);
  read_aliasing(reader, output, contract);
  if (const YamlNode* layout_node = reader.get("layout"); layout_node != nullptr) {
    Reader layout(layout_node, reader.name("layout"), report);
    bool coherent = true;
    output.layout = read_layout(layout, coherent);
    layout.finish();
  }
  output.layout_constraint =
      read_constraint(reader, "layout_constraint", Constraint::Dialect::layout, output.name, "LayoutConstraintParse");
  if (contract.bundle) {
    const std::vector<YamlNode>* shape = reader.list("shape");
    const std::uint64_t rank = shape != nullptr ? shape->size() : reader.natural("rank").value_or(0);
    if (rank > max_slot_rank)
      reader.error(shape != nullptr ? "shape" : "rank",
                   {"13", "BundleSlotRankExceeded", fmt::format("the slot `{}` has rank {}", output.name, rank),
                    fmt::format("at most {}", max_slot_rank)});
  }
  reader.finish();
  return output;
}

}  // namespace

void read_return(Reader& block, Contract& contract) {
  const std::size_t before = block.report().errors();
  Reader reader(block.get("return"), "return", block.report());
  const std::vector<YamlNode>* outputs = reader.list("outputs");
  const std::vector<YamlNode>* slots = reader.list("bundle");
  contract.bundle = slots != nullptr && !slots->empty();
  const std::vector<YamlNode>* items = contract.bundle ? slots : outputs;
  if (contract.bundle && outputs != nullptr && !outputs->empty())
    reader.error("bundle", {"2", "MissingField", "`return` has outputs and a bundle", "one of them"});
  if (items == nullptr || items->empty()) {
    if (block.report().errors() == before)
      block.error("return", {"2", "MissingField", "`return.outputs` is required", "at least one output, or a bundle"});
    return;
  }
  if (items->size() > max_operands)
    block.error("return",
                {"", "TooManyOperands", fmt::format("{} outputs; the limit is {}", items->size(), max_operands),
                 fmt::format("at most {}", max_operands)});
  const std::string_view list = contract.bundle ? "bundle" : "outputs";
  for (std::size_t i = 0; i < std::min(items->size(), max_operands); ++i)
    contract.outputs.push_back(
        read_output((*items)[i], fmt::format("return.{}[{}]", list, i), contract, block.report()));
  reader.finish();
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// op_params (rule 7), and the helpers that parse the small languages in place.
#include <fmt/core.h>

#include <algorithm>

#include "contract/block_parts.hpp"
#include "contract/vocabulary.hpp"

namespace convoke::contract {
namespace {

/// The fields of a variant are a closed set: a missing or misspelt one would never be evaluated.
void check_field_names(Reader& params, const YamlNode& fields, const Contract& contract) {
  std::string_view known = variant_fields(contract.params_variant);
  if (known.empty()) return;
  const std::string padded = fmt::format(" {} ", known);
  for (const YamlNode& entry : fields.items)
    if (padded.find(fmt::format(" {} ", entry.key)) == std::string::npos)
      params.report().error(
          entry.key_at, {"7", "BadOpParamsVariant",
                         fmt::format("{} has no field `{}`", contract.params_variant, entry.key), std::string(known)});
  while (!known.empty()) {
    const std::string_view name = known.substr(0, known.find(' '));
    known.remove_prefix(std::min(known.size(), name.size() + 1));
    if (fields.find(name) == nullptr)
      params.error("fields", {"7", "BadOpParamsVariant",
                              fmt::format("{} has a field `{}` that is not described", contract.params_variant, name),
                              fmt::format("`{}: {{ kind: ... }}`", name)});
  }
}

Field read_field(const YamlNode& entry, Report& report) {
  Reader reader(&entry, fmt::format("op_params.fields.{}", entry.key), report);
  Field field;
  field.name = entry.key;
  field.kind = reader.text("kind").value_or("");
  field.note = reader.text("note").value_or("");
  field.constraint =
      read_constraint(reader, "constraint", Constraint::Dialect::field, field.name, "FieldConstraintParse");
  reader.finish();
  return field;
}

void check_variant(Reader& params, const Contract& contract) {
  const std::string& variant = contract.params_variant;
  const bool fused = contract.fused_op.has_value();
  if (!contract.registrable || variant.empty()) return;
  if (fused ? is_fused_variant(variant) : is_primitive_variant(variant)) return;
  const bool other = fused ? is_primitive_variant(variant) : is_fused_variant(variant);
  const std::string_view why = other ? " belongs to the other kind of operator" : " is not known";
  params.error("variant", {"7", "BadOpParamsVariant", fmt::format("the variant `{}`{}", variant, why),
                           nearest_or(variant, variant_words(fused),
                                      fused ? "a variant of fused parameters" : "a variant of primitive parameters")});
}

}  // namespace

std::optional<Constraint> read_constraint(Reader& reader, std::string_view key, Constraint::Dialect dialect,
                                          std::string_view subject, std::string_view name) {
  const std::optional<std::string> text = reader.text(key);
  if (!text || text->empty()) return std::nullopt;
  const YamlNode& node = *reader.get(key);
  auto parsed = Constraint::parse(*text, dialect, subject);
  if (!parsed) {
    reader.report().error(inside(node, parsed.error().offset), {"7", name, parsed.error().message, {}});
    return std::nullopt;
  }
  for (const std::string& prose : parsed->prose())
    reader.report().warning(
        inside(node, std::min(text->find(prose), text->size())),
        {"", "ProseConstraint", fmt::format("`{}` is kept as text and never evaluated", prose), {}});
  return std::move(*parsed);
}

std::optional<CostExpression> read_expression(Reader& reader, std::string_view key) {
  const std::optional<std::string> text = reader.text(key);
  if (!text || text->empty()) return std::nullopt;
  auto parsed = CostExpression::parse(*text);
  if (parsed) return std::move(*parsed);
  reader.report().error(inside(*reader.get(key), parsed.error().offset),
                        {"8", "CostExprParse", parsed.error().message, {}});
  return std::nullopt;
}

void check_name(Reader& reader, std::string_view key) {
  const YamlNode* node = reader.get(key);
  if (node == nullptr || node->kind != YamlNode::Kind::scalar) return;
  if (const auto at = find_unprintable(node->value))
    reader.report().error(
        inside(*node, *at),
        {"", "BadName", fmt::format("`{}` has a character that does not show, or turns what follows", reader.name(key)),
         "printable characters without control or bidirectional marks"});
}

std::optional<std::string_view> argument_of(std::string_view text, std::string_view head) noexcept {
  if (!text.starts_with(head) || !text.ends_with(')')) return std::nullopt;
  text.remove_prefix(head.size());
  if (!text.starts_with('(')) return std::nullopt;
  return trim(text.substr(1, text.size() - 2));
}

void read_params(Reader& accept, Contract& contract) {
  const YamlNode* node = accept.get("op_params");
  if (node == nullptr) return;
  Reader params(node, "accept.op_params", accept.report());
  contract.params_variant = params.text("variant").value_or("");
  check_variant(params, contract);
  if (const YamlNode* fields = params.map("fields"); fields != nullptr) {
    if (contract.registrable) check_field_names(params, *fields, contract);
    for (const YamlNode& entry : fields->items) contract.fields.push_back(read_field(entry, accept.report()));
  }
  params.finish();
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/contract_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apps/convoke/table.hpp"
#include "bind/binding_table.hpp"

namespace convoke::cli {
namespace {

using contract::Contract;

class Facts {
 public:
  explicit Facts(int width) : width_(width) {}

  void add(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    const auto room = static_cast<std::size_t>(std::max(width_ - indent, 40));
    for (const std::string& piece : wrapped(std::string(value), room)) {
      text_ += fmt::format("  {:<14} {}\n", name, piece);
      name = "";
    }
  }
  // What the contract may leave out: words, and the text of expressions.
  void add_if(std::string_view name, const std::optional<std::string>& value) {
    if (value) add(name, *value);
  }
  template <class Expression>
  void add_if(std::string_view name, const std::optional<Expression>& expression) {
    if (expression) add(name, expression->text());
  }
  std::string take() { return std::move(text_); }

 private:
  static constexpr int indent = 17;
  std::string text_;
  int width_;
};

std::string_view word_of(contract::PrecisionClaim claim) noexcept {
  switch (claim) {
    case contract::PrecisionClaim::unaudited:
      return "unaudited";
    case contract::PrecisionClaim::stable:
      return "stable";
    case contract::PrecisionClaim::bounded:
      return "bounded";
    case contract::PrecisionClaim::none:
      return "none";
  }
  return "?";
}

std::string flags_text(const contract::LayoutFlags& flags) {
  std::string text = flags.contiguous == contract::Contiguity::required ? "contiguous" : "any stride order";
  if (flags.strided) text += ", strided";
  if (flags.broadcast_stride0 != contract::Acceptance::rejected) text += ", stride 0";
  if (flags.start_offset) text += ", offset";
  if (flags.reverse_strides) text += ", negative strides";
  return text;
}

void add_operands(Facts& facts, const Contract& contract) {
  for (const contract::Operand& operand : contract.inputs) {
    std::string text = fmt::format("{}{}", fmt::join(operand.dtypes, " "), operand.optional ? ", optional" : "");
    if (operand.layout) text += "; " + flags_text(*operand.layout);
    facts.add(operand.name, text);
    facts.add_if("", operand.shape_constraint);
    facts.add_if("", operand.layout_constraint);
  }
  for (const contract::Output& output : contract.outputs)
    facts.add(output.name, fmt::format("{}; {}", output.dtype_rule, output.shape_rule));
  for (const contract::Field& field : contract.fields)
    if (field.constraint) facts.add(field.name, field.constraint->text());
}

void add_numbers(Facts& facts, const Contract& contract) {
  facts.add("strategy", word_of(contract.caps.strategy));
  if (const auto bytes = contract.caps.alignment_bytes)
    facts.add("alignment", counted(static_cast<std::size_t>(*bytes), "byte"));
  facts.add("cost",
            fmt::format("{}, {}", contract.cost.cost_class,
                        contract.cost.provenance == contract::Provenance::declared ? "declared" : "judge_measured"));
  facts.add_if("flops", contract.cost.flops);
  facts.add_if("bytes_moved", contract.cost.bytes_moved);
  facts.add_if("workspace", contract.workspace_bytes);
  facts.add("precision", word_of(contract.precision.claim));
  facts.add("", contract.precision.notes);
  if (const auto& numerics = contract.numerics) {
    facts.add_if("order", numerics->order);
    facts.add_if("accumulator", numerics->accumulator);
    facts.add_if("absent_taps", numerics->absent_taps);
    facts.add("invariant_to", fmt::format("{}", fmt::join(numerics->invariant_to, " ")));
  }
  facts.add("isa", fmt::format("{}", fmt::join(contract.requires_isa, " ")));
  facts.add("device", fmt::format("{}", fmt::join(contract.requires_device, " ")));
}

}  // namespace

std::string hash_text(const Contract& contract) { return fmt::format("{:016x}", contract.revision); }

std::string contract_text(const Contract& contract, const std::string& path, const std::vector<std::string>& ids,
                          int width) {
  Facts facts(width);
  facts.add("document", fmt::format("{}:{}", path, contract.line));
  facts.add_if("operator", contract.op_kind ? contract.op_kind : contract.fused_op);
  if (!contract.registrable) facts.add("registrable", "false: described only, never bound");
  for (const std::string& id : ids) facts.add("key", id);
  facts.add("entry point", contract.entry_point);
  facts.add("source", contract.kernel_source);
  facts.add("hash", hash_text(contract));
  facts.add("determinism", word_of(contract.determinism));
  add_operands(facts, contract);
  add_numbers(facts, contract);
  const auto title = wrapped(fmt::format("{}: {}", contract.kernel, contract.blurb), static_cast<std::size_t>(width));
  return fmt::format("{}\n{}", fmt::join(title, "\n"), facts.take());
}

}  // namespace convoke::cli

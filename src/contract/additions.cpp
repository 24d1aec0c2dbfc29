// SPDX-License-Identifier: Apache-2.0 OR MIT
// The fields that Convoke adds to the format (docs/format.md): other readers skip them, we evaluate them.
#include <fmt/core.h>

#include <algorithm>

#include "contract/block_parts.hpp"
#include "contract/vocabulary.hpp"

namespace convoke::contract {
namespace {

constexpr std::array absent_tap_words = {Meaning<bool>{"skip", true}, Meaning<bool>{"zero_fill", false}};
constexpr std::array scale_words = {Meaning<bool>{"output", true}, Meaning<bool>{"plane", false}};
constexpr auto invariants =
    std::to_array<std::string_view>({"threads", "batch", "layout", "alignment", "isa", "device"});

std::optional<std::string> read_dtype(Reader& reader, std::string_view key) {
  const auto token = reader.text(key);
  if (token && !is_dtype(*token))
    reader.error(key, {"3", "BadDType", fmt::format("`{}` is no dtype", *token), "F32 and the format's other dtypes"});
  return token;
}

std::vector<std::string> read_tokens(Reader& reader, std::string_view key) {
  std::vector<std::string> out;
  for (Word& word : reader.words(key)) out.push_back(std::move(word.text));
  return out;
}

std::optional<Numerics::ErrorBound> read_bound(const YamlNode* node, Report& report) {
  if (node == nullptr) return std::nullopt;
  Reader reader(node, "numerics.error", report);
  Numerics::ErrorBound bound;
  if (read_choice(reader, "scale", scale_words, "", "UnknownAdmissibilityEnum"))
    bound.scale = *reader.text("scale");
  else if (reader.get("scale") == nullptr)
    reader.missing("scale");
  if (auto terms = read_expression(reader, "terms"))
    bound.terms = std::move(*terms);
  else if (reader.get("terms") == nullptr)
    reader.missing("terms");
  if (auto unit = read_dtype(reader, "unit"))
    bound.unit = std::move(*unit);
  else
    reader.missing("unit");
  reader.finish();
  return bound;
}

void read_numerics(Reader& block, Contract& contract) {
  const YamlNode* node = block.get("numerics");
  if (node == nullptr) return;
  Reader reader(node, "numerics", block.report());
  Numerics numerics;
  numerics.order = reader.text("order");
  numerics.accumulator = read_dtype(reader, "accumulator");
  if (read_choice(reader, "absent_taps", absent_tap_words, "", "UnknownAdmissibilityEnum"))
    numerics.absent_taps = reader.text("absent_taps");
  for (const Word& word : reader.words("invariant_to")) {
    if (std::ranges::find(invariants, word.text) == invariants.end())
      block.report().error(word.at,
                           {"", "UnknownAdmissibilityEnum", fmt::format("bits cannot be invariant to `{}`", word.text),
                            one_of({invariants.begin(), invariants.end()})});
    numerics.invariant_to.push_back(word.text);
  }
  numerics.error = read_bound(reader.get("error"), block.report());
  reader.finish();
  contract.numerics = std::move(numerics);
}

void read_packing(Reader& block, Contract& contract) {
  const YamlNode* node = block.get("packing");
  if (node == nullptr) return;
  Reader reader(node, "packing", block.report());
  Packing packing;
  packing.operand = reader.required("operand").value_or("");
  packing.kernel = reader.required("kernel").value_or("");
  if (auto bytes = read_expression(reader, "bytes"))
    packing.bytes = std::move(*bytes);
  else if (reader.get("bytes") == nullptr)
    reader.missing("bytes");
  const bool known = std::ranges::find(contract.inputs, packing.operand, &Operand::name) != contract.inputs.end();
  if (!packing.operand.empty() && !known)
    reader.error("operand",
                 {"", "UnknownRole", fmt::format("`packing.operand` names `{}`, which is no input", packing.operand),
                  "the name of an input"});
  reader.finish();
  contract.packing = std::move(packing);
}

}  // namespace

void read_additions(Reader& block, Contract& contract) {
  read_numerics(block, contract);
  Reader needs(block.get("requires"), "requires", block.report());
  contract.requires_isa = read_tokens(needs, "isa");
  contract.requires_device = read_tokens(needs, "device");
  needs.finish();
  contract.workspace_bytes = read_expression(block, "workspace_bytes");
  read_packing(block, contract);
}

}  // namespace convoke::contract

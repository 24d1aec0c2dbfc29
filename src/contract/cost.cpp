// SPDX-License-Identifier: Apache-2.0 OR MIT
// caps and cost: strategy, fast paths and hints; rules 8 and 8a.
#include <fmt/core.h>

#include <bit>
#include <cctype>

#include "contract/block_parts.hpp"
#include "contract/vocabulary.hpp"

namespace convoke::contract {
namespace {

constexpr std::string_view fallback_class = "gemm_like";

constexpr std::array provenance_words = {
    Meaning<Provenance>{"declared", Provenance::declared},
    Meaning<Provenance>{"judge_measured", Provenance::judge_measured},
};

/// A class nobody knows is a hint that cannot be used: a warning, and the middle of the scale.
std::optional<std::string> read_class(Reader& reader) {
  const std::optional<std::string> word = reader.text("class");
  if (!word || is_cost_class(*word)) return word;
  reader.warning("class",
                 {"", "UnknownCostClass", fmt::format("`{}` is no cost class and counts as {}", *word, fallback_class),
                  cost_class_list()});
  return std::string(fallback_class);
}

FastPath read_fast_path(const YamlNode& node, std::size_t index, Report& report) {
  Reader reader(&node, fmt::format("caps.fast_paths[{}]", index), report);
  FastPath path;
  const auto when = reader.text("when");
  path.text = when.value_or("");
  if (!when || when->empty()) {
    reader.warning("when", {"", "FastPathSkipped", "a fast path without `when` is skipped",
                            "a predicate, such as \"groups == 1\""});
  } else if (auto parsed = Predicate::parse(*when)) {
    path.when = std::move(*parsed);
  } else {
    report.warning(inside(*reader.get("when"), parsed.error().offset),
                   {"", "FastPathSkipped", fmt::format("the fast path is skipped: {}", parsed.error().message), {}});
  }
  path.cost_class = read_class(reader);
  path.note = reader.text("note").value_or("");
  reader.text("effect");
  reader.finish();
  return path;
}

/// Placement hints: a value of no use is a warning, the hint is dropped.
std::optional<std::uint64_t> read_hint(Reader& reader, std::string_view key) {
  const auto value = reader.natural(key);
  if (!value || std::has_single_bit(*value)) return value;
  reader.warning(key,
                 {"", "BadHint", fmt::format("`{}` is {} and is ignored", reader.name(key), *value), "a power of two"});
  return std::nullopt;
}

/// Offset of a divisor that is the literal zero; such an expression has no value at any size.
std::optional<std::size_t> zero_divisor(std::string_view text) {
  for (std::size_t at = text.find_first_of("/%"); at != std::string_view::npos; at = text.find_first_of("/%", at + 1)) {
    const std::size_t start = text.find_first_not_of(' ', at + 1);
    if (start == std::string_view::npos) break;
    const std::size_t end = text.find_first_not_of("0.", start);
    const bool ends = end == std::string_view::npos || std::isalnum(static_cast<unsigned char>(text[end])) == 0;
    if (text[start] == '0' && ends) return start;
  }
  return std::nullopt;
}

std::optional<CostExpression> read_price(Reader& reader, std::string_view key, const Contract& contract) {
  auto expression = read_expression(reader, key);
  if (!expression) return expression;
  if (const auto zero = zero_divisor(expression->text()))
    reader.report().error(
        inside(*reader.get(key), *zero),
        {"8", "CostExprParse", fmt::format("`{}` divides by zero", reader.name(key)), "a divisor other than zero"});
  // The cost of a fused operator is a function of shapes and parameters; the dtypes are not among its arguments.
  if (!contract.fused_op) return expression;
  for (const Name& name : expression->names())
    if (name.kind == Name::Kind::value && name.text == "dtype_bytes")
      reader.report().warning(
          inside(*reader.get(key), name.offset),
          {"8", "CostTargetMismatch",
           fmt::format("`{}` uses `dtype_bytes`, which a fused operator does not have", reader.name(key)),
           "shapes and parameters"});
  return expression;
}

void read_memory(Reader& reader, Contract& contract) {
  Cost& cost = contract.cost;
  Reader memory(reader.get("memory"), "cost.memory", reader.report());
  cost.device_bytes = read_price(memory, "device_bytes", contract);
  cost.host_bytes = read_price(memory, "host_bytes", contract);
  cost.disk_bytes = read_price(memory, "disk_bytes", contract);
  memory.finish();
}

void check_provenance(Reader& reader, bool has_class, Cost& cost) {
  const auto word = reader.text("provenance");
  const auto provenance = word ? look_up(provenance_words, *word) : std::nullopt;
  if (!provenance) {
    reader.error("provenance",
                 {"8a", "CostProvenanceMissing",
                  word ? fmt::format("`cost.provenance` is `{}`", *word) : "`cost.provenance` is required",
                  words_of(provenance_words)});
    return;
  }
  cost.provenance = *provenance;
  const bool priced = cost.flops || cost.bytes_moved || cost.cost_fn || (has_class && cost.cost_class == "free");
  if (cost.provenance == Provenance::declared && !priced)
    reader.error("provenance", {"8a", "PlaceholderCost", "a declared cost that declares nothing",
                                "`class: free`, `flops`, `bytes_moved` or `cost_fn`, or `provenance: judge_measured`"});
}

}  // namespace

void read_caps(Reader& caps, Contract& contract) {
  if (const std::vector<YamlNode>* paths = caps.list("fast_paths"))
    for (std::size_t i = 0; i < paths->size(); ++i)
      contract.caps.fast_paths.push_back(read_fast_path((*paths)[i], i, caps.report()));
  contract.caps.in_place = caps.flag("in_place").value_or(false);
  contract.caps.alignment_bytes = read_hint(caps, "alignment_bytes");
  contract.caps.access_granularity_bits = read_hint(caps, "access_granularity_bits");
}

void read_cost(Reader& block, Contract& contract) {
  const YamlNode* node = block.get("cost");
  if (node == nullptr) {
    block.missing("cost");
    return;
  }
  Reader reader(node, "cost", block.report());
  Cost& cost = contract.cost;
  const std::size_t before = block.report().errors();
  const auto word = read_class(reader);
  cost.cost_class = word.value_or(std::string(fallback_class));
  cost.flops = read_price(reader, "flops", contract);
  cost.bytes_moved = read_price(reader, "bytes_moved", contract);
  cost.overhead_ns = read_price(reader, "overhead_ns", contract);
  read_memory(reader, contract);
  cost.cost_fn = reader.text("cost_fn");
  // An expression that did not parse was meant to price something.
  if (block.report().errors() == before)
    check_provenance(reader, word.has_value(), cost);
  else
    reader.get("provenance");
  reader.finish();
}

}  // namespace convoke::contract

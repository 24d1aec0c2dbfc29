// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/block.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "contract/block_parts.hpp"
#include "contract/hash.hpp"
#include "contract/vocabulary.hpp"

namespace convoke::contract {
namespace {

/// Exactly one of `op_kind` and `fused_op`, and a name that somebody knows; a described section need not have either.
void read_target(Reader& block, Contract& contract) {
  contract.op_kind = block.text("op_kind");
  contract.fused_op = block.text("fused_op");
  if (!contract.registrable) return;
  if (contract.op_kind.has_value() == contract.fused_op.has_value()) {
    block.error(contract.op_kind ? "fused_op" : "kernel",
                {"2", "OpTargetAmbiguous",
                 contract.op_kind ? "`op_kind` and `fused_op` both stand here" : "neither `op_kind` nor `fused_op`",
                 "exactly one of them"});
  } else if (contract.op_kind && !is_op_kind(*contract.op_kind)) {
    block.error("op_kind", {"3", "UnknownOpKind", fmt::format("`{}` is no operator", *contract.op_kind),
                            nearest_or(*contract.op_kind, op_kind_words(), "such as Conv2D or ConvTranspose2D")});
  } else if (contract.fused_op && !is_fused_op(*contract.fused_op)) {
    block.error("fused_op", {"3", "UnknownFusedOp", fmt::format("`{}` is no fused operator", *contract.fused_op),
                             nearest_or(*contract.fused_op, fused_op_words(), "such as CONV2D")});
  }
}

void read_blurb(Reader& block, Contract& contract) {
  const std::size_t before = block.report().errors();
  contract.blurb = block.text("blurb").value_or("");
  if (block.report().errors() != before) return;
  if (contract.blurb.empty())
    block.error("blurb", {"2", "MissingBlurb", "`blurb` is required", "one line of text"});
  else if (contract.blurb.find('\n') != std::string::npos)
    block.error("blurb", {"3", "BadScalarType", "`blurb` has more than one line", "one line of text"});
}

void read_entry_point(Reader& block, Contract& contract) {
  const auto symbol = block.required("entry_point");
  check_name(block, "entry_point");
  if (!symbol) return;
  contract.entry_point = *symbol;
  contract.entry_point_at = block.report().place(block.place("entry_point"));
  const bool hex = symbol->starts_with("0x") &&
                   std::ranges::all_of(symbol->substr(2), [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (hex || std::ranges::all_of(*symbol, [](unsigned char c) { return std::isdigit(c) != 0; }))
    block.error("entry_point", {"12", "PointerDisallowed", fmt::format("`{}` is an address, not a symbol", *symbol),
                                "the name of a symbol"});
}

/// YAML readers take a bare run of digits for a number and lose its leading zeros or its last bits.
bool looks_numeric(std::string_view text) {
  return text.starts_with("0x") || text.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

void read_revision(Reader& block, const YamlNode& root, std::string_view base, Contract& contract) {
  const auto text = block.text("kernel_revision_hash");
  contract.revision = revision_hash(root, base);
  if (!text || *text == "auto") return;
  const YamlNode& node = *block.get("kernel_revision_hash");
  std::string_view digits = *text;
  if (digits.starts_with("0x")) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (whole && !(node.plain && looks_numeric(*text))) {
    contract.revision = value;
    return;
  }
  block.error("kernel_revision_hash", {"3", "BadScalarType", fmt::format("`kernel_revision_hash` is `{}`", *text),
                                       "auto, or up to 16 hexadecimal digits in quotes"});
}

void read_origin(Reader& block, const Provider* provider, Contract& contract) {
  if (provider != nullptr) contract.backend = provider->backend;
  if (provider != nullptr) contract.kernel_source = provider->kernel_source;
  if (const auto backend = read_choice(block, "backend", backend_words, "", "UnknownBackend"))
    contract.backend = *backend;
  if (const auto source = block.text("kernel_source"); source && !source->empty()) contract.kernel_source = *source;
  check_name(block, "kernel_source");
}

/// The operands need the kernel-wide strategy, so `caps` is opened first.
void read_interface(Reader& block, Contract& contract) {
  Reader caps(block.get("caps"), "caps", block.report());
  const std::size_t before = block.report().errors();
  const auto strategy = read_choice(caps, "awkward_layout_strategy", strategy_words, "5", "AwkwardStrategyIncoherent");
  contract.caps.strategy = strategy.value_or(AwkwardStrategy::requires_contiguous);
  OperandContext context{contract.registrable, contract.caps.strategy};
  if (block.report().errors() != before) context.strategy.reset();
  const YamlNode* node = block.get("accept");
  Reader accept(node, "accept", block.report());
  if (node == nullptr && contract.registrable)
    block.missing("accept");
  else
    contract.inputs = read_inputs(accept, context);
  read_params(accept, contract);
  accept.finish();
  read_caps(caps, contract);
  caps.finish();
}

}  // namespace

Contract read_block(const YamlNode& root, const Provider* provider, Report& report) {
  Reader block(&root, "", report);
  Contract contract;
  contract.kernel = block.required("kernel").value_or("");
  check_name(block, "kernel");
  contract.registrable = block.flag("registrable").value_or(true);
  read_target(block, contract);
  read_blurb(block, contract);
  read_origin(block, provider, contract);
  read_entry_point(block, contract);
  contract.variant = block.text("variant").value_or("");
  const std::size_t before = report.errors();
  read_interface(block, contract);
  // What refers to inputs by name is judged only when they are known.
  read_return(block, contract);
  const bool roles_known = report.errors() == before;
  if (roles_known) check_keys(block, contract);
  read_cost(block, contract);
  read_precision(block, contract);
  read_additions(block, contract);
  if (roles_known) check_scope(root, contract, report);
  const bool based = provider != nullptr && provider->revision_base.has_value();
  read_revision(block, root, based ? std::string_view(*provider->revision_base) : std::string_view(), contract);
  block.finish();
  return contract;
}

}  // namespace convoke::contract

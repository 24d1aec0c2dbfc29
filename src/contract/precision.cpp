// SPDX-License-Identifier: Apache-2.0 OR MIT
// precision and determinism: what is claimed, lowered to one claim (docs/format.md, A block), and rule 9.
#include <fmt/core.h>

#include "contract/block_parts.hpp"

namespace convoke::contract {
namespace {

/// What the block says, before lowering.
struct Declared {
  std::optional<bool> bit_stable;
  bool bounded = false;
};

Declared read_claims(Reader& reader, Precision& precision) {
  Declared declared;
  declared.bit_stable = reader.flag("bit_stable_on_same_hardware");
  precision.max_ulp = reader.natural("max_ulp");
  precision.max_relative = reader.real("max_relative");
  precision.max_absolute = reader.real("max_absolute");
  precision.audited = reader.flag("audited");
  precision.notes = reader.text("notes").value_or("");
  declared.bounded = precision.max_ulp || precision.max_relative || precision.max_absolute;
  return declared;
}

void lower(Reader& reader, const Declared& declared, Precision& precision) {
  precision.bit_stable = declared.bit_stable.value_or(false);
  if (declared.bounded) {
    precision.claim = PrecisionClaim::bounded;
  } else if (precision.audited == false) {
    precision.claim = PrecisionClaim::unaudited;
    precision.bit_stable = false;
  } else if (precision.bit_stable) {
    precision.claim = PrecisionClaim::stable;
  } else {
    precision.claim = PrecisionClaim::none;
    if (!precision.audited && precision.notes.empty())
      reader.error("", {"9", "PlaceholderPrecision", "`precision` claims nothing and does not say why",
                        "a bound, `bit_stable_on_same_hardware: true`, `audited` or `notes`"});
  }
}

/// Determinism and precision must tell the same story.
void cross_check(Reader& reader, const Declared& declared, const Contract& contract) {
  const bool stable = declared.bit_stable.value_or(false);
  if (contract.determinism != Determinism::nondeterministic) {
    if (stable) return;
    const std::string_view word = word_of(contract.determinism);
    reader.error(
        "bit_stable_on_same_hardware",
        {"9", "DeterminismIncoherent", fmt::format("`determinism: {}` needs `bit_stable_on_same_hardware: true`", word),
         "`bit_stable_on_same_hardware: true`, or `determinism: nondeterministic`"});
    return;
  }
  if (stable)
    reader.error(
        "bit_stable_on_same_hardware",
        {"9", "DeterminismIncoherent", "`determinism: nondeterministic` needs `bit_stable_on_same_hardware: false`",
         "`bit_stable_on_same_hardware: false`, or another `determinism`"});
  if (contract.precision.audited != true)
    reader.error("audited", {"9", "UnauditedPrecision", "`determinism: nondeterministic` needs `audited: true`",
                             "`audited: true`"});
  if (declared.bounded)
    reader.warning("", {"9", "DeterminismIncoherent", "a nondeterministic kernel should carry no bounds",
                        "no `max_ulp`, `max_relative` or `max_absolute`"});
}

}  // namespace

void read_precision(Reader& block, Contract& contract) {
  const YamlNode* node = block.get("precision");
  const std::size_t start = block.report().errors();
  const auto determinism = read_choice(block, "determinism", determinism_words, "9", "UnknownAdmissibilityEnum");
  if (determinism)
    contract.determinism = *determinism;
  else if (block.report().errors() == start)
    block.missing("determinism");
  if (node == nullptr) {
    block.missing("precision");
    return;
  }
  Reader reader(node, "precision", block.report());
  const std::size_t before = block.report().errors();
  const Declared declared = read_claims(reader, contract.precision);
  reader.finish();
  if (block.report().errors() != before) return;
  lower(reader, declared, contract.precision);
  if (determinism && block.report().errors() == before) cross_check(reader, declared, contract);
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The descriptor extension of an operand: packing, quantisation, paged storage, symbolic extents. We run none of these;
// what is written must still be coherent (rules 3, 6, 14, 15 and 16).
#include <fmt/core.h>

#include <algorithm>

#include "contract/block_parts.hpp"
#include "contract/vocabulary.hpp"

namespace convoke::contract {
namespace {

enum class SymbolicExtent { rejected, tolerated, required };
constexpr std::array symbolic_words = {
    Meaning<SymbolicExtent>{"rejected", SymbolicExtent::rejected},
    Meaning<SymbolicExtent>{"tolerated", SymbolicExtent::tolerated},
    Meaning<SymbolicExtent>{"required", SymbolicExtent::required},
};
enum class ExtentKind { rejected, scalar, range, affine };
constexpr std::array extent_words = {
    Meaning<ExtentKind>{"rejected", ExtentKind::rejected},
    Meaning<ExtentKind>{"scalar", ExtentKind::scalar},
    Meaning<ExtentKind>{"range", ExtentKind::range},
    Meaning<ExtentKind>{"affine", ExtentKind::affine},
};
enum class GatherKind { paged_blocks };
constexpr std::array gather_words = {Meaning<GatherKind>{"paged_blocks", GatherKind::paged_blocks}};

struct Quant {
  std::string family;
  std::optional<std::string> ggml_dtype, granularity, scale_operand;
  bool has_block_shape = false;
};

/// Rule 16: words of the descriptor's own tables.
bool words_known(Reader& reader, const Quant& quant) {
  const std::size_t before = reader.report().errors();
  const auto unknown = [&](std::string_view key, std::string_view token, std::string_view accepted) {
    reader.error(
        key, {"16", "FdxTokenNotInTable", fmt::format("`{}` is `{}`", reader.name(key), token), std::string(accepted)});
  };
  if (!is_quant_family(quant.family))
    unknown("family", quant.family, "none, GGML_BLOCK, MX, AFFINE_INT, AFFINE_FLOAT or AFFINE_BLOCK");
  if (quant.granularity && !is_granularity(*quant.granularity))
    unknown("granularity", *quant.granularity, "PerTensor, PerToken, PerChannel or PerBlock");
  if (quant.ggml_dtype && !is_ggml_dtype(*quant.ggml_dtype))
    unknown("ggml_dtype", *quant.ggml_dtype, "a block format such as Q4_0, Q8_0 or Q4K");
  return reader.report().errors() == before;
}

/// A scale stands in one place: inline in the blocks, or in an input of its own that exists.
void check_scale(Reader& reader, const Quant& quant, const std::vector<std::string>& roles) {
  if (!quant.scale_operand) return;
  const auto twice = [&](std::string message, std::string accepted) {
    reader.error("scale_operand", {"6", "ScaleDoubleDeclared", std::move(message), std::move(accepted)});
  };
  if (std::ranges::find(roles, *quant.scale_operand) == roles.end())
    twice(fmt::format("`scale_operand` names `{}`, which is no input", *quant.scale_operand),
          one_of({roles.begin(), roles.end()}));
  else if (quant.family == "GGML_BLOCK")
    twice("GGML_BLOCK keeps its scale in the blocks and has no `scale_operand`", "no `scale_operand`");
}

/// What each family takes, for the note.
std::string_view family_needs(std::string_view family) noexcept {
  if (family == "GGML_BLOCK") return "`ggml_dtype` and no `granularity`";
  if (family == "MX") return "`granularity: PerBlock`";
  if (family == "AFFINE_BLOCK") return "`block_shape` or a `scale_operand`, and no `granularity: PerBlock`";
  return "`granularity: PerTensor`, `PerToken` or `PerChannel`";
}

/// What each family needs; empty: all well.
std::string family_fault(const Quant& quant) {
  const bool per_block = quant.granularity == "PerBlock";
  if (quant.family == "GGML_BLOCK") {
    if (!quant.ggml_dtype) return "GGML_BLOCK needs a `ggml_dtype`";
    if (quant.granularity) return "GGML_BLOCK has no `granularity`: its grain is that of the block format";
  } else if (quant.family == "AFFINE_INT" || quant.family == "AFFINE_FLOAT") {
    if (!quant.granularity || per_block)
      return fmt::format("{} needs `granularity` PerTensor, PerToken or PerChannel", quant.family);
  } else if (quant.family == "MX") {
    if (!per_block) return "MX needs `granularity: PerBlock`";
  } else if (quant.family == "AFFINE_BLOCK") {
    if (!quant.has_block_shape && !quant.scale_operand) return "AFFINE_BLOCK needs `block_shape` or a `scale_operand`";
    if (per_block) return "AFFINE_BLOCK takes its grain from `block_shape`, not from `granularity: PerBlock`";
  }
  return {};
}

void check_quant(const YamlNode& node, const std::vector<std::string>& roles, bool registrable, std::string_view path,
                 Report& report) {
  Reader reader(&node, path, report);
  Quant quant;
  quant.family = reader.text("family").value_or("none");
  quant.ggml_dtype = reader.text("ggml_dtype");
  quant.granularity = reader.text("granularity");
  quant.scale_operand = reader.text("scale_operand");
  quant.has_block_shape = !reader.words("block_shape").empty();
  reader.text("role");
  reader.finish();
  if (!words_known(reader, quant)) return;
  check_scale(reader, quant, roles);
  if (std::string fault = family_fault(quant); !fault.empty()) {
    reader.error("family", {"6", "QuantIncoherent", std::move(fault), std::string(family_needs(quant.family))});
  } else if (registrable && (quant.family == "MX" || quant.family == "AFFINE_BLOCK")) {
    reader.error("family",
                 {"6", "MxNotYetRegistrable", fmt::format("{} can be described but not registered yet", quant.family),
                  "`registrable: false` for this section"});
  }
}

void check_gather(const YamlNode& node, const std::vector<std::string>& roles, bool extended, bool symbolic,
                  std::string_view path, Report& report) {
  Reader reader(&node, path, report);
  const auto kind = read_choice(reader, "kind", gather_words, "14", "UnknownAdmissibilityEnum");
  const auto block_table = reader.text("block_table");
  const auto context_lens = reader.text("context_lens");
  reader.finish();
  if (!kind) return;
  const auto incoherent = [&](std::string_view key, std::string message, std::string accepted) {
    reader.error(key, {"14", "GatherIncoherent", std::move(message), std::move(accepted)});
  };
  if (!extended)
    incoherent("kind", "paged_blocks needs `fdx.requires_ext: true`", "`requires_ext: true` in this `fdx`");
  if (!symbolic)
    incoherent("kind", "paged_blocks needs `fdx.symbolic_extent: required`",
               "`symbolic_extent: required` in this `fdx`");
  for (const auto& [key, role] : {std::pair{"block_table", block_table}, std::pair{"context_lens", context_lens}})
    if (role && std::ranges::find(roles, *role) == roles.end())
      incoherent(key, fmt::format("`{}` names `{}`, which is no input", key, *role),
                 one_of({roles.begin(), roles.end()}));
}

}  // namespace

void check_fdx(const YamlNode* node, const Operand& operand, const std::vector<std::string>& roles, bool registrable,
               std::string_view path, Position at, Report& report) {
  Reader reader(node, path, report);
  const bool extended = reader.flag("requires_ext").value_or(false);
  const auto sub_byte = reader.text("sub_byte");
  const auto symbolic = read_choice(reader, "symbolic_extent", symbolic_words, "15", "UnknownAdmissibilityEnum");
  const auto extent = read_choice(reader, "extent_kind", extent_words, "15", "UnknownAdmissibilityEnum");
  const YamlNode* quant = reader.get("quant");
  const YamlNode* gather = reader.get("gather");
  const bool is_symbolic = symbolic == SymbolicExtent::required;
  if (sub_byte && !is_dtype(*sub_byte))
    reader.error("sub_byte",
                 {"16", "FdxTokenNotInTable", fmt::format("`{}` is no dtype", *sub_byte), "F4, F6E2M3 or F6E3M2"});
  if (quant != nullptr) check_quant(*quant, roles, registrable, reader.name("quant"), report);
  if (gather != nullptr) check_gather(*gather, roles, extended, is_symbolic, reader.name("gather"), report);
  if ((extent == ExtentKind::range || extent == ExtentKind::affine) && !is_symbolic)
    reader.error("extent_kind", {"15", "UnknownAdmissibilityEnum",
                                 fmt::format("`extent_kind: {}` needs `symbolic_extent: required`",
                                             extent == ExtentKind::range ? "range" : "affine"),
                                 "`symbolic_extent: required`, or another `extent_kind`"});
  if (std::ranges::any_of(operand.dtypes, is_sub_byte) && (!sub_byte || quant == nullptr))
    report.error(at, {"3", "QuantIncoherent", "a dtype of less than a byte needs `fdx.sub_byte` and `fdx.quant`",
                      "`fdx: { sub_byte: ..., quant: { family: ... } }`"});
  if (node != nullptr) reader.finish();
}

}  // namespace convoke::contract

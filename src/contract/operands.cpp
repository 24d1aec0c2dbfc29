// SPDX-License-Identifier: Apache-2.0 OR MIT
// accept.inputs: names, dtypes, ranks, layouts, and rule 5 on the strategy that is in force for each operand.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "contract/block_parts.hpp"
#include "contract/vocabulary.hpp"

namespace convoke::contract {
namespace {

enum class DtypeClass { floating, signed_int, unsigned_int, any };
constexpr std::array class_words = {
    Meaning<DtypeClass>{"float", DtypeClass::floating},
    Meaning<DtypeClass>{"int", DtypeClass::signed_int},
    Meaning<DtypeClass>{"uint", DtypeClass::unsigned_int},
    Meaning<DtypeClass>{"any", DtypeClass::any},
};
enum class Substrate { host, cuda, vulkan, metal };
constexpr std::array substrate_words = {
    Meaning<Substrate>{"HostBytes", Substrate::host},
    Meaning<Substrate>{"CudaUntyped", Substrate::cuda},
    Meaning<Substrate>{"VulkanBuffer", Substrate::vulkan},
    Meaning<Substrate>{"MetalBuffer", Substrate::metal},
};

std::vector<std::string> members(DtypeClass dtype_class) {
  switch (dtype_class) {
    case DtypeClass::floating:
      return {"BF16", "F16", "F32", "F64"};
    case DtypeClass::signed_int:
      return {"I8", "I16", "I32", "I64"};
    case DtypeClass::unsigned_int:
      return {"U8", "U32"};
    case DtypeClass::any:
      break;
  }
  return {};
}

void read_dtypes(Reader& reader, bool registrable, Operand& operand) {
  const std::size_t before = reader.report().errors();
  for (const Word& word : reader.words("dtypes")) {
    if (!is_dtype(word.text))
      reader.report().error(word.at, {"3", "BadDType", fmt::format("`{}` is no dtype", word.text),
                                      "F32, F64, BF16, F16 and the format's other dtypes"});
    operand.dtypes.push_back(word.text);
  }
  const auto dtype_class = read_choice(reader, "dtype_class", class_words, "3", "BadDType");
  if (dtype_class) operand.dtype_class = *reader.text("dtype_class");
  if (operand.dtypes.empty() && dtype_class) operand.dtypes = members(*dtype_class);
  if (operand.dtypes.empty() && registrable && reader.report().errors() == before) reader.missing("dtypes");
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `4`, `any`, `2..=4` or `2..`.
std::optional<RankRange> parse_rank(std::string_view text) {
  if (text == "any") return RankRange{};
  const std::size_t dots = text.find("..");
  const auto min = whole(text.substr(0, dots));
  if (!min) return std::nullopt;
  if (dots == std::string_view::npos) return RankRange{*min, *min};
  std::string_view rest = text.substr(dots + 2);
  if (rest.empty()) return RankRange{*min, std::nullopt};
  if (!rest.starts_with('=')) return std::nullopt;
  const auto max = whole(rest.substr(1));
  if (!max || *max < *min) return std::nullopt;
  return RankRange{*min, *max};
}

void read_rank(Reader& reader, Operand& operand) {
  const auto text = reader.text("rank");
  if (!text) return;
  if (const auto rank = parse_rank(*text))
    operand.rank = *rank;
  else
    reader.error("rank", {"", "BadRank", fmt::format("`{}` is no rank", *text), "a number, any, \"2..=4\" or \"2..\""});
}

/// Rule 5: what happens to an awkward view must agree with what the operand's own flags admit.
void check_strategy(Reader& layout, const LayoutFlags& flags, AwkwardStrategy strategy, bool own) {
  const std::string_view origin = own ? "" : ", in force for the whole kernel,";
  const auto incoherent = [&](std::string_view word, std::string_view wants) {
    // What these flags do agree with.
    const std::string_view others = flags.strided ? "`handles_strided`"
                                    : flags.contiguous == Contiguity::required
                                        ? "`requires_contiguous`"
                                        : "another strategy with flags that agree";
    layout.error(own ? "awkward_layout_strategy" : "",
                 {"5", "AwkwardStrategyIncoherent", fmt::format("`{}`{} needs `{}` here", word, origin, wants),
                  fmt::format("`{}`, or {}", wants, others)});
  };
  switch (strategy) {
    case AwkwardStrategy::requires_contiguous:
      if (flags.contiguous != Contiguity::required) incoherent("requires_contiguous", "contiguous: required");
      break;
    case AwkwardStrategy::handles_strided:
      if (!flags.strided) incoherent("handles_strided", "strided: accepted");
      break;
    case AwkwardStrategy::contiguize_internally:
      if (!flags.strided) incoherent("contiguize_internally", "strided: accepted");
      break;
  }
}

void read_operand_layout(Reader& reader, const OperandContext& context, Operand& operand) {
  const YamlNode* node = reader.get("layout");
  if (node == nullptr) return;
  Reader layout(node, reader.name("layout"), reader.report());
  bool coherent = true;
  operand.layout = read_layout(layout, coherent);
  const std::size_t before = reader.report().errors();
  operand.strategy = read_choice(layout, "awkward_layout_strategy", strategy_words, "5", "AwkwardStrategyIncoherent");
  const bool own = operand.strategy.has_value();
  const std::optional<AwkwardStrategy> effective = own ? operand.strategy : context.strategy;
  if (coherent && effective && reader.report().errors() == before)
    check_strategy(layout, *operand.layout, *effective, own);
  layout.finish();
}

Operand read_operand(const YamlNode& node, std::size_t index, const OperandContext& context,
                     const std::vector<std::string>& roles, Report& report) {
  Reader reader(&node, fmt::format("accept.inputs[{}]", index), report);
  Operand operand;
  operand.name = reader.text("name").value_or("<input>");
  operand.optional = reader.flag("optional").value_or(false);
  read_dtypes(reader, context.registrable, operand);
  read_rank(reader, operand);
  read_operand_layout(reader, context, operand);
  operand.shape_constraint =
      read_constraint(reader, "shape_constraint", Constraint::Dialect::shape, operand.name, "ShapeConstraintParse");
  operand.layout_constraint =
      read_constraint(reader, "layout_constraint", Constraint::Dialect::layout, operand.name, "LayoutConstraintParse");
  read_choice(reader, "device", backend_words, "", "UnknownBackend");
  read_choice(reader, "substrate", substrate_words, "", "UnknownAdmissibilityEnum");
  check_fdx(reader.get("fdx"), operand, roles, context.registrable, reader.name("fdx"), reader.at(), report);
  reader.finish();
  return operand;
}

std::vector<std::string> role_names(const std::vector<YamlNode>& items) {
  std::vector<std::string> roles;
  for (const YamlNode& item : items)
    if (const YamlNode* name = item.find("name"); name != nullptr) roles.emplace_back(trim(name->value));
  return roles;
}

}  // namespace

std::vector<Operand> read_inputs(Reader& accept, const OperandContext& context) {
  std::vector<Operand> inputs;
  const std::size_t before = accept.report().errors();
  const std::vector<YamlNode>* items = accept.list("inputs");
  if (items == nullptr || items->empty()) {
    if (context.registrable && accept.report().errors() == before) accept.missing("inputs");
    return inputs;
  }
  if (items->size() > max_operands)
    accept.error("inputs",
                 {"", "TooManyOperands", fmt::format("{} inputs; the limit is {}", items->size(), max_operands),
                  fmt::format("at most {}", max_operands)});
  const std::vector<std::string> roles = role_names(*items);
  for (std::size_t i = 0; i < std::min(items->size(), max_operands); ++i) {
    Operand operand = read_operand((*items)[i], i, context, roles, accept.report());
    if (std::ranges::find(inputs, operand.name, &Operand::name) != inputs.end())
      accept.report().error((*items)[i].at,
                            {"", "DuplicateRole", fmt::format("two inputs are called `{}`", operand.name),
                             "a name of its own for each input"});
    if (operand.optional && i + 1 < items->size())
      accept.report().error((*items)[i].at, {"", "OptionalOperandNotLast",
                                             fmt::format("`{}` is optional but not the last input", operand.name),
                                             "`optional: true` on the last input only"});
    inputs.push_back(std::move(operand));
  }
  return inputs;
}

}  // namespace convoke::contract

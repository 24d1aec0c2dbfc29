// SPDX-License-Identifier: Apache-2.0 OR MIT
// Rules 7 and 8, "in scope": a name in a cost or a constraint that nothing gives a value is one that never holds. Only
// of the operators that we run do we know every name; what other operators use is theirs.
#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>

#include "contract/block_parts.hpp"
#include "contract/vocabulary.hpp"

namespace convoke::contract {
namespace {

constexpr auto known_operators = std::to_array<std::string_view>(
    {"Conv2D", "ConvTranspose2D", "Contiguize", "CopyOut", "Cast", "Pack", "Upload", "Download"});
constexpr auto convolution_sizes =
    std::to_array<std::string_view>({"N", "Cin", "H_in", "W_in", "Cout", "H_out", "W_out", "Kh", "Kw"});
constexpr auto functions = std::to_array<std::string_view>({"product", "prod", "sum", "min", "max", "ceil_div"});

const YamlNode* descend(const YamlNode* node, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path)
    if (node != nullptr) node = node->find(key);
  return node;
}

/// Elements of a value of `kind`: 4 of `[usize; 4]`, 2 of `(usize, usize)`, none of `usize`; nullopt: nobody knows.
std::optional<std::int64_t> length_of(std::string_view kind) {
  kind = trim(kind);
  if (kind.starts_with('(') && kind.ends_with(')')) return std::ranges::count(kind, ',') + 1;
  if (kind == "usize" || kind == "u32" || kind == "u64" || kind == "bool" || kind == "f32" || kind == "f64") return 0;
  const std::size_t semicolon = kind.find(';');
  if (!kind.starts_with('[') || !kind.ends_with(']') || semicolon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = trim(kind.substr(semicolon + 1, kind.size() - semicolon - 2));
  if (digits.size() != 1 || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  return digits[0] - '0';
}

class ScopeCheck {
 public:
  ScopeCheck(const Contract& contract, Report& report) : contract_(&contract), report_(&report) {
    convolution_ = contract.op_kind->starts_with("Conv");
    for (const Operand& input : contract.inputs) roles_.push_back(input.name);
    for (const Output& output : contract.outputs) roles_.push_back(output.name);
    for (const Field& field : contract.fields) values_.push_back(field.name);
    for (std::string_view rest = variant_fields(*contract.op_kind); !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      if (std::ranges::find(values_, name) == values_.end()) values_.push_back(name);
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
    if (convolution_) values_.insert(values_.end(), convolution_sizes.begin(), convolution_sizes.end());
    values_.push_back("dtype_bytes");
  }

  void constraint(const YamlNode* node, const std::optional<Constraint>& text, std::string_view own_role) {
    if (text) check(node, *text, "7", own_role, values_);
  }
  void cost(const YamlNode* node, const std::optional<CostExpression>& text) {
    if (text) size(node, *text, {"n", "threads"});
  }
  /// An amount that may name what no constraint can: `more`.
  void size(const YamlNode* node, const CostExpression& text, std::initializer_list<std::string_view> more) {
    Names values = values_;
    values.insert(values.end(), more);
    check(node, text, "8", {}, values);
  }

 private:
  using Names = std::vector<std::string_view>;

  template <class Text>
  void check(const YamlNode* node, const Text& text, std::string_view rule, std::string_view own_role,
             const Names& values) {
    if (node == nullptr) return;
    for (const Name& name : text.names()) {
      const auto& known = name.kind == Name::Kind::operand    ? roles_
                          : name.kind == Name::Kind::function ? functions_
                                                              : values;
      if (std::ranges::find(known, name.text) != known.end()) continue;
      const std::string_view what = name.kind == Name::Kind::operand    ? "is no operand"
                                    : name.kind == Name::Kind::function ? "is no function"
                                                                        : "has no value";
      warn(inside(*node, name.offset), rule,
           fmt::format("`{}` {} here{}", name.text, what, did_you_mean(name.text, known)), one_of(known));
    }
    for (const Access& access : text.accesses()) check_access(*node, access, rule, own_role);
  }

  void check_access(const YamlNode& node, const Access& access, std::string_view rule, std::string_view own_role) {
    const bool operand = access.kind == Name::Kind::operand;
    const std::string_view name = access.name.empty() ? own_role : std::string_view(access.name);
    const auto size = operand ? rank_of(name) : length(name);
    if (!size || (access.index < *size && access.index >= -*size)) return;
    const std::string_view parts = operand ? "axes" : "elements";
    const std::string message =
        *size == 0 ? fmt::format("`{}` is a single value", name) : fmt::format("`{}` has {} {}", name, *size, parts);
    warn(inside(node, access.offset), rule, fmt::format("{}; there is no [{}]", message, access.index),
         *size == 0 ? fmt::format("{} without an index", name) : fmt::format("an index of {} to {}", 0, *size - 1));
  }

  std::optional<std::int64_t> rank_of(std::string_view role) const {
    for (const Operand& input : contract_->inputs)
      if (input.name == role) return input.rank.max;
    const auto output = std::ranges::find(contract_->outputs, role, &Output::name);
    return output != contract_->outputs.end() && convolution_ ? std::optional<std::int64_t>(4) : std::nullopt;
  }

  std::optional<std::int64_t> length(std::string_view name) const {
    for (const Field& field : contract_->fields)
      if (field.name == name && !field.kind.empty()) return length_of(field.kind);
    if (std::ranges::find(values_, name) == values_.end() || !convolution_) return std::nullopt;
    if (name.ends_with("_shape")) return 4;
    return name == "stride" || name.ends_with("padding") || name == "dilation" ? 2 : 0;
  }

  void warn(Position at, std::string_view rule, std::string message, std::string accepted) {
    report_->warning(at, {rule, "UnknownSymbol", std::move(message), std::move(accepted)});
  }

  const Contract* contract_;
  Report* report_;
  bool convolution_ = false;
  Names roles_, values_;
  const Names functions_{functions.begin(), functions.end()};
};

void check_operands(const YamlNode& root, const Contract& contract, ScopeCheck& check) {
  const YamlNode* inputs = descend(&root, {"accept", "inputs"});
  for (std::size_t i = 0; i < contract.inputs.size(); ++i) {
    const Operand& operand = contract.inputs[i];
    const YamlNode* node = &inputs->items[i];
    check.constraint(descend(node, {"shape_constraint"}), operand.shape_constraint, operand.name);
    check.constraint(descend(node, {"layout_constraint"}), operand.layout_constraint, operand.name);
  }
  const YamlNode* outputs = descend(&root, {"return", contract.bundle ? "bundle" : "outputs"});
  for (std::size_t i = 0; i < contract.outputs.size(); ++i)
    check.constraint(descend(&outputs->items[i], {"layout_constraint"}), contract.outputs[i].layout_constraint,
                     contract.outputs[i].name);
  const YamlNode* fields = descend(&root, {"accept", "op_params", "fields"});
  for (const Field& field : contract.fields)
    check.constraint(descend(fields, {field.name, "constraint"}), field.constraint, {});
}

}  // namespace

void check_scope(const YamlNode& root, const Contract& contract, Report& report) {
  if (!contract.registrable || !contract.op_kind) return;
  if (std::ranges::find(known_operators, *contract.op_kind) == known_operators.end()) return;
  ScopeCheck check(contract, report);
  check_operands(root, contract, check);
  const Cost& cost = contract.cost;
  check.cost(descend(&root, {"cost", "flops"}), cost.flops);
  check.cost(descend(&root, {"cost", "bytes_moved"}), cost.bytes_moved);
  check.cost(descend(&root, {"cost", "overhead_ns"}), cost.overhead_ns);
  check.cost(descend(&root, {"cost", "memory", "device_bytes"}), cost.device_bytes);
  check.cost(descend(&root, {"cost", "memory", "host_bytes"}), cost.host_bytes);
  check.cost(descend(&root, {"cost", "memory", "disk_bytes"}), cost.disk_bytes);
  check.cost(descend(&root, {"workspace_bytes"}), contract.workspace_bytes);
  // What one plan packed, plans for other numbers of threads take too.
  if (contract.packing) check.size(descend(&root, {"packing", "bytes"}), contract.packing->bytes, {"n"});
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bind/binding_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "bind/link_registry.hpp"

namespace convoke::bind {
namespace {

constexpr std::array<std::pair<Operator, std::string_view>, 8> operators = {{
    {Operator::conv2d, "Conv2D"},
    {Operator::conv_transpose2d, "ConvTranspose2D"},
    {Operator::contiguize, "Contiguize"},
    {Operator::copy_out, "CopyOut"},
    {Operator::cast, "Cast"},
    {Operator::pack, "Pack"},
    {Operator::upload, "Upload"},
    {Operator::download, "Download"},
}};

// Whether the key's operands are what the function takes; the error completes "entry_point X ...".
tl::expected<void, std::string> check_signature(const convoke_entry& entry, const contract::Contract& contract,
                                                const contract::Key& key, const Binding& binding) {
  const auto op = static_cast<Operator>(entry.op);
  if (op != binding.op) return tl::unexpected(fmt::format("computes {}, not {}", token_of(op), token_of(binding.op)));
  const std::size_t inputs = contract.inputs.size() - (key.optional_present ? 0 : 1);
  const bool arity = convolves(op) ? inputs == 2 || inputs == 3 : inputs == 1;
  if (!arity || contract.outputs.size() != 1 || key.dtypes.size() != inputs + 1)
    return tl::unexpected(
        fmt::format("takes {} and writes one output; this key has {} inputs, {} outputs and {} dtypes",
                    convolves(op) ? "x, weight and perhaps bias" : "one input", inputs, contract.outputs.size(),
                    key.dtypes.size()));
  for (std::size_t i = 0; i < binding.dtypes.size(); ++i) {
    const auto wanted = static_cast<DType>(i < inputs ? entry.input_dtype : entry.output_dtype);
    if (binding.dtypes[i] != wanted)
      return tl::unexpected(fmt::format("wants {} as {} {}, this key has {}", convoke::name_of(wanted),
                                        i < inputs ? "input" : "output", i < inputs ? i : i - inputs,
                                        convoke::name_of(binding.dtypes[i])));
  }
  return {};
}

std::string where(const contract::ParsedDocument& document, const contract::Contract& contract) {
  return fmt::format("{}:{}: {}", document.path, contract.line, contract.kernel);
}

// What the key says of itself: operator, dtypes and identity.
Result<Binding> described(const contract::ParsedDocument& document, const contract::Contract& contract,
                          const contract::Key& key) {
  Binding binding;
  const std::optional<Operator> op = operator_of(contract.op_kind.value_or(""));
  if (!op)
    return fail(ErrorCode::not_found, "op_kind", {named("op_kind", contract.op_kind.value_or(""))},
                "{}: operator '{}' is outside the scope; there are: Conv2D, ConvTranspose2D, Contiguize, CopyOut, "
                "Cast, Pack, Upload, Download",
                where(document, contract), contract.op_kind.value_or(contract.fused_op.value_or("")));
  for (const std::string& token : key.dtypes) {
    const std::optional<DType> dtype = parse_dtype(token);
    if (!dtype)
      return fail(ErrorCode::not_found, "dtypes", {named("dtype", token)},
                  "{}: dtype '{}' is outside the scope; there are: F32, F64, BF16, F16", where(document, contract),
                  token);
    binding.dtypes.push_back(*dtype);
  }
  binding.op = *op;
  binding.optional_present = key.optional_present;
  binding.id = impl_id(contract, key);
  binding.document = document.path;
  return binding;
}

}  // namespace

std::optional<Operator> operator_of(std::string_view op_kind) noexcept {
  for (const auto& [op, token] : operators)
    if (token == op_kind) return op;
  return std::nullopt;
}

std::span<const Operator> all_operators() noexcept {
  static constexpr auto all = [] {
    std::array<Operator, operators.size()> list{};
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = operators[i].first;
    return list;
  }();
  return all;
}

std::string_view token_of(Operator op) noexcept {
  for (const auto& [candidate, token] : operators)
    if (candidate == op) return token;
  return "?";
}

std::string_view name_of(contract::Backend backend) noexcept {
  switch (backend) {
    case contract::Backend::cpu:
      return "cpu";
    case contract::Backend::cuda:
      return "cuda";
    case contract::Backend::vulkan:
      return "vulkan";
    case contract::Backend::metal:
      return "metal";
  }
  return "?";
}

std::string impl_id(const contract::Contract& contract, const contract::Key& key) {
  std::string dtypes = fmt::format("{}", fmt::join(key.dtypes, ","));
  for (char& c : dtypes) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return fmt::format("{}/{}/{}/{}#{:08x}", name_of(contract.backend), contract.kernel_source, contract.kernel, dtypes,
                     contract.revision >> 32);
}

// Finds the function through the registry that the document names, and checks that it takes this key.
Result<void> BindingTable::link(const contract::ParsedDocument& document, const contract::Contract& contract,
                                const contract::Key& key, std::uint32_t host_isa, Binding& binding) const {
  const std::string name = document.provider->link_registry.value_or("convoke");
  const auto provider = std::ranges::find(providers_, name, &Provider::link_registry);
  const LinkRegistry* registry = find_registry(name);
  if (provider == providers_.end() && registry == nullptr)
    return fail(ErrorCode::not_found, "link_registry", {named("link_registry", name)},
                "{}: link_registry '{}' is not known here; there are: {}", where(document, contract), name,
                registry_names());
  const Resolution resolution = provider != providers_.end() ? resolve_in(provider->entries, key.symbol, host_isa)
                                                             : registry->resolve(key.symbol, host_isa);
  if (!resolution.known)
    return fail(ErrorCode::not_found, "UnknownEntryPoint", {named("entry_point", key.symbol)},
                "{}: entry_point '{}' is not in the registry '{}'", where(document, contract), key.symbol, name);
  if (resolution.entry != nullptr) {
    if (auto fits = check_signature(*resolution.entry, contract, key, binding); !fits)
      return fail(ErrorCode::invalid_document, "SignatureMismatch", {named("entry_point", key.symbol)},
                  "{}: entry_point '{}' {}", where(document, contract), key.symbol, fits.error());
  }
  binding.function = resolution.function();
  binding.missing_isa = resolution.missing_isa;
  if (provider != providers_.end() && provider->backend == contract.backend) binding.device = provider->device;
  return {};
}

Result<void> BindingTable::add(const contract::ParsedDocument& document, bool foreign, std::uint32_t host_isa) {
  for (const contract::Contract& value : document.contracts) {
    auto contract = std::make_shared<const contract::Contract>(value);
    for (const contract::Key& key : contract::keys(*contract)) {
      if (auto added = add_key(document, contract, key, foreign, host_isa); !added) return added;
    }
  }
  return {};
}

Result<void> BindingTable::add_key(const contract::ParsedDocument& document,
                                   std::shared_ptr<const contract::Contract> contract, const contract::Key& key,
                                   bool foreign, std::uint32_t host_isa) {
  auto binding = described(document, *contract, key);
  if (!binding) return tl::unexpected(binding.error());
  if (auto linked = link(document, *contract, key, host_isa, *binding); !linked) return linked;
  binding->foreign = foreign;
  for (std::size_t i = 0; i < bindings_.size() && binding->function != nullptr; ++i) {
    const Binding& other = bindings_[i];
    if (other.function != binding->function || other.op != binding->op || other.dtypes != binding->dtypes) continue;
    if (other.contract->kernel_source == contract->kernel_source && other.contract->backend == contract->backend)
      return fail(ErrorCode::invalid_document, "DuplicateKernelRef", {named("kernel", other.id)},
                  "{}: the same function is already bound at this key and kernel_source by {} of {}; a sibling needs "
                  "its own kernel_source",
                  where(document, *contract), other.id, other.document);
    if (!binding->alias_of) binding->alias_of = other.alias_of.value_or(i);
  }
  if (std::ranges::find(bindings_, binding->id, &Binding::id) != bindings_.end())
    return fail(ErrorCode::invalid_document, "DuplicateImplId", {named("id", binding->id)},
                "{}: another kernel has the ImplId {} already; give this one a kernel_source or name of its own",
                where(document, *contract), binding->id);
  binding->contract = std::move(contract);
  bindings_.push_back(*std::move(binding));
  return {};
}

}  // namespace convoke::bind

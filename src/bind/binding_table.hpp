// SPDX-License-Identifier: Apache-2.0 OR MIT
// Everything that can be planned: one binding for each key of each registrable contract, siblings kept side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/geometry.hpp"
#include "contract/contract.hpp"
#include "convoke/catalog.hpp"
#include "convoke/error.hpp"
#include "convoke/tensor.hpp"
#include "kernels/common/kernel.h"

namespace convoke::bind {

/// Operators the planner knows, numbered as convoke_operator. Contracts of other operators cannot be bound here.
enum class Operator {
  conv2d = CONVOKE_CONV2D,
  conv_transpose2d = CONVOKE_CONV_TRANSPOSE2D,
  contiguize = CONVOKE_CONTIGUIZE,
  copy_out = CONVOKE_COPY_OUT,
  cast = CONVOKE_CAST,
  pack = CONVOKE_PACK,
  upload = CONVOKE_UPLOAD,
  download = CONVOKE_DOWNLOAD,
};

/// `Conv2D`, `Contiguize`, ... as contracts spell it; nullopt for other operators.
std::optional<Operator> operator_of(std::string_view op_kind) noexcept;
std::string_view token_of(Operator op) noexcept;
/// Every operator, in the order of the enum.
std::span<const Operator> all_operators() noexcept;
/// The operator that computes `op`.
constexpr Operator operator_of(Op op) noexcept {
  return op == Op::conv2d ? Operator::conv2d : Operator::conv_transpose2d;
}

constexpr bool convolves(Operator op) noexcept { return op == Operator::conv2d || op == Operator::conv_transpose2d; }

/// One kernel at one dispatch key.
struct Binding {
  std::shared_ptr<const contract::Contract> contract;
  Operator op = Operator::conv2d;
  std::vector<DType> dtypes;               ///< of the key: inputs, then outputs
  bool optional_present = true;            ///< whether the key holds the optional last operand
  convoke_host_kernel function = nullptr;  ///< null: known, but not runnable here; see backend and missing_isa
  std::uint32_t missing_isa = 0;
  const convoke_device* device = nullptr;  ///< where its operands lie; null: in host memory
  std::string id;                          ///< ImplId
  std::string document;                    ///< path of the contract
  bool foreign = false;                    ///< not a built-in document
  std::optional<std::size_t> alias_of;     ///< index of the earlier binding that is the same function at this key

  std::size_t input_count() const noexcept { return dtypes.size() - contract->outputs.size(); }
};

/// Kernels that are not part of this library: what their symbols stand for, and the device they run on.
struct Provider {
  std::string link_registry;  ///< the name that documents ask for; goes before a built-in registry of that name
  contract::Backend backend = contract::Backend::cpu;  ///< of the device
  std::span<const convoke_entry> entries;
  const convoke_device* device = nullptr;  ///< null: host kernels; it and `entries` outlive the table
};

class BindingTable {
 public:
  std::span<const Binding> all() const noexcept { return bindings_; }

  /// Documents that are added afterwards may be bound through it.
  void provide(Provider provider) { providers_.push_back(std::move(provider)); }

  /// Adds every key of the document's contracts, linked for a host with `host_isa`. Errors: not_found (unknown
  /// registry, symbol or operator), invalid_document (a key that its function does not take; the same function, key and
  /// kernel_source twice).
  Result<void> add(const contract::ParsedDocument& document, bool foreign, std::uint32_t host_isa);

 private:
  Result<void> add_key(const contract::ParsedDocument& document, std::shared_ptr<const contract::Contract> contract,
                       const contract::Key& key, bool foreign, std::uint32_t host_isa);
  Result<void> link(const contract::ParsedDocument& document, const contract::Contract& contract,
                    const contract::Key& key, std::uint32_t host_isa, Binding& binding) const;
  std::vector<Binding> bindings_;
  std::vector<Provider> providers_;
};

/// Catalog::with_documents, with kernels that are not part of this library.
Result<Catalog> make_catalog(const std::vector<Document>& documents, const std::vector<Provider>& providers);

/// The text of the ImplId of one key, `cpu/portable/conv2d_f32/f32,f32,f32#8ae1404e`: backend, kernel_source, kernel,
/// dtypes of the key, first 8 digits of the revision hash. What globs match and every table prints.
std::string impl_id(const contract::Contract& contract, const contract::Key& key);

/// `cpu`, `cuda`, `vulkan` or `metal`.
std::string_view name_of(contract::Backend backend) noexcept;

}  // namespace convoke::bind

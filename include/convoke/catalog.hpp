// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/error.hpp"
#include "convoke/export.hpp"

namespace convoke {

class KeyedCache;
namespace bind {
class BindingTable;
}

/// The text of one contract document and the name it goes by in messages.
struct Document {
  std::string path;
  std::string text;
};

/// The kernels a plan may choose from: an immutable set of bindings, made by importing contract documents, and the
/// plans made from it, which are kept. Cheap to copy, safe to use from many threads.
class CONVOKE_API Catalog {
 public:
  /// The built-in contracts, imported on first use.
  static const Catalog& builtin();

  /// The built-in contracts plus `documents`, each bound through the link registry that its front matter names. A
  /// document called `_provider.fkc.md` supplies front matter to the others below its folder. Documents that share a
  /// provider name must agree on its fields. Errors: invalid_document (the message holds every diagnostic, in a
  /// compiler's manner), not_found (a registry or symbol that nothing here provides).
  [[nodiscard]] static Result<Catalog> with_documents(const std::vector<Document>& documents);

  /// ImplIds of all bindings, in registration order, such as `cpu/portable/conv2d_f32/f32,f32,f32,f32#9698b0be`:
  /// backend, kernel_source, kernel, dtypes of the key, first 8 digits of the revision hash.
  [[nodiscard]] std::vector<std::string> impl_ids() const;

  /// For the library itself; not part of the stable API.
  explicit Catalog(std::shared_ptr<const bind::BindingTable> table);
  /// For the library itself; not part of the stable API.
  const bind::BindingTable& table() const noexcept { return *table_; }
  /// For the library itself; not part of the stable API.
  const std::shared_ptr<const bind::BindingTable>& shared_table() const noexcept { return table_; }
  /// For the library itself; not part of the stable API.
  KeyedCache& plans() const noexcept { return *plans_; }

 private:
  std::shared_ptr<const bind::BindingTable> table_;
  std::shared_ptr<KeyedCache> plans_;
};

}  // namespace convoke

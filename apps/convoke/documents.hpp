// SPDX-License-Identifier: Apache-2.0 OR MIT
// Contract documents as the command line names them: files of any name, and folders with the `*.md` in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contract/contract.hpp"
#include "convoke/catalog.hpp"
#include "convoke/error.hpp"

namespace convoke::cli {

/// One document and the `_provider.fkc.md` that applies to it: the nearest one in its folder or above it, no further
/// up than the folder that was named.
struct Source {
  Document document;
  std::optional<contract::InheritedProvider> inherited;
};

/// All documents of `paths`, each folder's in the order of their paths; folders are walked to the bottom, hidden
/// entries left out. A file found twice is read once. Errors: io, and not_found where a folder holds no `*.md`.
Result<std::vector<Source>> read_sources(const std::vector<std::string>& paths);

/// The same for importing: `_provider.fkc.md` files first, then the documents they apply to.
Result<std::vector<Document>> read_documents(const std::vector<std::string>& paths);

/// The built-in kernels and those of the documents at `paths`.
Result<Catalog> catalog_with(const std::vector<std::string>& paths);

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Contract documents as the command line names them: files of any name, and folders with the `*.md` in them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/convoke/output.hpp"
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

/// A path that gave no document, and why.
struct Unreadable {
  std::string path;
  Error error;
};

struct Gathered {
  std::vector<Source> sources;
  std::vector<Unreadable> unreadable;
};

/// All documents of `paths` that can be read, and what cannot, each in the order of read_sources().
Gathered gather_sources(const std::vector<std::string>& paths);

/// Says on standard error what could not be read, and makes the exit code 2, where there is such a path.
void add_unreadable(Report& report, const Gathered& gathered);

/// All documents of `paths`, each folder's in the order of their paths; folders are walked to the bottom, hidden
/// entries left out. A file found twice is read once. Errors: io, and not_found where a folder holds no `*.md`.
Result<std::vector<Source>> read_sources(const std::vector<std::string>& paths);

/// The same for importing: `_provider.fkc.md` files first, then the documents they apply to.
Result<std::vector<Document>> read_documents(const std::vector<std::string>& paths);

/// The built-in kernels and those of the documents at `paths`.
Result<Catalog> catalog_with(const std::vector<std::string>& paths);

}  // namespace convoke::cli

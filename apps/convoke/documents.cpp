// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/documents.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/fail.hpp"
#include "base/file.hpp"

namespace convoke::cli {
namespace {

namespace fs = std::filesystem;
using contract::provider_file;

struct Found {
  fs::path file, root;  // root: the folder that was named, or the file's own
};

bool hidden(const fs::path& path) { return path.filename().native().starts_with('.'); }

Result<std::vector<Found>> files_below(const fs::path& folder) {
  std::vector<Found> found;
  std::error_code failure;
  fs::recursive_directory_iterator entry(folder, failure), end;
  while (!failure && entry != end) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (hidden(path)) {
      entry.disable_recursion_pending();
    } else if (path.extension() == ".md" && path.filename() != provider_file && entry->is_regular_file(ignored)) {
      found.push_back({path, folder});
    }
    entry.increment(failure);
  }
  if (failure)
    return fail(ErrorCode::io, "file", {}, "cannot read folder '{}': {}", folder.native(), failure.message());
  if (found.empty())
    return fail(ErrorCode::not_found, "file", {}, "folder '{}' holds no *.md; name the contract documents themselves",
                folder.native());
  std::ranges::sort(found, {}, [](const Found& f) { return f.file.native(); });
  return found;
}

std::vector<Found> find_files(const std::vector<std::string>& paths, std::vector<Unreadable>& unreadable) {
  std::vector<Found> all;
  std::set<fs::path> seen;
  for (const std::string& path : paths) {
    std::vector<Found> here{{path, fs::path(path).parent_path()}};
    if (is_directory(path)) {
      auto below = files_below(path);
      if (!below) unreadable.push_back({path, below.error()});
      here = below ? *std::move(below) : std::vector<Found>();
    }
    for (Found& found : here) {
      std::error_code failure;
      fs::path canonical = fs::canonical(found.file, failure);
      if (seen.insert(failure ? found.file : std::move(canonical)).second) all.push_back(std::move(found));
    }
  }
  return all;
}

// The nearest provider file from the document's folder up to the root.
std::optional<fs::path> provider_of(const Found& found) {
  fs::path folder = found.file.parent_path();
  for (;;) {
    std::error_code ignored;
    const fs::path candidate = folder / provider_file;
    if (fs::is_regular_file(candidate, ignored)) return candidate;
    if (folder == found.root || !folder.has_parent_path() || folder == folder.parent_path()) return std::nullopt;
    folder = folder.parent_path();
  }
}

Result<Source> read_source(const Found& found) {
  auto text = read_file(found.file.native());
  if (!text) return tl::unexpected(text.error());
  Source source{{found.file.native(), *std::move(text)}, std::nullopt};
  if (const auto provider = provider_of(found)) {
    auto inherited = read_file(provider->native());
    if (!inherited) return tl::unexpected(inherited.error());
    source.inherited = contract::InheritedProvider{provider->native(), *std::move(inherited)};
  }
  return source;
}

}  // namespace

Gathered gather_sources(const std::vector<std::string>& paths) {
  Gathered gathered;
  for (const Found& found : find_files(paths, gathered.unreadable)) {
    auto source = read_source(found);
    if (source)
      gathered.sources.push_back(*std::move(source));
    else
      gathered.unreadable.push_back({found.file.native(), source.error()});
  }
  return gathered;
}

void add_unreadable(Report& report, const Gathered& gathered) {
  for (const Unreadable& unreadable : gathered.unreadable) {
    report.wrong += (report.wrong.empty() ? "" : "\n") + unreadable.error.message;
    report.exit = exit_could_not_run;
  }
}

Result<std::vector<Source>> read_sources(const std::vector<std::string>& paths) {
  Gathered gathered = gather_sources(paths);
  if (!gathered.unreadable.empty()) return tl::unexpected(gathered.unreadable.front().error);
  return std::move(gathered.sources);
}

Result<std::vector<Document>> read_documents(const std::vector<std::string>& paths) {
  auto sources = read_sources(paths);
  if (!sources) return tl::unexpected(sources.error());
  std::vector<Document> documents;
  std::set<std::string> seen;
  for (const Source& source : *sources)
    if (source.inherited && seen.insert(source.inherited->path).second)
      documents.push_back({source.inherited->path, source.inherited->text});
  for (Source& source : *sources) documents.push_back(std::move(source.document));
  return documents;
}

Result<Catalog> catalog_with(const std::vector<std::string>& paths) {
  if (paths.empty()) return Catalog::builtin();
  auto documents = read_documents(paths);
  if (!documents) return tl::unexpected(documents.error());
  auto catalog = Catalog::with_documents(*documents);
  if (!catalog && catalog.error().code == ErrorCode::invalid_document)
    catalog.error().message = "the contract documents have errors, and none was added\n" + catalog.error().message;
  return catalog;
}

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/catalog.hpp"

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/guard.hpp"
#include "base/host.hpp"
#include "base/keyed_cache.hpp"
#include "bind/binding_table.hpp"
#include "bind/builtin_documents.hpp"
#include "contract/contract.hpp"

namespace convoke {
namespace {

// Every error of every document, in a compiler's manner, as one text.
Error document_error(const std::vector<contract::Diagnostic>& diagnostics) {
  std::string text;
  std::string first_rule;
  for (const contract::Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != contract::Severity::error) continue;
    if (first_rule.empty()) first_rule = diagnostic.name;
    text += contract::render(diagnostic);
  }
  return Error{ErrorCode::invalid_document, first_rule, text, {}};
}

Result<contract::ParsedDocument> read(std::string_view text, std::string_view path,
                                      const contract::InheritedProvider* inherited = nullptr) {
  contract::ParsedDocument document = contract::parse_document(text, path, inherited);
  if (document.has_errors()) return tl::unexpected(document_error(document.diagnostics));
  return document;
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash + 1);
}

bool is_provider(std::string_view path) { return path.substr(folder_of(path).size()) == contract::provider_file; }

// The provider file of the nearest folder that holds `path`, among `documents`.
const Document* provider_of(std::string_view path, const std::vector<Document>& documents) {
  const Document* nearest = nullptr;
  for (const Document& document : documents) {
    if (!is_provider(document.path) || !path.starts_with(folder_of(document.path))) continue;
    if (nearest == nullptr || folder_of(document.path).size() > folder_of(nearest->path).size()) nearest = &document;
  }
  return nearest;
}

Result<std::vector<contract::ParsedDocument>> read_all(const std::vector<Document>& documents) {
  std::vector<contract::ParsedDocument> parsed;
  for (const Document& document : documents) {
    if (is_provider(document.path)) continue;
    std::optional<contract::InheritedProvider> inherited;
    if (const Document* provider = provider_of(document.path, documents))
      inherited = contract::InheritedProvider{provider->path, provider->text};
    auto one = read(document.text, document.path, inherited ? &*inherited : nullptr);
    if (!one) return tl::unexpected(one.error());
    parsed.push_back(std::move(*one));
  }
  return parsed;
}

Result<bind::BindingTable> import_builtin() {
  bind::BindingTable table;
  for (const bind::BuiltinDocument& builtin : bind::builtin_documents()) {
    auto document = read(builtin.text, builtin.path);
    if (!document) return tl::unexpected(document.error());
    if (auto added = table.add(*document, false, host().isa); !added) return tl::unexpected(added.error());
  }
  return table;
}

Result<bind::BindingTable> import_foreign(const std::vector<Document>& documents,
                                          const std::vector<bind::Provider>& providers) {
  const auto parsed = read_all(documents);
  if (!parsed) return tl::unexpected(parsed.error());
  if (const auto findings = contract::cross_check(*parsed); !findings.empty()) {
    const Error error = document_error(findings);
    if (!error.message.empty()) return tl::unexpected(error);
  }
  bind::BindingTable table = Catalog::builtin().table();
  for (const bind::Provider& provider : providers) table.provide(provider);
  for (const contract::ParsedDocument& document : *parsed)
    if (auto added = table.add(document, true, host().isa); !added) return tl::unexpected(added.error());
  return table;
}

}  // namespace

Catalog::Catalog(std::shared_ptr<const bind::BindingTable> table)
    : table_(std::move(table)), plans_(std::make_shared<KeyedCache>()) {}

Result<Catalog> Catalog::with_documents(const std::vector<Document>& documents) {
  return bind::make_catalog(documents, {});
}

Result<Catalog> bind::make_catalog(const std::vector<Document>& documents, const std::vector<Provider>& providers) {
  return guarded([&]() -> Result<Catalog> {
    auto table = import_foreign(documents, providers);
    if (!table) return tl::unexpected(table.error());
    return Catalog(std::make_shared<const bind::BindingTable>(std::move(*table)));
  });
}

const Catalog& Catalog::builtin() {
  // The built-in documents are part of the library and the tests import them, so a failure here is a broken build: the
  // catalog is then empty, and every plan says that it holds no kernel.
  static const Catalog catalog(
      std::make_shared<const bind::BindingTable>(import_builtin().value_or(bind::BindingTable{})));
  return catalog;
}

std::vector<std::string> Catalog::impl_ids() const {
  std::vector<std::string> ids;
  for (const bind::Binding& binding : table_->all()) ids.push_back(binding.id);
  return ids;
}

}  // namespace convoke

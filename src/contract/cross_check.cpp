// SPDX-License-Identifier: Apache-2.0 OR MIT
// What only shows when several documents are imported together.
#include <fmt/core.h>

#include <map>
#include <set>
#include <string>
#include <tuple>

#include "contract/contract.hpp"
#include "contract/words.hpp"

namespace convoke::contract {
namespace {

Diagnostic finding(Severity severity, std::string rule, std::string name, const std::string& path, const Place& place,
                   std::string message, std::string accepted) {
  Diagnostic out;
  out.severity = severity;
  out.rule = std::move(rule);
  out.name = std::move(name);
  out.message = std::move(message);
  out.accepted = std::move(accepted);
  out.path = path;
  out.line = place.line;
  out.column = place.column;
  out.source_line = place.source_line;
  out.source_column = place.source_column;
  return out;
}

std::string backend_word(Backend backend) {
  for (const auto& row : backend_words)
    if (row.value == backend) return std::string(row.word);
  return {};
}

using ProviderFields = std::vector<std::pair<std::string, std::optional<std::string>>>;

ProviderFields fields_of(const Provider& provider) {
  return {{"backend", backend_word(provider.backend)},
          {"kernel_source", provider.kernel_source},
          {"link_registry", provider.link_registry},
          {"revision_base", provider.revision_base}};
}

std::string shown(const std::optional<std::string>& value) {
  return value ? fmt::format("`{}`", *value) : std::string("absent");
}

/// Documents of one provider are one import: they agree on every field, and absent is not the same as present.
void check_providers(const std::vector<ParsedDocument>& documents, std::vector<Diagnostic>& out) {
  std::map<std::string, const ParsedDocument*> first_of;
  for (const ParsedDocument& document : documents) {
    if (!document.provider) continue;
    const auto [entry, inserted] = first_of.emplace(document.provider->name, &document);
    if (inserted) continue;
    const ProviderFields expected = fields_of(*entry->second->provider);
    const ProviderFields found = fields_of(*document.provider);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i].second == expected[i].second) continue;
      auto place = document.provider->places.find(found[i].first);
      if (place == document.provider->places.end()) place = document.provider->places.find("name");
      const Place at = place == document.provider->places.end() ? Place{} : place->second;
      out.push_back(finding(Severity::error, "", "ProviderMismatch", document.path, at,
                            fmt::format("`provider.{}` is {} here and {} in {}", found[i].first, shown(found[i].second),
                                        shown(expected[i].second), entry->second->path),
                            expected[i].second ? shown(expected[i].second) : "no such key"));
    }
  }
}

std::string op_of(const Contract& contract) {
  return contract.op_kind ? *contract.op_kind : contract.fused_op.value_or("");
}

/// The same function at the same key from the same source can be registered once only.
void check_duplicates(const std::vector<ParsedDocument>& documents, std::vector<Diagnostic>& out) {
  using Identity = std::tuple<std::string, std::vector<std::string>, Backend, std::string, std::string>;
  std::map<Identity, std::string> first_of;
  for (const ParsedDocument& document : documents) {
    for (const Contract& contract : document.contracts) {
      bool told = false;
      for (const Key& key : keys(contract)) {
        const std::string here = fmt::format("{}:{}", document.path, contract.entry_point_at.line);
        const auto [entry, inserted] = first_of.emplace(
            Identity{op_of(contract), key.dtypes, contract.backend, contract.kernel_source, key.symbol}, here);
        if (inserted || told) continue;
        told = true;
        out.push_back(finding(
            Severity::error, "10", "DuplicateEntryPoint", document.path, contract.entry_point_at,
            fmt::format("`{}` is already bound to this key of {} by {}", key.symbol, op_of(contract), entry->second),
            "another `entry_point`, `kernel_source` or key"));
      }
    }
  }
}

/// Rule 9: every primitive operator that the CPU offers has a bit-stable kernel among its kernels.
void check_coverage(const std::vector<ParsedDocument>& documents, std::vector<Diagnostic>& out) {
  std::map<std::string, std::pair<const ParsedDocument*, const Contract*>> first_of;
  std::set<std::string> covered;
  for (const ParsedDocument& document : documents) {
    for (const Contract& contract : document.contracts) {
      if (!contract.registrable || contract.backend != Backend::cpu || !contract.op_kind) continue;
      first_of.emplace(*contract.op_kind, std::pair{&document, &contract});
      if (contract.precision.bit_stable) covered.insert(*contract.op_kind);
    }
  }
  for (const auto& [op, where] : first_of) {
    if (covered.contains(op)) continue;
    out.push_back(finding(Severity::warning, "9", "MissingBitStableCoverage", where.first->path,
                          where.second->entry_point_at,
                          fmt::format("no CPU kernel of {} among these documents is bit-stable", op),
                          "one that is audited, with `bit_stable_on_same_hardware: true`"));
  }
}

}  // namespace

std::vector<Diagnostic> cross_check(const std::vector<ParsedDocument>& documents) {
  std::vector<Diagnostic> out;
  check_providers(documents, out);
  check_duplicates(documents, out);
  check_coverage(documents, out);
  sort_by_place(out);
  return out;
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/fail.hpp"
#include "base/glob.hpp"
#include "bind/binding_table.hpp"
#include "bind/builtin_documents.hpp"
#include "contract/contract.hpp"
#include "contract_text.hpp"
#include "documents.hpp"
#include "json_output.hpp"
#include "table.hpp"

namespace convoke::cli {
namespace {

struct Listed {
  std::string path;
  contract::Contract contract;
  std::vector<contract::Key> keys;
};

Result<void> append(std::vector<Listed>& listed, const contract::ParsedDocument& document) {
  if (document.has_errors())
    return fail(ErrorCode::invalid_document, "document", {}, "'{}' has errors; run 'convoke contracts check {}'",
                document.path, shell_word(document.path));
  for (const contract::Contract& contract : document.contracts)
    listed.push_back({document.path, contract, contract::keys(contract)});
  return {};
}

Result<std::vector<Listed>> read_contracts(const std::vector<std::string>& paths) {
  std::vector<Listed> listed;
  if (paths.empty()) {
    for (const bind::BuiltinDocument& builtin : bind::builtin_documents())
      if (auto added = append(listed, contract::parse_document(builtin.text, builtin.path)); !added)
        return tl::unexpected(added.error());
    return listed;
  }
  const auto sources = read_sources(paths);
  if (!sources) return tl::unexpected(sources.error());
  for (const Source& source : *sources) {
    const contract::InheritedProvider* inherited = source.inherited ? &*source.inherited : nullptr;
    const auto document = contract::parse_document(source.document.text, source.document.path, inherited);
    if (auto added = append(listed, document); !added) return tl::unexpected(added.error());
  }
  return listed;
}

std::vector<std::string> ids_of(const Listed& listed) {
  std::vector<std::string> ids;
  for (const contract::Key& key : listed.keys) ids.push_back(bind::impl_id(listed.contract, key));
  return ids;
}

Json json_of(const Listed& listed) {
  const contract::Contract& contract = listed.contract;
  Json keys = Json::array();
  for (const contract::Key& key : listed.keys)
    keys.push_back({{"id", bind::impl_id(contract, key)}, {"dtypes", key.dtypes}, {"symbol", key.symbol}});
  return {{"path", listed.path},
          {"kernel", contract.kernel},
          {"entry_point", contract.entry_point},
          {"determinism", word_of(contract.determinism)},
          {"hash", hash_text(contract)},
          {"keys", std::move(keys)}};
}

void add_rows(Table& table, const Listed& listed) {
  const contract::Contract& contract = listed.contract;
  table.add({{contract.kernel, Style::bold},
             std::string(word_of(contract.determinism)),
             hash_text(contract),
             contract.registrable ? contract.entry_point : "described only, never bound"});
  for (const std::string& id : ids_of(listed)) table.note(id, Style::plain);
}

bool matches(const Listed& listed, const std::string& name) {
  if (listed.contract.kernel == name) return true;
  const auto ids = ids_of(listed);
  return std::ranges::any_of(ids, [&](const std::string& id) { return glob_match(name, id); });
}

}  // namespace

Result<Report> list_contracts(const std::vector<std::string>& paths, bool json) {
  const auto listed = read_contracts(paths);
  if (!listed) return tl::unexpected(listed.error());
  Report report;
  if (json) {
    Json contracts = Json::array();
    for (const Listed& one : *listed) contracts.push_back(json_of(one));
    report.text = json_text({{"contracts", std::move(contracts)}});
    return report;
  }
  const bool colour = stdout_has_colour();
  std::size_t keys = 0;
  for (auto first = listed->begin(); first != listed->end();) {
    const auto last = std::find_if(first, listed->end(), [&](const Listed& one) { return one.path != first->path; });
    Table table({{"KERNEL"}, {"DETERMINISM"}, {"HASH"}, {"ENTRY POINT"}});
    report.text += styled(printable(first->path), Style::bold, colour) + "\n";
    for (; first != last; ++first) {
      keys += first->keys.size();
      add_rows(table, *first);
    }
    report.text += table.render(output_width(), colour) + "\n";
  }
  report.text += fmt::format("{}, {}\n", counted(listed->size(), "kernel"), counted(keys, "key"));
  return report;
}

Result<Report> show_contract(const std::string& name, const std::vector<std::string>& paths) {
  const auto listed = read_contracts(paths);
  if (!listed) return tl::unexpected(listed.error());
  Report report;
  for (const Listed& one : *listed) {
    if (!matches(one, name)) continue;
    if (!report.text.empty()) report.text += "\n";
    report.text += printable(contract_text(one.contract, one.path, ids_of(one), output_width()));
  }
  if (report.text.empty())
    return fail(ErrorCode::not_found, "name", {}, "no kernel is called '{}'; 'convoke contracts list' names them all",
                name);
  return report;
}

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/contract_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/convoke/contract_text.hpp"
#include "apps/convoke/documents.hpp"
#include "apps/convoke/json_output.hpp"
#include "apps/convoke/table.hpp"
#include "base/fail.hpp"
#include "base/glob.hpp"
#include "bind/binding_table.hpp"
#include "bind/builtin_documents.hpp"
#include "contract/contract.hpp"
#include "problem/text.hpp"

namespace convoke::cli {
namespace {

struct Listed {
  std::string path;
  contract::Contract contract;
  std::vector<contract::Key> keys;
};

// A document with errors has nothing to list: the report says so.
void append(std::vector<Listed>& listed, const contract::ParsedDocument& document, Report& report) {
  if (document.has_errors()) {
    const auto errors =
        std::ranges::count(document.diagnostics, contract::Severity::error, &contract::Diagnostic::severity);
    report.wrong +=
        fmt::format("{}{}: {}; run 'convoke contracts check {}'", report.wrong.empty() ? "" : "\n", document.path,
                    counted(static_cast<std::size_t>(errors), "error"), shell_word(document.path));
    report.exit = exit_found_wrong;
    return;
  }
  for (const contract::Contract& contract : document.contracts)
    listed.push_back({document.path, contract, contract::keys(contract)});
}

// What can be read; the report gets what cannot.
std::vector<Listed> read_contracts(const std::vector<std::string>& paths, Report& report) {
  std::vector<Listed> listed;
  if (paths.empty()) {
    for (const bind::BuiltinDocument& builtin : bind::builtin_documents())
      append(listed, contract::parse_document(builtin.text, builtin.path), report);
    return listed;
  }
  const Gathered gathered = gather_sources(paths);
  for (const Source& source : gathered.sources) {
    const contract::InheritedProvider* inherited = source.inherited ? &*source.inherited : nullptr;
    append(listed, contract::parse_document(source.document.text, source.document.path, inherited), report);
  }
  add_unreadable(report, gathered);
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
  Report report;
  const std::vector<Listed> listed = read_contracts(paths, report);
  if (json) {
    Json contracts = Json::array();
    for (const Listed& one : listed) contracts.push_back(json_of(one));
    report.text = json_text({{"contracts", std::move(contracts)}});
    return report;
  }
  const bool colour = stdout_has_colour();
  std::size_t keys = 0;
  for (auto first = listed.begin(); first != listed.end();) {
    const auto last = std::find_if(first, listed.end(), [&](const Listed& one) { return one.path != first->path; });
    Table table({{"KERNEL"}, {"DETERMINISM"}, {"HASH"}, {"ENTRY POINT"}});
    report.text += styled(escaped(first->path), Style::bold, colour) + "\n";
    for (; first != last; ++first) {
      keys += first->keys.size();
      add_rows(table, *first);
    }
    report.text += table.render(output_width(), colour) + "\n";
  }
  report.text += fmt::format("{}, {}\n", counted(listed.size(), "kernel"), counted(keys, "key"));
  return report;
}

Result<Report> show_contract(const std::string& name, const std::vector<std::string>& paths) {
  Report report;
  const std::vector<Listed> listed = read_contracts(paths, report);
  for (const Listed& one : listed) {
    if (!matches(one, name)) continue;
    if (!report.text.empty()) report.text += "\n";
    report.text += escaped(contract_text(one.contract, one.path, ids_of(one), output_width()));
  }
  if (report.text.empty() && !report.wrong.empty()) report.exit = exit_could_not_run;
  if (report.text.empty() && report.wrong.empty())
    return fail(ErrorCode::not_found, "name", {}, "no kernel is called '{}'; 'convoke contracts list' names them all",
                problem::clipped(name));
  return report;
}

}  // namespace convoke::cli

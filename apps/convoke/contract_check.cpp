// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/contract_check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "apps/convoke/documents.hpp"
#include "apps/convoke/json_output.hpp"
#include "base/file.hpp"
#include "contract/contract.hpp"

namespace convoke::cli {
namespace {

using contract::Diagnostic;
using contract::ParsedDocument;
using contract::Severity;

struct Tally {
  std::size_t kernels = 0, keys = 0, described = 0, errors = 0, warnings = 0;

  Tally& operator+=(const Tally& other) {
    kernels += other.kernels;
    keys += other.keys;
    described += other.described;
    errors += other.errors;
    warnings += other.warnings;
    return *this;
  }
};

Tally tally_of(const ParsedDocument& document) {
  Tally tally;
  for (const contract::Contract& contract : document.contracts) {
    if (!contract.registrable) {
      ++tally.described;
      continue;
    }
    ++tally.kernels;
    tally.keys += contract::keys(contract).size();
  }
  for (const Diagnostic& diagnostic : document.diagnostics)
    ++(diagnostic.severity == Severity::error ? tally.errors : tally.warnings);
  return tally;
}

// `8 kernels, 16 keys, 1 described only; 2 warnings`.
std::string summary(const Tally& tally) {
  std::string text = fmt::format("{}, {}", counted(tally.kernels, "kernel"), counted(tally.keys, "key"));
  if (tally.described > 0) text += fmt::format(", {} described only", tally.described);
  if (tally.errors > 0) text += "; " + counted(tally.errors, "error");
  if (tally.warnings > 0) text += (tally.errors > 0 ? ", " : "; ") + counted(tally.warnings, "warning");
  return text;
}

std::string summary_line(std::string_view start, const Tally& tally, bool colour) {
  const Style style = tally.errors > 0 ? Style::red : tally.warnings > 0 ? Style::yellow : Style::green;
  return fmt::format("{}{}\n", start, styled(summary(tally), style, colour));
}

std::string rendered(const Diagnostic& diagnostic, bool colour) {
  std::string text = escaped(contract::render(diagnostic));
  if (!text.ends_with('\n')) text += '\n';
  const bool error = diagnostic.severity == Severity::error;
  const std::string_view word = error ? ": error:" : ": warning:";
  const std::size_t at = text.find(word);
  if (at != std::string::npos) text.replace(at, word.size(), styled(word, error ? Style::red : Style::yellow, colour));
  return text;
}

// Documents of one folder are one provider's tree, which is imported together; others need not agree.
std::vector<Diagnostic> cross_check_folders(const std::vector<ParsedDocument>& parsed) {
  std::map<std::string, std::vector<ParsedDocument>> folders;
  for (const ParsedDocument& document : parsed)
    folders[std::filesystem::path(document.path).parent_path()].push_back(document);
  std::vector<Diagnostic> findings;
  for (const auto& [folder, documents] : folders)
    std::ranges::copy(contract::cross_check(documents), std::back_inserter(findings));
  return findings;
}

std::vector<ParsedDocument> parse_all(const std::vector<Source>& sources) {
  std::vector<ParsedDocument> parsed;
  for (const Source& source : sources)
    parsed.push_back(contract::parse_document(source.document.text, source.document.path,
                                              source.inherited ? &*source.inherited : nullptr));
  for (const Diagnostic& diagnostic : cross_check_folders(parsed)) {
    const auto owner = std::ranges::find(parsed, diagnostic.path, &ParsedDocument::path);
    if (owner != parsed.end()) owner->diagnostics.push_back(diagnostic);
  }
  for (ParsedDocument& document : parsed) contract::sort_by_place(document.diagnostics);
  return parsed;
}

Json json_of(const ParsedDocument& document) {
  const Tally tally = tally_of(document);
  Json findings = Json::array();
  for (const Diagnostic& diagnostic : document.diagnostics)
    findings.push_back({{"rule", diagnostic.rule},
                        {"name", diagnostic.name},
                        {"severity", diagnostic.severity == Severity::error ? "error" : "warning"},
                        {"line", diagnostic.line},
                        {"column", diagnostic.column},
                        {"message", diagnostic.message}});
  return {{"path", document.path}, {"kernels", tally.kernels}, {"keys", tally.keys}, {"findings", std::move(findings)}};
}

// A path that could not be read, as a document with that finding.
Json json_of(const Unreadable& unreadable) {
  Json finding = {{"rule", ""}, {"name", "Io"}, {"severity", "error"},
                  {"line", 0},  {"column", 0},  {"message", unreadable.error.message}};
  return {{"path", unreadable.path}, {"kernels", 0}, {"keys", 0}, {"findings", Json::array({std::move(finding)})}};
}

Result<Report> print_one(const std::vector<Source>& sources, const std::vector<std::string>& formatted) {
  if (sources.size() > 1)
    return tl::unexpected(usage_error("paths", fmt::format("fmt prints one document at a time, and {} were named; name "
                                                           "one, or give --write or --check",
                                                           sources.size())));
  return Report{formatted.front()};
}

Result<Report> change_files(const std::vector<Source>& sources, const std::vector<std::string>& formatted, bool write) {
  Report report;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Document& document = sources[i].document;
    if (document.text == formatted[i]) continue;
    if (write) {
      if (const auto written = write_file_whole(document.path, formatted[i]); !written)
        return tl::unexpected(written.error());
    } else {
      report.exit = exit_found_wrong;
    }
    report.text += fmt::format("{}: {}\n", document.path, write ? "rewritten" : "would change");
  }
  if (report.text.empty()) report.text = fmt::format("{} in form\n", counted(sources.size(), "document"));
  return report;
}

}  // namespace

Result<Report> check_contracts(const std::vector<std::string>& paths, bool json) {
  const Gathered gathered = gather_sources(paths);
  const bool colour = stdout_has_colour();
  Report report;
  Json documents = Json::array();
  std::string summaries;
  Tally total;
  for (const ParsedDocument& document : parse_all(gathered.sources)) {
    const Tally tally = tally_of(document);
    total += tally;
    if (json) {
      documents.push_back(json_of(document));
      continue;
    }
    for (const Diagnostic& diagnostic : document.diagnostics) report.text += rendered(diagnostic, colour);
    summaries += summary_line(document.path + ": ", tally, colour);
  }
  for (const Unreadable& unreadable : gathered.unreadable) documents.push_back(json_of(unreadable));
  report.text += json ? json_text({{"documents", std::move(documents)}}) : summaries;
  const std::size_t read = gathered.sources.size();
  if (!json && read > 1)
    report.text += summary_line(fmt::format("total: {}, ", counted(read, "document")), total, colour);
  report.exit = total.errors > 0 ? exit_found_wrong : exit_ok;
  add_unreadable(report, gathered);
  return report;
}

Result<Report> format_contracts(const std::vector<std::string>& paths, FormatMode mode) {
  const auto sources = read_sources(paths);
  if (!sources) return tl::unexpected(sources.error());
  std::vector<std::string> formatted;
  std::string findings;
  for (const Source& source : *sources) {
    auto text = contract::format_document(source.document.text, source.document.path);
    if (text) {
      formatted.push_back(*std::move(text));
      continue;
    }
    for (const Diagnostic& diagnostic : text.error()) findings += rendered(diagnostic, stderr_has_colour());
  }
  if (!findings.empty()) {
    // Standard output may be on its way into a file: only a document belongs there.
    write_stderr(findings);
    return Report{"", exit_found_wrong};
  }
  if (mode == FormatMode::print) return print_one(*sources, formatted);
  return change_files(*sources, formatted, mode == FormatMode::write);
}

}  // namespace convoke::cli

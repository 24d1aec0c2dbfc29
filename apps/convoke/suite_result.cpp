// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/suite_result.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/convoke/json_output.hpp"
#include "apps/convoke/table.hpp"
#include "problem/text.hpp"

namespace convoke::cli {
namespace {

using Fate = BindingResult::Fate;

// More failures than this would bury the summary; --json has them all.
constexpr std::size_t most_failures_shown = 20;

Style style_of(Status status) noexcept {
  return status == Status::passed ? Style::green : status == Status::failed ? Style::red : Style::yellow;
}

Status status_of(Fate fate) noexcept {
  return fate == Fate::passed ? Status::passed : fate == Fate::failed ? Status::failed : Status::skipped;
}

Json json_of(const BindingResult& binding) {
  Json json = {{"kernel", binding.kernel}, {"status", name_of(status_of(binding.fate))}, {"reason", binding.reason}};
  if (!binding.digest.empty()) {
    json["ms"] = binding.ms;
    json["gflops"] = binding.gflops;
    json["digest"] = binding.digest;
  }
  return json;
}

Json json_of(const CaseResult& result) {
  Json bindings = Json::array();
  for (const BindingResult& binding : result.bindings) bindings.push_back(json_of(binding));
  return {{"id", result.id},
          {"dtype", convoke::name_of(result.dtype)},
          {"status", name_of(result.status)},
          {"reason", result.reason},
          {"problem", result.problem},
          {"reproducer", result.reproducer},
          {"bindings", std::move(bindings)}};
}

Json json_of(const SuiteResult& result) {
  Json cases = Json::array();
  for (const CaseResult& one : result.cases) cases.push_back(json_of(one));
  Json json = {{"passed", result.count(Status::passed)},
               {"failed", result.count(Status::failed)},
               {"skipped", result.count(Status::skipped)},
               {"cases", std::move(cases)}};
  for (const RelationCount& relation : result.relations)
    for (const auto& [name, count] : relation.counts)
      json["relations"][std::string(convoke::name_of(relation.op))][name] = count;
  return json;
}

void add_rows(Table& table, const CaseResult& result) {
  const auto word = [](Status status) { return Cell(std::string(name_of(status)), style_of(status)); };
  table.add({Cell(fmt::format("{} {}", result.id, convoke::name_of(result.dtype)), Style::bold), word(result.status)});
  if (result.bindings.empty()) table.note(result.reason, style_of(result.status));
  // A case's data stand in its file: only the file's own command runs it again.
  if (!result.reproducer.starts_with("convoke run ")) table.note(result.problem);
  table.note(result.reproducer);
  for (const BindingResult& binding : result.bindings) {
    if (binding.fate == Fate::refused) continue;
    const Status status = status_of(binding.fate);
    const bool timed = binding.ms > 0;
    table.add({"  " + binding.kernel, word(status), timed ? fmt::format("{:.3f}", binding.ms) : "",
               timed ? fmt::format("{:.2f}", binding.gflops) : ""});
    if (status != Status::passed) table.note(binding.reason, style_of(status));
  }
}

std::string relation_table(const std::vector<RelationCount>& relations, bool colour) {
  std::vector<Column> columns = {{"RELATION"}};
  for (const RelationCount& relation : relations) {
    columns.push_back({std::string(convoke::name_of(relation.op)), true});
    columns.push_back({"%", true});
  }
  std::vector<std::string> names;
  for (const RelationCount& relation : relations)
    for (const auto& [name, count] : relation.counts)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  Table table(std::move(columns));
  for (const std::string& name : names) {
    std::vector<Cell> cells = {name};
    for (const RelationCount& relation : relations) {
      const auto found = std::ranges::find(relation.counts, name, [](const auto& pair) { return pair.first; });
      const bool there = found != relation.counts.end();
      cells.emplace_back(there ? fmt::format("{}", found->second) : "-");
      cells.emplace_back(there && relation.problems > 0
                             ? fmt::format("{:.1f}", 100.0 * static_cast<double>(found->second) /
                                                         static_cast<double>(relation.problems))
                             : "");
    }
    table.add(std::move(cells));
  }
  return table.render(output_width(), colour);
}

std::string failure_list(const SuiteResult& result, bool colour) {
  std::string text;
  std::size_t shown = 0;
  for (const CaseResult& one : result.cases) {
    if (one.status != Status::failed || ++shown > most_failures_shown) continue;
    text += fmt::format("{} {} {}: {}\n    reproduce with: {}\n", styled("failed", Style::red, colour), one.id,
                        convoke::name_of(one.dtype), escaped(one.reason), escaped(one.reproducer));
  }
  if (shown > most_failures_shown)
    text += fmt::format("... and {} more; --json lists them all\n", shown - most_failures_shown);
  return text;
}

}  // namespace

std::string_view name_of(Status status) noexcept {
  return status == Status::passed ? "passed" : status == Status::failed ? "failed" : "skipped";
}

void CaseResult::settle(const std::string& kernels) {
  const auto find = [&](Fate fate) { return std::ranges::find(bindings, fate, &BindingResult::fate); };
  const auto failure = find(Fate::failed);
  const std::string& narrowed = failure != bindings.end() ? failure->kernel : kernels;
  if (!narrowed.empty()) reproducer += " --kernel " + shell_word(narrowed);
  if (failure != bindings.end()) {
    status = Status::failed;
    reason = fmt::format("{}: {}", failure->kernel, failure->reason);
  } else if (find(Fate::passed) != bindings.end()) {
    status = Status::passed;
  } else if (const auto lacking = find(Fate::lacking); lacking != bindings.end()) {
    status = Status::skipped;
    reason = fmt::format("{}: {}", lacking->kernel, lacking->reason);
  } else if (bindings.empty() && !kernels.empty()) {
    status = Status::skipped;
    reason = fmt::format("no kernel that matches '{}' is bound for this operation, dtype and number of operands",
                         problem::clipped(kernels));
  } else {
    status = Status::failed;
    reason = bindings.empty() ? "no kernel is bound for this operation, dtype and number of operands"
                              : fmt::format("no binding admits it: {}", bindings.front().reason);
  }
}

std::size_t SuiteResult::count(Status status) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(cases, status, &CaseResult::status));
}

Report suite_report(const SuiteResult& result, bool json) {
  Report report;
  report.exit = result.count(Status::failed) > 0 ? exit_found_wrong : exit_ok;
  if (json) {
    report.text = json_text(json_of(result));
    return report;
  }
  const bool colour = stdout_has_colour();
  Table table({{"CASE, KERNEL"}, {"STATUS"}, {"MS", true}, {"GFLOP/S", true}});
  if (result.relations.empty())
    for (const CaseResult& one : result.cases) add_rows(table, one);
  if (!table.empty()) report.text += table.render(output_width(), colour) + "\n";
  if (!result.relations.empty()) report.text += relation_table(result.relations, colour) + "\n";
  report.text += failure_list(result, colour);
  report.text += fmt::format("{} passed, {} failed, {} skipped\n", result.count(Status::passed),
                             result.count(Status::failed), result.count(Status::skipped));
  return report;
}

}  // namespace convoke::cli

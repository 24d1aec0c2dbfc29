// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/explain_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

#include "apps/convoke/json_output.hpp"
#include "apps/convoke/output.hpp"
#include "apps/convoke/table.hpp"
#include "base/duration.hpp"

namespace convoke::cli {
namespace {

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.3g} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.3g} MB", bytes / 1e6);
  if (bytes >= 1e3) return fmt::format("{:.3g} kB", bytes / 1e3);
  return fmt::format("{:.0f} B", bytes);
}

std::string bound_text(const CandidateReport& candidate) {
  return candidate.bound_over_law ? fmt::format("{:.3g}", *candidate.bound_over_law) : std::string("none");
}

std::string evidence_text(const CandidateReport& candidate) {
  return candidate.evidence + (candidate.relied_on ? "" : ", not relied on");
}

// The step, and its work behind it where the line has room, else below.
std::vector<std::string> step_lines(const StepReport& step, std::size_t index, int width) {
  constexpr std::size_t indent = 4;  // of a table's notes
  std::string line = fmt::format("{}. {:>8}  {}{}{}", index + 1, duration_text(step.price_ns), step.kernel,
                                 step.role.empty() ? "" : " on " + step.role, step.once ? ", once" : "");
  const std::string work = fmt::format("({}{}, {}{})", step.cost_class,
                                       step.flops > 0 ? fmt::format(", {:.3g} MFLOP", step.flops / 1e6) : std::string(),
                                       bytes_text(step.bytes), step.filled ? ", by default" : "");
  if (indent + line.size() + 2 + work.size() <= static_cast<std::size_t>(width)) return {line + "  " + work};
  return {line, std::string(13, ' ') + work};
}

// Indices of the admitted candidates, cheapest first.
std::vector<std::size_t> admitted(const Explanation& explanation) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < explanation.candidates.size(); ++i)
    if (explanation.candidates[i].admitted) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::size_t i) {
    return std::tuple(explanation.chosen != i, explanation.candidates[i].price_ns, i);
  });
  return order;
}

std::string routes_table(const Explanation& explanation, int width, bool colour) {
  Table table({{""},
               {"PRICE", true},
               {"MEASURED", true},
               {"SCRATCH", true},
               {"BITS"},
               {"ORDER"},
               {"BOUND", true},
               {"EVIDENCE"}});
  for (const std::size_t i : admitted(explanation)) {
    const CandidateReport& candidate = explanation.candidates[i];
    const bool chosen = explanation.chosen == i;
    table.add({{chosen ? ">" : " ", Style::green},
               {duration_text(candidate.price_ns), chosen ? Style::bold : Style::plain},
               candidate.measured_ns ? duration_text(*candidate.measured_ns) : std::string("-"),
               bytes_text(static_cast<double>(candidate.workspace_bytes)),
               candidate.determinism,
               candidate.order,
               bound_text(candidate),
               evidence_text(candidate)});
    for (std::size_t step = 0; step < candidate.steps.size(); ++step)
      for (const std::string& line : step_lines(candidate.steps[step], step, width)) table.note(line, Style::plain);
    if (!candidate.invariant_to.empty())
      table.note(fmt::format("same bits for any {}", fmt::join(candidate.invariant_to, ", ")));
    if (!candidate.alias_of.empty()) table.note("alias of " + candidate.alias_of);
  }
  return table.render(width, colour);
}

// Kernels of the same operation that serve another dtype or another presence of a bias are many, and all for the same
// reason: they get a line each.
std::string other_keys(const Explanation& explanation) {
  std::string text;
  for (const CandidateReport& candidate : explanation.candidates)
    if (candidate.refused && candidate.refused->clause == "key") text += "  " + escaped(candidate.id) + "\n";
  return text.empty() ? text : "\nAt other keys:\n" + text;
}

std::string refusals_table(const Explanation& explanation, int width, bool colour) {
  Table table({{"REFUSED BY"}, {"WANTED"}, {"FOUND"}});
  for (const CandidateReport& candidate : explanation.candidates) {
    if (!candidate.refused || candidate.refused->clause == "key") continue;
    table.add({{candidate.refused->clause, Style::yellow}, candidate.refused->wanted, candidate.refused->found});
    table.note(candidate.route, Style::plain);
  }
  return table.empty() ? std::string() : "\n" + table.render(width, colour);
}

Json json_of(const CandidateReport& candidate) {
  Json steps = Json::array();
  for (const StepReport& step : candidate.steps)
    steps.push_back({{"kernel", step.kernel},
                     {"price_ns", step.price_ns},
                     {"role", step.role},
                     {"once", step.once},
                     {"flops", step.flops},
                     {"bytes", step.bytes},
                     {"overhead_ns", step.overhead_ns},
                     {"class", step.cost_class},
                     {"default_cost", step.filled}});
  Json object = {{"route", candidate.route},
                 {"id", candidate.id},
                 {"admitted", candidate.admitted},
                 {"price_ns", candidate.admitted ? Json(candidate.price_ns) : Json(nullptr)},
                 {"measured_ns", candidate.measured_ns ? Json(*candidate.measured_ns) : Json(nullptr)},
                 {"steps", std::move(steps)},
                 {"workspace_bytes", candidate.workspace_bytes},
                 {"device_bytes", candidate.device_bytes},
                 {"determinism", candidate.determinism},
                 {"order", candidate.order},
                 {"invariant_to", candidate.invariant_to},
                 {"bound_over_law", candidate.bound_over_law ? Json(*candidate.bound_over_law) : Json(nullptr)},
                 {"evidence", candidate.evidence},
                 {"relied_on", candidate.relied_on},
                 {"alias_of", candidate.alias_of.empty() ? Json(nullptr) : Json(candidate.alias_of)}};
  if (candidate.refused)
    object["refused"] = {{"clause", candidate.refused->clause},
                         {"wanted", candidate.refused->wanted},
                         {"found", candidate.refused->found}};
  return object;
}

}  // namespace

std::string explanation_text(const Explanation& explanation, int width, bool colour) {
  std::string text;
  if (explanation.chosen)
    text += routes_table(explanation, width, colour);
  else
    text += "No route meets the demand and is admitted.\n";
  return text + refusals_table(explanation, width, colour) + other_keys(explanation);
}

std::string explanation_json(const Explanation& explanation, const std::string& problem, const std::string& demand,
                             const std::string& reproducer) {
  Json candidates = Json::array();
  for (const CandidateReport& candidate : explanation.candidates) candidates.push_back(json_of(candidate));
  return json_text(
      {{"problem", problem},
       {"demand", demand},
       {"chosen", explanation.chosen ? Json(explanation.candidates[*explanation.chosen].route) : Json(nullptr)},
       {"candidates", std::move(candidates)},
       {"reproducer", reproducer}});
}

}  // namespace convoke::cli

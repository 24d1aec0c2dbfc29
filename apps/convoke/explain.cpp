// SPDX-License-Identifier: Apache-2.0 OR MIT
// `convoke explain`: every route for one convolution, its price, or the clause that refused it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/convoke/commands.hpp"
#include "apps/convoke/documents.hpp"
#include "apps/convoke/execution.hpp"
#include "apps/convoke/explain_text.hpp"
#include "apps/convoke/planning_options.hpp"
#include "apps/convoke/run_input.hpp"
#include "apps/convoke/table.hpp"
#include "base/duration.hpp"

namespace convoke::cli {
namespace {

struct ExplainSettings {
  RunWords input;
  PlanningWords planning;
  bool json = false, dot = false;
};

Result<Explanation> explain_input(const Operands& operands, const PlanOptions& options) {
  const std::optional<TensorSpec> bias = operands.bias ? std::optional(operands.bias->spec) : std::nullopt;
  if (operands.op == Op::conv2d)
    return explain(operands.x.spec, operands.weight.spec, bias, operands.out.spec, to_conv2d_params(operands.params),
                   options);
  return explain(operands.x.spec, operands.weight.spec, bias, operands.out.spec,
                 to_conv_transpose2d_params(operands.params), options);
}

std::string headline(const Explanation& explanation, const std::string& reproducer, const std::string& demand,
                     bool colour) {
  std::string text = styled(escaped(reproducer), Style::bold, colour) + "\n";
  text += fmt::format("  demand  {}\n", demand);
  if (explanation.chosen) {
    const CandidateReport& chosen = explanation.candidates[*explanation.chosen];
    text += fmt::format("  chosen  {}\n  price   {}\n", chosen.id, duration_text(chosen.price_ns));
  }
  return text + "\n";
}

Result<Report> explain_command(const ExplainSettings& settings) {
  const auto catalog = catalog_with(settings.planning.contracts);
  if (!catalog) return tl::unexpected(catalog.error());
  auto input = load_run_input(settings.input);
  if (!input) return tl::unexpected(input.error());
  auto planning = load_planning(settings.planning, input->problem, *catalog);
  if (!planning) return tl::unexpected(planning.error());
  const auto explanation = explain_input(input->operands, planning->options);
  if (!explanation) return tl::unexpected(with_reproducer(explanation.error(), *input));
  constexpr std::string_view run = "convoke run";
  const std::string reproducer =
      "convoke explain" + input->reproducer.substr(run.size()) + planning_text(settings.planning);
  const std::string demand = text_of(demand_of(planning->options));
  Report report;
  report.exit = explanation->chosen ? exit_ok : exit_found_wrong;
  if (settings.dot)
    report.text = to_dot(*explanation);
  else if (settings.json)
    report.text = explanation_json(*explanation, problem::to_line(input->problem), demand, reproducer);
  else
    report.text = headline(*explanation, reproducer, demand, stdout_has_colour()) +
                  explanation_text(*explanation, output_width(), stdout_has_colour());
  return report;
}

}  // namespace

void add_explain(CLI::App& program, Action& action) {
  auto* command = program.add_subcommand("explain", "Show every route for one convolution, with prices and refusals");
  auto settings = std::make_shared<ExplainSettings>();
  add_run_words(*command, settings->input);
  add_planning(*command, settings->planning);
  auto* json = command->add_flag("--json", settings->json, "Print one JSON document");
  command->add_flag("--dot", settings->dot, "Print the admitted routes as a graph for Graphviz")->excludes(json);
  command->footer(
      "BOUND is the error bound over the law's own; the route marked > is the one that 'convoke run' takes.\n"
      "Exit status: 0, or 1 where no route meets the demand.\n"
      "Examples:\n"
      "  convoke explain conv2d x=1x64x56x56 weight=64x64x3x3 padding=1\n"
      "  convoke explain conv2d x=1x64x56x56 weight=64x64x3x3 dtype=bf16 demand=any x.layout=channels_last\n"
      "  convoke explain conv2d x=1x3x224x224 weight=64x3x7x7 stride=2 --json\n"
      "  convoke explain conv2d x=1x8x8x8 weight=8x8x3x3 demand=any --dot | dot -Tsvg > routes.svg");
  command->callback([&action, settings] {
    settle_words(settings->input, settings->planning);
    action = [settings] { return explain_command(*settings); };
  });
}

}  // namespace convoke::cli

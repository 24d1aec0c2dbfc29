// SPDX-License-Identifier: Apache-2.0 OR MIT
// `convoke run`: one convolution, timed and, where asked, held against both oracles.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/convoke/commands.hpp"
#include "apps/convoke/documents.hpp"
#include "apps/convoke/execution.hpp"
#include "apps/convoke/json_output.hpp"
#include "apps/convoke/planning_options.hpp"
#include "apps/convoke/run_input.hpp"
#include "apps/convoke/table.hpp"
#include "base/digest.hpp"
#include "base/duration.hpp"

namespace convoke::cli {
namespace {

struct RunSettings {
  RunWords input;
  PlanningWords planning;
  std::string out;
  int repeat = 0;
  bool verify = false, json = false;
};

struct Outcome {
  Plan plan;
  Timing timing;
  std::string digest;
  std::optional<Verdict> verdict;
  std::optional<std::size_t> packed_bytes;  ///< absent: the weight was handed over as it is
};

Result<Outcome> compute(const RunInput& input, const RunSettings& settings, const Catalog& catalog) {
  const auto planning = load_planning(settings.planning, input.problem, catalog);
  if (!planning) return tl::unexpected(planning.error());
  auto plan = make_plan(input.operands, planning->options);
  if (!plan) return tl::unexpected(forced_error(plan.error(), input.problem.kernel));
  Operands operands = input.operands;
  if (settings.planning.packed)
    if (auto packed = pack_weight(*plan, operands, input.problem.threads); !packed)
      return tl::unexpected(packed.error());
  const auto timing = timed_runs(*plan, operands, input.problem.threads, {.repeat = settings.repeat, .box_ms = 500});
  if (!timing) return tl::unexpected(timing.error());
  Outcome outcome{*std::move(plan), *timing, digest_of(operands.out), std::nullopt, std::nullopt};
  if (operands.packed) outcome.packed_bytes = operands.packed->bytes();
  if (settings.verify) {
    const bool generated = input.workload.has_value();
    outcome.verdict = verify(input.operands, input.geometry, outcome.plan,
                             {.exact_sums = generated && input.problem.data == problem::DataKind::integer,
                              .terms = verified_terms,
                              .seed = input.problem.seed});
  }
  if (input.workload)
    if (auto untouched = input.workload->check_untouched(); !untouched) return tl::unexpected(untouched.error());
  return outcome;
}

std::string json_report(const RunInput& input, const Outcome& outcome) {
  return json_text({{"problem", problem::to_line(input.problem)},
                    {"kernel", outcome.plan.kernel()},
                    {"route", outcome.plan.route()},
                    {"ms", outcome.timing.median},
                    {"price_ns", outcome.plan.price_ns()},
                    {"gflops", gflops(outcome.plan, outcome.timing.median)},
                    {"digest", outcome.digest},
                    {"packed_bytes", outcome.packed_bytes ? Json(*outcome.packed_bytes) : Json(nullptr)},
                    {"verified", outcome.verdict ? Json(outcome.verdict->right) : Json(nullptr)},
                    {"reproducer", input.reproducer}});
}

std::string text_report(const RunInput& input, const Outcome& outcome, const std::string& out) {
  const bool colour = stdout_has_colour();
  const Timing& timing = outcome.timing;
  std::string text = styled(escaped(input.reproducer), Style::bold, colour) + "\n";
  const auto fact = [&](std::string_view name, const std::string& value, Style style = Style::plain) {
    text += fmt::format("  {:<10}{}\n", name, styled(value, style, colour));
  };
  fact("kernel", outcome.plan.kernel());
  fact("why", outcome.plan.reason());
  const auto route = outcome.plan.route();
  for (std::size_t step = 0; route.size() > 1 && step < route.size(); ++step)
    fact(step == 0 ? "route" : "", fmt::format("{}. {}", step + 1, route[step]));
  fact("out",
       fmt::format("{} {}", fmt::join(outcome.plan.output_shape().begin(), outcome.plan.output_shape().end(), "x"),
                   name_of(input.operands.out.spec.dtype)));
  if (outcome.packed_bytes) fact("packed", fmt::format("the weight, once, to {} bytes", *outcome.packed_bytes));
  fact("time", fmt::format("{:.4g} ms, median of {} ({:.4g} to {:.4g})", timing.median,
                           counted(static_cast<std::size_t>(timing.runs), "run"), timing.fastest, timing.slowest));
  fact("price", duration_text(outcome.plan.price_ns()));
  fact("speed", fmt::format("{:.4g} GFLOP/s", gflops(outcome.plan, timing.median)));
  fact("digest", outcome.digest);
  if (const auto& verdict = outcome.verdict) {
    fact("verified", (verdict->right ? "yes: " : "no: ") + verdict->text, verdict->right ? Style::green : Style::red);
  }
  if (!out.empty()) fact("written", out);
  return text;
}

Result<Report> run(const RunSettings& settings) {
  const auto catalog = catalog_with(settings.planning.contracts);
  if (!catalog) return tl::unexpected(catalog.error());
  auto input = load_run_input(settings.input);
  if (!input) return tl::unexpected(input.error());
  input->reproducer += planning_text(settings.planning);
  const auto outcome = compute(*input, settings, *catalog);
  if (!outcome) return tl::unexpected(with_reproducer(outcome.error(), *input));
  const bool wrong = outcome->verdict && !outcome->verdict->right;
  const bool writes = !settings.out.empty() && !wrong;
  if (writes)
    if (auto written = problem::write_npy(settings.out, input->operands.out); !written)
      return tl::unexpected(with_reproducer(written.error(), *input));
  Report report;
  report.text = settings.json ? json_report(*input, *outcome)
                              : text_report(*input, *outcome, writes ? settings.out : std::string());
  if (wrong) {
    report.exit = exit_found_wrong;
    report.wrong =
        fmt::format("the result is wrong{}: {}; reproduce with: {} --verify",
                    settings.out.empty() ? "" : " and was not written", outcome->verdict->text, input->reproducer);
  }
  return report;
}

void add_run_options(CLI::App& command, RunSettings& settings) {
  add_run_words(command, settings.input);
  add_planning(command, settings.planning);
  command.add_option("--out", settings.out, "Write the output to a .npy file, whole or not at all")
      ->type_name("FILE")
      ->check(never_empty);
  command.add_option("--repeat", settings.repeat, "Timed runs; without it, as many as half a second takes")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
  command.add_flag("--verify", settings.verify, "Hold the output against the law oracle and the exact oracle");
  command.add_flag("--json", settings.json, "Print one JSON document");
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
  auto* command = program.add_subcommand("run", "Run one convolution: a problem line, or tensors from .npy files");
  auto settings = std::make_shared<RunSettings>();
  add_run_options(*command, *settings);
  command->footer(
      "Keys of a problem line, in any order (2x1 is height and width, one number both):\n"
      "  x= weight= bias=0|1 stride= padding=P|HxW|t,b,l,r|same dilation= groups= output_padding= dtype=\n"
      "  x.layout= weight.layout=dense|channels_last|sliced|permuted|flipped|offset|expanded\n"
      "  out.layout=dense|channels_last|sliced|permuted|flipped|offset\n"
      "  align=BYTES data=int|normal|special seed= threads=0..4096 kernel=GLOB\n"
      "  demand=reproducible|order(NAME)|accurate(FACTOR)|accurate(FACTOR,plane)|fast|any\n"
      "Examples:\n"
      "  convoke run conv2d x=1x64x56x56 weight=64x64x3x3 bias=1 stride=2x1 padding=1 --verify\n"
      "  convoke run conv_transpose2d x=1x8x8x8 weight=8x4x2x2 stride=2 dtype=bf16 --json\n"
      "  convoke run conv2d padding=1 --x x.npy --weight w.npy --out y.npy\n"
      "  convoke run conv2d x=1x3x8x8 weight=4x3x3x3 --kernel 'cpu/portable/*'");
  command->callback([&action, settings] {
    settle_words(settings->input, settings->planning);
    action = [settings] { return run(*settings); };
  });
}

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/planning_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <string_view>
#include <utility>

#include "apps/convoke/execution.hpp"
#include "apps/convoke/output.hpp"
#include "apps/convoke/rates_file.hpp"

namespace convoke::cli {

void add_run_words(CLI::App& command, RunWords& words) {
  command.add_option("problem", words.words, "Problem line: the operation and key=value words")->type_name("WORD");
  const auto add = [&command](const char* name, auto& value, const char* description, const char* type) {
    command.add_option(name, value, description)->type_name(type)->check(never_empty);
  };
  add("--x", words.x, "Input from a .npy file", "FILE");
  add("--weight", words.weight, "Weight from a .npy file", "FILE");
  add("--bias", words.bias, "Bias from a .npy file", "FILE");
  add("--dtype", words.dtype, "f32, f64, bf16 or f16; bf16 reads uint16 files", "DTYPE");
  add("--kernel", words.kernel, "Force a kernel: a glob over ImplIds", "GLOB");
  command.add_option("--threads", words.threads, "Most threads to use; 0: as many as OpenMP would")
      ->type_name("N")
      ->check(CLI::Range(0, problem::max_threads).description(""));
}

void add_planning(CLI::App& command, PlanningWords& words) {
  const auto add = [&command](const char* name, auto& value, const char* description, const char* type) {
    command.add_option(name, value, description)->type_name(type)->check(never_empty);
  };
  add("--contracts", words.contracts, "Add the kernels of these documents", "PATH");
  command.add_option("--forbid", words.forbid, "Never use these kernels, copies included: a glob over ImplIds")
      ->type_name("GLOB")
      ->allow_extra_args(false)
      ->check(never_empty);
  command.add_option("--backend", words.backends, "Convolve on these backends only: cpu, vulkan")
      ->type_name("NAME")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"cpu", "cuda", "vulkan", "metal"}).description(""));
  command.add_option("--workspace-cap", words.workspace_cap, "Most bytes of scratch that a route may need")
      ->type_name("BYTES")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()).description(""));
  add_packed(command, words.packed);
  add("--rates", words.rates, "Price by this table instead of the one that 'convoke calibrate' wrote", "FILE");
}

void add_packed(CLI::App& command, bool& packed) {
  command.add_flag("--packed", packed, "Pack the weight once, before: neither priced nor timed");
}

void settle_words(RunWords& input, PlanningWords& planning) {
  std::erase_if(planning.contracts, [&](const std::string& word) {
    const bool of_line = word == name_of(Op::conv2d) || word == name_of(Op::conv_transpose2d) ||
                         (word.find('=') != std::string::npos && ::access(word.c_str(), F_OK) != 0);
    if (of_line) input.words.push_back(word);
    return of_line;
  });
}

Result<Planning> load_planning(const PlanningWords& words, const problem::Problem& problem, const Catalog& catalog) {
  auto rates = load_rates(words.rates);
  if (!rates) return tl::unexpected(rates.error());
  auto options = plan_options(problem, catalog);
  if (!options) return tl::unexpected(options.error());
  Planning planning{std::make_unique<const Rates>(*std::move(rates)), *std::move(options)};
  planning.options.rates = planning.rates.get();
  planning.options.forbid = words.forbid;
  planning.options.backends = words.backends;
  planning.options.packed_weight = words.packed;
  if (words.workspace_cap >= 0) planning.options.workspace_cap = static_cast<std::size_t>(words.workspace_cap);
  return planning;
}

Demand demand_of(const PlanOptions& options) {
  return options.demand.value_or(options.kernel.empty() ? Demand::reproducible() : Demand::any());
}

std::string planning_text(const PlanningWords& words) {
  std::string text;
  const auto add = [&](std::string_view option, const std::string& value) {
    text += fmt::format(" {} {}", option, shell_word(value));
  };
  for (const std::string& path : words.contracts) add("--contracts", path);
  for (const std::string& glob : words.forbid) add("--forbid", glob);
  for (const std::string& name : words.backends) add("--backend", name);
  if (words.workspace_cap >= 0) add("--workspace-cap", fmt::to_string(words.workspace_cap));
  if (words.packed) text += " --packed";
  if (!words.rates.empty()) add("--rates", words.rates);
  return text;
}

}  // namespace convoke::cli

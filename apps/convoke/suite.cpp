// SPDX-License-Identifier: Apache-2.0 OR MIT
// `convoke suite`: layer lists, case files and random problems, each on every binding that admits it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/convoke/commands.hpp"
#include "apps/convoke/documents.hpp"
#include "apps/convoke/planning_options.hpp"
#include "apps/convoke/suite_cases.hpp"
#include "apps/convoke/suite_regret.hpp"
#include "apps/convoke/suite_result.hpp"
#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/glob.hpp"
#include "problem/problem.hpp"
#include "problem/text.hpp"

namespace convoke::cli {
namespace {

struct SuiteSettings {
  std::vector<std::string> files, dtypes, contracts;
  SuiteOptions options;
  std::uint64_t random = 0, seed = 1;
  std::string rates;
  bool json = false, regret = false;
};

Result<std::vector<DType>> dtypes_of(const std::vector<std::string>& names) {
  std::vector<DType> dtypes;
  for (const std::string& name : names) {
    const auto dtype = parse_dtype(name);
    if (!dtype && name != "all")
      return fail(ErrorCode::invalid_argument, "dtype", {}, "--dtype {} is unknown; give f32, f64, bf16, f16 or all",
                  problem::clipped(name));
    if (name == "all")
      dtypes.assign(all_dtypes.begin(), all_dtypes.end());
    else
      dtypes.push_back(*dtype);
  }
  return dtypes;
}

bool any_kernel(const Catalog& catalog, const std::string& glob) {
  return std::ranges::any_of(catalog.table().all(),
                             [&](const bind::Binding& binding) { return glob_match(glob, binding.id); });
}

Result<Report> run_suites(SuiteSettings& settings) {
  if (settings.files.empty() && settings.random == 0)
    return tl::unexpected(usage_error("FILE",
                                      "nothing to run: name a layer list or a case file, or give --random N; "
                                      "see 'convoke suite --help'"));
  auto dtypes = dtypes_of(settings.dtypes);
  if (!dtypes) return tl::unexpected(dtypes.error());
  settings.options.dtypes = *std::move(dtypes);
  for (const std::string& path : settings.contracts) settings.options.extra += " --contracts " + shell_word(path);
  if (settings.options.packed) settings.options.extra += " --packed";
  const auto catalog = catalog_with(settings.contracts);
  if (!catalog) return tl::unexpected(catalog.error());
  if (const std::string& kernel = settings.options.kernel; !kernel.empty() && !any_kernel(*catalog, kernel))
    return fail(ErrorCode::not_found, "kernel", {}, "no kernel matches '{}'; 'convoke contracts list' names them all",
                problem::clipped(kernel));
  if (settings.regret) return regret_report(settings.files, *catalog, settings.options, settings.rates, settings.json);
  SuiteResult result;
  for (const std::string& file : settings.files)
    if (auto done = run_suite_file(file, *catalog, settings.options, result); !done)
      return tl::unexpected(done.error());
  if (settings.random > 0) run_random_suite(settings.random, settings.seed, *catalog, settings.options, result);
  if (result.cases.empty()) return tl::unexpected(usage_error("case", "no case matches; loosen --case or --dtype"));
  return suite_report(result, settings.json);
}

// The library would read -1 as a large number.
std::string whole_number(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code == std::errc{} && stop == end) return {};
  return fmt::format("{} is not a number from 0 to 2^64 - 1", problem::ticked(text));
}

void add_suite_options(CLI::App& command, SuiteSettings& settings) {
  command.add_option("files", settings.files, "Layer lists (CSV) and case files (JSON)")->type_name("FILE");
  auto* random = command.add_option("--random", settings.random, "Run N random problems of each operation")
                     ->type_name("N")
                     ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000}).description(""));
  command.add_option("--seed", settings.seed, "Seed of the random problems; 1 unless given")
      ->type_name("S")
      ->check(whole_number);
  command.add_flag("--verify", settings.options.verify, "Hold more of each layer's output against both oracles");
  command.add_option("--dtype", settings.dtypes, "Only these: f32, f64, bf16, f16, all; layers run f32 without it")
      ->type_name("DTYPE")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(never_empty);
  command.add_option("--case", settings.options.only, "Only cases and layers whose name matches")
      ->type_name("GLOB")
      ->check(never_empty);
  command.add_option("--kernel", settings.options.kernel, "Only bindings whose ImplId matches")
      ->type_name("GLOB")
      ->check(never_empty);
  command.add_option("--contracts", settings.contracts, "Add the kernels of these documents")
      ->type_name("PATH")
      ->check(never_empty);
  command.add_option("--threads", settings.options.threads, "Most threads for a layer or case; 0: as OpenMP would")
      ->type_name("N")
      ->check(CLI::Range(0, problem::max_threads).description(""));
  command.add_option("--repeat", settings.options.repeat, "Timed runs of a layer; without it, a tenth of a second")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
  add_packed(command, settings.options.packed);
  auto* regret = command.add_flag("--regret", settings.regret, "Time every route of each layer against the chosen one");
  regret->excludes(random);
  command.add_option("--rates", settings.rates, "Price --regret by this table, not the one of 'convoke calibrate'")
      ->type_name("FILE")
      ->needs(regret)
      ->check(never_empty);
  command.add_flag("--json", settings.json, "Print one JSON document");
}

// --contracts takes every word up to the next option: what can only be a suite goes back to the suites.
void settle_files(SuiteSettings& settings) {
  std::erase_if(settings.contracts, [&](const std::string& word) {
    const bool suite = word.ends_with(".csv") || word.ends_with(".json");
    if (suite) settings.files.push_back(word);
    return suite;
  });
}

}  // namespace

void add_suite(CLI::App& program, Action& action) {
  auto* command = program.add_subcommand("suite", "Run layer lists, case files or random problems on every binding");
  auto settings = std::make_shared<SuiteSettings>();
  add_suite_options(*command, *settings);
  command->footer(
      "A layer or case passes when every binding that admits it is right and at least one does.\n"
      "Examples:\n"
      "  convoke suite suites/conv-cases.json\n"
      "  convoke suite suites/layers.csv --dtype f32,bf16 --case 'resnet50_*' --verify\n"
      "  convoke suite --random 20000 --seed 1\n"
      "  convoke suite --regret suites/layers.csv --dtype bf16 --threads 1\n"
      "  convoke suite suites/conv-cases.json --contracts mine.fkc.md --json");
  command->callback([&action, settings] {
    settle_files(*settings);
    action = [settings] { return run_suites(*settings); };
  });
}

}  // namespace convoke::cli

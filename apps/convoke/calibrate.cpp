// SPDX-License-Identifier: Apache-2.0 OR MIT
// `convoke calibrate`: measures the rates of this machine and leaves them where planning commands look.
#include "judge/calibrate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "apps/convoke/commands.hpp"
#include "apps/convoke/json_output.hpp"
#include "apps/convoke/output.hpp"
#include "apps/convoke/progress.hpp"
#include "apps/convoke/rates_file.hpp"
#include "apps/convoke/table.hpp"
#include "base/dtype.hpp"
#include "base/duration.hpp"
#include "base/fail.hpp"
#include "base/file.hpp"
#include "problem/problem.hpp"

namespace convoke::cli {
namespace {

struct CalibrateSettings {
  std::string out;
  int threads = 0;
  bool quick = false, json = false;
};

// Rows that were not measured are the defaults, which every table has.
bool is_default(const RateRow& row) { return row.kernel_source.empty(); }

Result<std::string> destination(const CalibrateSettings& settings) {
  std::string path = settings.out.empty() ? rates_path() : settings.out;
  if (path.empty())
    return tl::unexpected(usage_error("out", "there is no home directory to write to; give --out FILE"));
  return path;
}

Result<void> save(const Rates& rates, const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (failed)
    return fail(ErrorCode::io, "file", {}, "cannot create the folder {}: {}", folder.native(), failed.message());
  return write_file_whole(path, rates.to_json());
}

std::string rates_table(const Rates& rates) {
  Table table({{"WORK"}, {"SOURCE"}, {"DTYPE"}, {"GFLOP/S", true}, {"GB/S", true}, {"OVERHEAD", true}});
  // A speed that no measurement slowed down for is as good as unbounded.
  const auto speed = [](double per_ns) { return per_ns >= 1e5 ? std::string("-") : fmt::format("{:.2f}", per_ns); };
  for (const RateRow& row : rates.rows()) {
    if (is_default(row)) continue;
    const bool computes = row.work.starts_with("Conv");
    table.add({Cell(row.work, Style::bold), fmt::format("{}/{}", row.backend, row.kernel_source),
               row.dtype ? std::string(name_of(*row.dtype)) : std::string("any"),
               computes ? speed(row.rate.flops_per_ns) : std::string("-"), speed(row.rate.bytes_per_ns),
               duration_text(row.rate.overhead_ns)});
  }
  return table.render(output_width(), stdout_has_colour());
}

Result<Report> calibrate_command(const CalibrateSettings& settings) {
  const auto path = destination(settings);
  if (!path) return tl::unexpected(path.error());
  judge::CalibrateOptions options;
  options.threads = settings.threads;
  if (settings.quick) {
    options.box_ms = 0;
    options.rounds = 1;
  }
  std::unique_ptr<Progress> progress;
  std::size_t shown = 0;
  options.progress = [&](std::string_view work, std::size_t done, std::size_t total) {
    if (progress == nullptr) progress = std::make_unique<Progress>("calibrate", total);
    progress->advance(done - std::exchange(shown, done));
    progress->doing(work);
  };
  const auto rates = judge::calibrate(Catalog::builtin(), options);
  progress.reset();
  if (!rates) return tl::unexpected(rates.error());
  if (auto saved = save(*rates, *path); !saved) return tl::unexpected(saved.error());
  Report report;
  if (settings.json)
    report.text = rates->to_json();
  else
    report.text = rates_table(*rates) + fmt::format(
                                            "\nEach thread beyond the first adds {:.0f} % of one thread's speed.\n"
                                            "Written to {}\n",
                                            100 * rates->thread_gain(), escaped(*path));
  return report;
}

}  // namespace

void add_calibrate(CLI::App& program, Action& action) {
  auto* command = program.add_subcommand("calibrate", "Measure how fast this machine is, for the prices of routes");
  auto settings = std::make_shared<CalibrateSettings>();
  command->add_option("--out", settings->out, "Write the table here instead of where planning commands look")
      ->type_name("FILE")
      ->check(never_empty);
  command
      ->add_option("--threads", settings->threads, "Measure the gain of this many threads; 0: one for each processor")
      ->type_name("N")
      ->check(CLI::Range(0, problem::max_threads).description(""));
  command->add_flag("--quick", settings->quick, "Run each probe once: a rough table");
  command->add_flag("--json", settings->json, "Print the table as the JSON document that is written");
  command->footer(
      "Takes a few seconds on a machine with nothing else to do. The table goes to $CONVOKE_RATES, else to\n"
      "convoke/rates.json below $XDG_DATA_HOME or ~/.local/share; 'run' and 'explain' read it there.\n"
      "Examples:\n"
      "  convoke calibrate\n"
      "  convoke calibrate --out rates.json --threads 4\n"
      "  convoke explain conv2d x=1x64x56x56 weight=64x64x3x3 --rates rates.json");
  command->callback([&action, settings] { action = [settings] { return calibrate_command(*settings); }; });
}

}  // namespace convoke::cli

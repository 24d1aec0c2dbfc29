// SPDX-License-Identifier: Apache-2.0 OR MIT
// conv_peers: our convolutions beside oneDNN's, in one process and in turn (bench/README.md).
#include <fmt/format.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "apps/convoke/output.hpp"
#include "apps/convoke/progress.hpp"
#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/file.hpp"
#include "base/host.hpp"
#include "bench/peers/layers.hpp"
#include "bench/peers/measure.hpp"
#include "bench/peers/onednn.hpp"
#include "bench/peers/report.hpp"
#include "problem/text.hpp"

namespace convoke::peers {
namespace {

struct Settings {
  std::string suite, only, svg;
  std::vector<std::string> dtypes = {"f32"};
  std::vector<int> threads = {1};
  std::int64_t batch = 0;
  double box_ms = 300;
  bool json = false;
};

void complain(const std::string& message) { cli::write_stderr(fmt::format("conv_peers: error: {}\n", message)); }

void add_options(CLI::App& program, Settings& settings) {
  program.set_help_flag("-h,--help", "Print this help");
  program.add_option("--suite", settings.suite, "Layer list (CSV); needed")->type_name("FILE")->check(cli::never_empty);
  program.add_option("--dtype", settings.dtypes, "f32, f64, bf16, f16 or all, separated by commas; f32 unless given")
      ->type_name("D")
      ->delimiter(',')
      ->allow_extra_args(false);
  program.add_option("--threads", settings.threads, "Numbers of threads, separated by commas; 1 unless given")
      ->type_name("N")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, problem::max_threads).description(""));
  program.add_option("--only", settings.only, "Only layers whose name matches")
      ->type_name("GLOB")
      ->check(cli::never_empty);
  program.add_option("--batch", settings.batch, "Images at a time, in place of each layer's own number")
      ->type_name("N")
      ->check(CLI::Range(1, 65536).description(""));
  program.add_option("--time", settings.box_ms, "Milliseconds to spend on an attempt at a row; 300 unless given")
      ->type_name("MS")
      ->check(CLI::Range(1, 1'000'000).description(""));
  program.add_flag("--json", settings.json, "Print one JSON document");
  program.add_option("--svg", settings.svg, "Write a chart to this file")->type_name("FILE")->check(cli::never_empty);
  program.footer(
      "PLAIN: oneDNN on dense NCHW tensors. BEST: in the layouts it prefers, reorders not counted. Weights are packed\n"
      "beforehand in both, and for ours. A ratio is oneDNN's time over ours: above 1 we are faster. PEAK is our rate "
      "in\n"
      "percent of a loop of multiply-adds that runs in turn with the others on all threads; ~ marks a disturbed row.\n"
      "Exit status: 0 all well, 1 a result was wrong, 2 it could not run.");
}

Result<std::vector<DType>> dtypes_of(const std::vector<std::string>& names) {
  std::vector<DType> dtypes;
  const auto add = [&](DType dtype) {
    if (std::ranges::find(dtypes, dtype) == dtypes.end()) dtypes.push_back(dtype);
  };
  for (const std::string& name : names) {
    const auto dtype = parse_dtype(name);
    if (!dtype && name != "all")
      return fail(ErrorCode::invalid_argument, "dtype", {}, "--dtype {} is unknown; give f32, f64, bf16, f16 or all",
                  problem::clipped(name));
    if (dtype) add(*dtype);
    if (name == "all") std::ranges::for_each(all_dtypes, add);
  }
  return dtypes;
}

std::vector<int> threads_of(const Settings& settings) {
  std::vector<int> threads;
  for (const int count : settings.threads)
    if (std::ranges::find(threads, count) == threads.end()) threads.push_back(count);
  return threads;
}

std::vector<Row> measure(const Settings& settings, const std::vector<problem::Problem>& layers,
                         const std::vector<DType>& dtypes) {
  Measurement measurement({.box_ms = settings.box_ms});
  std::vector<Row> rows;
  cli::Progress progress("conv_peers", layers.size() * dtypes.size() * threads_of(settings).size());
  for (const DType dtype : dtypes)
    for (const int threads : threads_of(settings))
      for (problem::Problem layer : layers) {
        layer.dtype = dtype;
        layer.threads = threads;
        progress.doing(fmt::format("{} {} {}", layer.name, name_of(dtype), threads));
        rows.push_back(measurement.row(layer));
        progress.advance();
      }
  return rows;
}

Result<int> compare(const Settings& settings) {
  if (settings.suite.empty())
    return fail(ErrorCode::invalid_argument, "suite", {}, "name a layer list by --suite; see 'conv_peers --help'");
  const auto dtypes = dtypes_of(settings.dtypes);
  if (!dtypes) return tl::unexpected(dtypes.error());
  const auto layers = read_layers(settings.suite, settings.only, settings.batch);
  if (!layers) return tl::unexpected(layers.error());
  const std::vector<Row> rows = measure(settings, *layers, *dtypes);
  const Setting setting{.peer = onednn_version(),
                        .cpu = host().cpu,
                        .openmp = shared_openmp(),
                        .bound = omp_get_proc_bind() != omp_proc_bind_false};
  const std::string text =
      settings.json ? json_text(setting, rows)
                    : table_text(setting, rows, std::max(cli::output_width(), 128), cli::stdout_has_colour());
  if (auto written = cli::write_stdout(text); !written) return tl::unexpected(written.error());
  if (!settings.svg.empty())
    if (auto written = write_file_whole(settings.svg, chart_svg(setting, rows)); !written)
      return tl::unexpected(written.error());
  const auto wrong = std::ranges::count_if(rows, [](const Row& row) { return !row.wrong.empty(); });
  if (wrong > 0) complain(fmt::format("{} of {} rows are wrong", wrong, rows.size()));
  return wrong > 0 ? cli::exit_found_wrong : cli::exit_ok;
}

int run_program(int argc, const char* const* argv) {
  CLI::App program("Our convolutions beside oneDNN's: one process, in turn, medians", "conv_peers");
  Settings settings;
  add_options(program, settings);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return cli::write_stdout(program.help()) ? cli::exit_ok : cli::exit_could_not_run;
  } catch (const CLI::ParseError& wrong) {
    complain(fmt::format("{}; see 'conv_peers --help'", wrong.what()));
    return cli::exit_could_not_run;
  }
  const auto done = compare(settings);
  if (done) return *done;
  complain(done.error().message);
  return cli::exit_could_not_run;
}

}  // namespace
}  // namespace convoke::peers

int main(int argc, char** argv) {
  convoke::cli::claim_standard_streams();
  try {
    return convoke::peers::run_program(argc, argv);
  } catch (const std::exception& unexpected) {
    convoke::cli::write_stderr(fmt::format("conv_peers: error: {}\n", unexpected.what()));
  }
  return convoke::cli::exit_could_not_run;
}

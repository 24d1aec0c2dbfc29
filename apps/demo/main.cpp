// SPDX-License-Identifier: Apache-2.0 OR MIT
// convoke_demo: filters over a picture and the layers of a network, in all four dtypes, each checked against both
// oracles. Exit 0: all well; 1: something differed; 2: it could not run.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "apps/demo/filters.hpp"
#include "apps/demo/picture.hpp"
#include "apps/demo/report.hpp"
#include "apps/demo/trial.hpp"
#include "base/dtype.hpp"
#include "base/host.hpp"
#include "convoke/catalog.hpp"
#include "convoke/version.hpp"
#include "problem/layer_list.hpp"
#include "problem/workload.hpp"

namespace convoke::demo {
namespace {

struct Options {
  std::string out = "build/demo";
  std::string layers = "suites/layers.csv";
  std::string network = "resnet50";
  int size = 256;
  int threads = 0;
};

// Outputs of a layer that are compared with each oracle; of a picture, all are.
constexpr std::int64_t layer_sample = 256;

void introduce(const Options& options) {
  const BuildInfo& build = build_info();
  const auto start = std::chrono::steady_clock::now();
  const std::size_t bindings = Catalog::builtin().impl_ids().size();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  const Host& machine = host();
  std::string isa = "baseline";
  for (const std::string& name : isa_names(machine.isa)) isa += " " + name;
  fmt::print("convoke {} (commit {}, {}) on {}: {} cores, {}; {}\n", build.version, build.commit, build.compiler,
             machine.cpu, machine.cores, isa,
             options.threads > 0 ? fmt::format("{} threads", options.threads) : "as many threads as OpenMP gives");
  fmt::print("Imported the built-in contracts in {:.1f} ms: {} bindings\n", took.count(), bindings);
}

// One filter in one dtype. The picture of the f32 run is written and joins the contact sheet.
Result<void> run_filter(const Options& options, const Filter& filter, const Picture& source, DType dtype,
                        Report& report, std::vector<Picture>& sheet) {
  const Result<problem::Workload> work = make_operands(filter, source, dtype);
  if (!work) return tl::unexpected(work.error());
  if (!work->geometry()) return tl::unexpected(work->geometry().error());
  report.announce(fmt::format("{} {}", filter.name, name_of(dtype)));
  report.row(run_trial(filter.name, *work, {.threads = options.threads, .seconds = 0.1, .outputs = 0}));
  if (dtype != DType::f32) return {};
  sheet.push_back(show(filter, work->out()));
  return write_png(fmt::format("{}/{}.png", options.out, filter.name), sheet.back());
}

Result<void> run_filters(const Options& options, const std::vector<Filter>& filters, Report& report) {
  report.section("Filters over a picture");
  const Picture source = draw_evening(options.size);
  if (auto written = write_png(options.out + "/evening.png", source); !written) return written;
  std::vector<Picture> sheet{source};
  for (const Filter& filter : filters)
    for (DType dtype : all_dtypes)
      if (auto done = run_filter(options, filter, source, dtype, report, sheet); !done) return done;
  report.notes();
  const std::string path = options.out + "/contact_sheet.png";
  if (auto written = write_png(path, contact_sheet(sheet, 9 * options.size / 2)); !written) return written;
  report.line(fmt::format("Pictures: {}, and each alone beside it", path));
  return {};
}

Result<void> run_layers(const Options& options, const std::vector<problem::Layer>& layers, Report& report) {
  report.section(fmt::format("{} at batch 1: {} layers of {}", options.network, layers.size(), options.layers));
  for (const problem::Layer& layer : layers)
    for (DType dtype : all_dtypes) {
      problem::Problem problem = layer.problem;
      problem.dtype = dtype;
      report.announce(fmt::format("{} {}", problem.name, name_of(dtype)));
      const Result<problem::Workload> work = problem::make_workload(problem);
      if (!work) return tl::unexpected(work.error());
      report.row(run_trial(problem.name, *work, {.threads = options.threads, .seconds = 0.2, .outputs = layer_sample}));
    }
  report.notes();
  return {};
}

Result<std::vector<problem::Layer>> batch_one_layers(const Options& options) {
  Result<std::vector<problem::Layer>> layers = problem::read_layer_list(options.layers);
  if (!layers) return layers;
  std::erase_if(*layers, [&](const problem::Layer& layer) {
    return layer.network != options.network || layer.problem.x[0] != 1;
  });
  if (layers->empty())
    return tl::unexpected(Error{ErrorCode::invalid_argument,
                                "network",
                                fmt::format("{} has no layer of {} at batch 1", options.layers, options.network),
                                {{"network", options.network}}});
  return layers;
}

Result<int> run(const Options& options) {
  std::error_code failed;
  std::filesystem::create_directories(options.out, failed);
  if (failed)
    return tl::unexpected(
        Error{ErrorCode::io, "out", fmt::format("cannot make {}: {}", options.out, failed.message()), {}});
  const Result<std::vector<problem::Layer>> layers = batch_one_layers(options);
  if (!layers) return tl::unexpected(layers.error());
  const std::vector<Filter> filters = picture_filters();

  introduce(options);
  const std::size_t rows = (filters.size() + layers->size()) * all_dtypes.size();
  Report report(static_cast<int>(rows), isatty(STDOUT_FILENO) == 1);
  if (auto done = run_filters(options, filters, report); !done) return tl::unexpected(done.error());
  if (auto done = run_layers(options, *layers, report); !done) return tl::unexpected(done.error());
  report.line("");
  report.line(
      fmt::format("{} convolutions, {} comparisons with the oracles: {}", report.rows(), report.compared(),
                  report.wrong() == 0 ? "all agree" : fmt::format("{} convolutions are WRONG", report.wrong())));
  return report.wrong() == 0 ? 0 : 1;
}

int demo_main(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Filters a picture that it draws itself and runs the layers of a network, in f32, f64, bf16 and f16; says which\n"
      "kernel ran and why, times it, and checks it against both oracles. law: outputs equal to the law of the sum, "
      "bit\n"
      "by bit; exact: outputs within the error bound B, and the part of it that the worst one used."};
  app.add_option("--out", options.out, "Folder for the pictures")->capture_default_str();
  app.add_option("--layers", options.layers, "Layer list (CSV)")->capture_default_str();
  app.add_option("--network", options.network, "Network of the layer list")->capture_default_str();
  app.add_option("--size", options.size, "Width and height of the picture")
      ->check(CLI::Range(16, 4096))
      ->capture_default_str();
  app.add_option("--threads", options.threads, "Most threads a convolution may use; 0: as many as OpenMP gives")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const Result<int> status = run(options);
  if (status) return *status;
  fmt::print(stderr, "convoke_demo: {}\n", status.error().message);
  return 2;
}

}  // namespace
}  // namespace convoke::demo

int main(int argc, char** argv) {
  try {
    return convoke::demo::demo_main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "convoke_demo: %s\n", error.what());
    return 2;
  }
}

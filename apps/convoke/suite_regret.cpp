// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/suite_regret.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/convoke/execution.hpp"
#include "apps/convoke/json_output.hpp"
#include "apps/convoke/progress.hpp"
#include "apps/convoke/rates_file.hpp"
#include "apps/convoke/table.hpp"
#include "base/dtype.hpp"
#include "base/duration.hpp"
#include "base/glob.hpp"
#include "judge/regret.hpp"
#include "problem/layer_list.hpp"

namespace convoke::cli {
namespace {

using problem::LayoutKind;
using problem::Problem;

// Times that differ by less are the clock's own noise.
constexpr double margin = 0.03;
// A chosen route that takes no more than this much longer than the best counts as a good choice.
constexpr double good_choice = 0.1;
constexpr double route_box_ms = 200;

struct LayerRegret {
  std::string layer;  ///< name, dtype and layout of x
  std::string reproducer;
  judge::MeasuredRoutes measured;
};

// Pairs of routes whose prices are in the order of their times.
struct Order {
  judge::OrderCount kernel;  ///< pairs through one kernel: as it lies, copied dense, cast
  judge::OrderCount family;  ///< pairs through kernels of one source
};

struct Summary {
  double mean = 0, worst = 0;  ///< regret: geometric mean over the layers, and the largest
  std::size_t good = 0;        ///< layers whose regret is at most good_choice
  Order order;
  std::size_t wrong = 0;
};

judge::OrderCount operator+(const judge::OrderCount& a, const judge::OrderCount& b) {
  return {a.agree + b.agree, a.told + b.told, a.close + b.close};
}

Summary summary_of(const std::vector<LayerRegret>& layers) {
  Summary summary;
  double logs = 0;
  for (const LayerRegret& layer : layers) {
    if (!layer.measured.wrong.empty()) {
      ++summary.wrong;
      continue;
    }
    logs += std::log1p(layer.measured.regret());
    summary.worst = std::max(summary.worst, layer.measured.regret());
    summary.good += layer.measured.regret() <= good_choice;
    const std::vector<judge::MeasuredRoute>& routes = layer.measured.routes;
    summary.order.kernel = summary.order.kernel + order_of(routes, &judge::MeasuredRoute::kernel, margin);
    summary.order.family = summary.order.family + order_of(routes, &judge::MeasuredRoute::family, margin);
  }
  const std::size_t right = layers.size() - summary.wrong;
  summary.mean = right == 0 ? 0 : std::expm1(logs / static_cast<double>(right));
  return summary;
}

std::string share_text(std::size_t part, std::size_t whole) {
  const double share = whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{} of {} ({:.1f} %)", part, whole, 100 * share);
}

std::string order_text(const judge::OrderCount& order) {
  return fmt::format("{}, {} too close to call", share_text(order.agree, order.told), order.close);
}

Json json_of(const judge::OrderCount& order) {
  return {{"in_order", order.agree}, {"pairs", order.told}, {"too_close", order.close}};
}

LayerRegret run_layer(const Problem& problem, const Catalog& catalog, const SuiteOptions& options, const Rates& rates) {
  LayerRegret layer{
      .layer = fmt::format("{} {} {}", problem.name, convoke::name_of(problem.dtype), name_of(problem.x_layout)),
      .reproducer = fmt::format("convoke explain {}{}", shell_words(problem::to_line(problem)), options.extra),
      .measured = {}};
  auto workload = problem::make_workload(problem, problem::Guard::none);
  if (!workload) {
    layer.measured.wrong = workload.error().message;
    return layer;
  }
  judge::RegretOptions how;
  how.plan.demand = Demand::any();
  how.plan.kernel = options.kernel;
  how.plan.threads = options.threads;
  how.plan.packed_weight = options.packed;
  how.plan.rates = &rates;
  how.plan.catalog = &catalog;
  how.check.run.threads = options.threads;
  how.check.sampling = sampling_of(*workload->geometry(), {.terms = options.verify ? verified_terms : sampled_terms});
  how.pace = {.box_ms = route_box_ms, .warm = true};
  if (options.repeat > 0) how.pace = {.box_ms = 0, .least = options.repeat, .most = options.repeat, .warm = true};
  auto measured = judge::measure_routes(*workload, how);
  if (measured)
    layer.measured = *std::move(measured);
  else
    layer.measured.wrong = measured.error().message;
  return layer;
}

Result<std::vector<Problem>> problems_of(const std::vector<std::string>& files, const SuiteOptions& options) {
  const std::vector<DType> dtypes = options.dtypes.empty() ? std::vector{DType::f32} : options.dtypes;
  std::vector<Problem> problems;
  for (const std::string& file : files) {
    const auto layers = problem::read_layer_list(file);
    if (!layers) return tl::unexpected(layers.error());
    for (const problem::Layer& layer : *layers) {
      if (!options.only.empty() && !glob_match(options.only, layer.problem.name)) continue;
      for (const DType dtype : dtypes)
        for (const LayoutKind layout : {LayoutKind::dense, LayoutKind::channels_last}) {
          Problem problem = layer.problem;
          problem.dtype = dtype;
          problem.x_layout = layout;
          problem.threads = options.threads;
          problem.demand = "any";
          problems.push_back(std::move(problem));
        }
    }
  }
  if (problems.empty()) return tl::unexpected(usage_error("case", "no layer matches; loosen --case"));
  return problems;
}

Json json_of(const LayerRegret& layer) {
  Json routes = Json::array();
  for (const judge::MeasuredRoute& route : layer.measured.routes)
    routes.push_back({{"route", route.route}, {"price_ns", route.price_ns}, {"measured_ns", route.measured_ns}});
  Json json = {{"layer", layer.layer}, {"reproducer", layer.reproducer}, {"routes", std::move(routes)}};
  if (!layer.measured.wrong.empty()) {
    json["wrong"] = layer.measured.wrong;
    return json;
  }
  json["chosen"] = layer.measured.routes[layer.measured.chosen].route;
  json["best"] = layer.measured.routes[layer.measured.best()].route;
  json["regret"] = layer.measured.regret();
  return json;
}

Json json_of(const std::vector<LayerRegret>& layers, const Summary& summary) {
  Json list = Json::array();
  for (const LayerRegret& layer : layers) list.push_back(json_of(layer));
  return {{"layers", std::move(list)},
          {"mean_regret", summary.mean},
          {"worst_regret", summary.worst},
          {"good_choices", summary.good},
          {"kernel_order", json_of(summary.order.kernel)},
          {"family_order", json_of(summary.order.family)},
          {"wrong", summary.wrong}};
}

void add_rows(Table& table, const LayerRegret& layer) {
  const judge::MeasuredRoutes& measured = layer.measured;
  if (!measured.wrong.empty()) {
    table.add({Cell(layer.layer, Style::bold), Cell("wrong", Style::red)});
    table.note(measured.wrong, Style::red);
    table.note(layer.reproducer);
    return;
  }
  const judge::MeasuredRoute& chosen = measured.routes[measured.chosen];
  const judge::MeasuredRoute& best = measured.routes[measured.best()];
  const double regret = measured.regret();
  table.add({Cell(layer.layer, Style::bold), fmt::to_string(measured.routes.size()), duration_text(chosen.price_ns),
             duration_text(chosen.measured_ns), duration_text(best.measured_ns),
             Cell(fmt::format("{:.1f}", 100 * regret), regret > margin ? Style::yellow : Style::plain)});
  table.note("chosen " + chosen.route);
  if (measured.best() != measured.chosen) table.note("best   " + best.route);
}

std::string summary_text(const std::vector<LayerRegret>& layers, const Summary& summary) {
  return fmt::format(
      "{}: regret {:.2f} % in the geometric mean, {:.1f} % at worst; at most {:.0f} %: {}\n"
      "Pairs of routes that the prices order as the clock does: through one kernel {};\n"
      "through kernels of one source {}\n",
      counted(layers.size(), "layer"), 100 * summary.mean, 100 * summary.worst, 100 * good_choice,
      share_text(summary.good, layers.size() - summary.wrong), order_text(summary.order.kernel),
      order_text(summary.order.family));
}

}  // namespace

Result<Report> regret_report(const std::vector<std::string>& files, const Catalog& catalog, const SuiteOptions& options,
                             const std::string& rates, bool json) {
  const auto table_of_rates = load_rates(rates);
  if (!table_of_rates) return tl::unexpected(table_of_rates.error());
  const auto problems = problems_of(files, options);
  if (!problems) return tl::unexpected(problems.error());
  std::vector<LayerRegret> layers;
  {
    Progress progress("suite", problems->size());
    for (const Problem& problem : *problems) {
      progress.doing(problem.name);
      layers.push_back(run_layer(problem, catalog, options, *table_of_rates));
      progress.advance();
    }
  }
  const Summary summary = summary_of(layers);
  Report report;
  report.exit = summary.wrong > 0 ? exit_found_wrong : exit_ok;
  if (json) {
    report.text = json_text(json_of(layers, summary));
    return report;
  }
  Table table({{"LAYER"}, {"ROUTES", true}, {"PRICE", true}, {"CHOSEN", true}, {"BEST", true}, {"REGRET %", true}});
  for (const LayerRegret& layer : layers) add_rows(table, layer);
  report.text = table.render(output_width(), stdout_has_colour()) + "\n" + summary_text(layers, summary);
  if (summary.wrong > 0) report.text += fmt::format("{} with a wrong route\n", counted(summary.wrong, "layer"));
  return report;
}

}  // namespace convoke::cli

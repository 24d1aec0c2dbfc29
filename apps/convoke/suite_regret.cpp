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
constexpr double route_box_ms = 200;

struct LayerRegret {
  std::string layer;  ///< name, dtype and layout of x
  std::string reproducer;
  judge::MeasuredRoutes measured;
  judge::OrderCount order;
};

struct Summary {
  double mean = 0, worst = 0;  ///< regret: geometric mean over the layers, and the largest
  judge::OrderCount order;
  std::size_t wrong = 0;
};

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
    summary.order.agree += layer.order.agree;
    summary.order.told += layer.order.told;
    summary.order.close += layer.order.close;
  }
  const std::size_t right = layers.size() - summary.wrong;
  summary.mean = right == 0 ? 0 : std::expm1(logs / static_cast<double>(right));
  return summary;
}

double share(const judge::OrderCount& order) {
  return order.told == 0 ? 1 : static_cast<double>(order.agree) / static_cast<double>(order.told);
}

LayerRegret run_layer(const Problem& problem, const Catalog& catalog, const SuiteOptions& options, const Rates& rates) {
  LayerRegret layer{
      .layer = fmt::format("{} {} {}", problem.name, convoke::name_of(problem.dtype), name_of(problem.x_layout)),
      .reproducer = fmt::format("convoke explain {}{}", shell_words(problem::to_line(problem)), options.extra),
      .measured = {},
      .order = {}};
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
  layer.order = judge::order_of(layer.measured.routes, margin);
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
  return {{"layers", std::move(list)},     {"mean_regret", summary.mean},
          {"worst_regret", summary.worst}, {"pairs_in_order", summary.order.agree},
          {"pairs", summary.order.told},   {"pairs_too_close", summary.order.close},
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
      "{}: regret {:.2f} % in the geometric mean, {:.1f} % at worst\n"
      "Prices order {} of {} pairs of routes of one family as the clock does ({:.1f} %); {} too close to call\n",
      counted(layers.size(), "layer"), 100 * summary.mean, 100 * summary.worst, summary.order.agree, summary.order.told,
      100 * share(summary.order), summary.order.close);
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

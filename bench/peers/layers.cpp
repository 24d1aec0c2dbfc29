// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/layers.hpp"

#include "base/fail.hpp"
#include "base/glob.hpp"
#include "problem/layer_list.hpp"
#include "problem/text.hpp"

namespace convoke::peers {

Result<std::vector<problem::Problem>> read_layers(const std::string& path, const std::string& only,
                                                  std::int64_t batch) {
  const auto layers = problem::read_layer_list(path);
  if (!layers) return tl::unexpected(layers.error());
  std::vector<problem::Problem> problems;
  for (const problem::Layer& layer : *layers) {
    if (!only.empty() && !glob_match(only, layer.problem.name)) continue;
    problem::Problem problem = layer.problem;
    problem.data = problem::DataKind::integer;
    if (batch > 0) problem.x[0] = batch;
    if (const auto fits = problem::geometry_of(problem); !fits) return tl::unexpected(fits.error());
    problems.push_back(std::move(problem));
  }
  if (problems.empty())
    return fail(ErrorCode::invalid_argument, "only", {}, "no layer of {} matches '{}'", problem::clipped(path),
                problem::clipped(only));
  return problems;
}

}  // namespace convoke::peers

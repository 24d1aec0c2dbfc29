// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/duration.hpp"
#include "base/geometry.hpp"
#include "base/guard.hpp"
#include "plan/candidates.hpp"
#include "plan/demand.hpp"
#include "plan/request.hpp"

namespace convoke {
namespace {

using planner::Candidate;
using planner::Request;
using planner::Route;
using planner::Step;

StepReport report_of(const Route& route, std::size_t index) {
  const Step& step = route.steps[index];
  const planner::Work& work = step.price.work;
  std::vector<std::string> reads{std::string(step.role)};
  if (bind::convolves(step.binding->op)) reads = {"x", "weight"};
  if (step.inputs.size() == 3) reads.emplace_back("bias");
  return {.kernel = step.binding->id,
          .role = std::string(step.role),
          .reads = std::move(reads),
          .price_ns = step.price.ns,
          .flops = work.flops,
          .bytes = work.bytes,
          .overhead_ns = work.overhead_ns,
          .cost_class = std::string(step.price.cost_class),
          .once = route.packed_weight && planner::is_of_weight(route, index),
          .filled = work.filled};
}

// What every step's contract promises not to change the bits.
std::vector<std::string> invariances(const Route& route) {
  std::vector<std::string> common;
  bool first = true;
  for (const Step& step : route.steps) {
    const auto& numerics = step.binding->contract->numerics;
    const std::vector<std::string> own = numerics ? numerics->invariant_to : std::vector<std::string>();
    if (std::exchange(first, false))
      common = own;
    else
      std::erase_if(common, [&](const std::string& what) { return std::ranges::find(own, what) == own.end(); });
  }
  return common;
}

// What the candidate promises, admitted or not.
void add_claims(const bind::BindingTable& table, const Request& request, const Candidate& candidate,
                CandidateReport& report) {
  const bind::Binding& binding = *candidate.binding;
  const contract::Contract& contract = *binding.contract;
  report.determinism = contract::word_of(contract.determinism);
  report.order = planner::order_of(binding, request, candidate.variant.through);
  if (contract.numerics) report.invariant_to = contract.numerics->invariant_to;
  if (!candidate.route && candidate.route.error().clause == "key")
    report.bound_over_law = std::nullopt;
  else
    report.bound_over_law = planner::bound_over_law(binding, request, candidate.variant.through);
  report.evidence = "declared";
  report.relied_on = !binding.foreign;
  if (binding.alias_of) report.alias_of = table.all()[*binding.alias_of].id;
}

CandidateReport report_of(const bind::BindingTable& table, const Request& request, const Candidate& candidate) {
  CandidateReport report;
  report.route = planner::name_of(candidate);
  report.id = candidate.binding->id;
  report.admitted = candidate.route.has_value();
  add_claims(table, request, candidate, report);
  if (!candidate.route) {
    const planner::Clause& clause = candidate.route.error();
    report.refused = Refusal{report.id, clause.clause, clause.wanted, clause.found};
    return report;
  }
  const Route& route = *candidate.route;
  for (std::size_t i = 0; i < route.steps.size(); ++i) report.steps.push_back(report_of(route, i));
  report.price_ns = route.ns;
  report.workspace_bytes = planner::workspace_bytes(route);
  for (const std::size_t bytes : route.device_bytes) report.device_bytes += bytes;
  report.determinism = contract::word_of(planner::determinism_of(route));
  report.invariant_to = invariances(route);
  return report;
}

Result<Explanation> explain_any(Op op, const TensorSpec& x, const TensorSpec& weight,
                                const std::optional<TensorSpec>& bias, const TensorSpec& out, const ConvParams& params,
                                const PlanOptions& options) {
  return guarded([&]() -> Result<Explanation> {
    const Catalog& catalog = options.catalog == nullptr ? Catalog::builtin() : *options.catalog;
    if (auto ok = planner::check_options(options); !ok) return tl::unexpected(ok.error());
    const auto request = planner::make_request(op, x, weight, bias, out, params);
    if (!request) return tl::unexpected(request.error());
    const std::vector<Candidate> all = planner::candidates(catalog.table(), *request, options);
    Explanation explanation;
    for (const Candidate& candidate : all)
      explanation.candidates.push_back(report_of(catalog.table(), *request, candidate));
    explanation.chosen = planner::cheapest(all);
    return explanation;
  });
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return result + '"';
}

// Operands are ellipses, steps are boxes. A step on an operand is the same box in every route that takes the same way
// to it, which is what its key says.
class Graph {
 public:
  void add(const CandidateReport& candidate, bool chosen);
  std::string text() const;

 private:
  std::string operand(const std::string& role);
  std::string step(const StepReport& step, const std::string& key);
  void edge(const std::string& from, const std::string& to, bool chosen) { edges_[from + " -> " + to] |= chosen; }

  std::map<std::string, std::string> names_;  // key of a step or operand: its name in the graph
  std::vector<std::string> nodes_;            // lines
  std::map<std::string, bool> edges_;         // line: whether the chosen route takes it
};

std::string Graph::operand(const std::string& role) {
  if (names_.emplace(role, role).second) nodes_.push_back(fmt::format("{} [shape=ellipse]", role));
  return role;
}

std::string Graph::step(const StepReport& step, const std::string& key) {
  const auto [found, added] = names_.emplace(key, fmt::format("step{}", names_.size()));
  if (added)
    nodes_.push_back(fmt::format(
        "{} [label={}]", found->second,
        quoted(fmt::format("{}\n{}{}", step.kernel, duration_text(step.price_ns), step.once ? ", once" : ""))));
  return found->second;
}

void Graph::add(const CandidateReport& candidate, bool chosen) {
  struct End {
    std::string node, key;
  };
  std::map<std::string, End> at;  // role: where the operand has got to
  const auto reached = [&](const std::string& role) {
    if (!at.contains(role)) at[role] = {operand(role), role};
    return at[role];
  };
  for (const StepReport& one : candidate.steps) {
    const bool main = one.role.empty();
    const std::string key = (main ? candidate.route : reached(one.role).key) + " > " + one.kernel;
    const std::string node = step(one, key);
    if (!main) {
      edge(reached(one.role).node, node, chosen);
      at[one.role] = {node, key};
      continue;
    }
    for (const std::string& role : one.reads) edge(reached(role).node, node, chosen);
    at["out"] = {node, key};
  }
  edge(at["out"].node, operand("out"), chosen);
}

std::string Graph::text() const {
  std::string text = "digraph routes {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n";
  for (const std::string& line : nodes_) text += fmt::format("  {};\n", line);
  for (const auto& [line, chosen] : edges_) text += fmt::format("  {}{};\n", line, chosen ? " [penwidth=3]" : "");
  return text + "}\n";
}

}  // namespace

Result<Explanation> explain(const TensorSpec& x, const TensorSpec& weight, const std::optional<TensorSpec>& bias,
                            const TensorSpec& out, const Conv2dParams& params, const PlanOptions& options) {
  return explain_any(Op::conv2d, x, weight, bias, out, to_conv_params(params), options);
}

Result<Explanation> explain(const TensorSpec& x, const TensorSpec& weight, const std::optional<TensorSpec>& bias,
                            const TensorSpec& out, const ConvTranspose2dParams& params, const PlanOptions& options) {
  return explain_any(Op::conv_transpose2d, x, weight, bias, out, to_conv_params(params), options);
}

std::string to_dot(const Explanation& explanation) {
  Graph graph;
  for (std::size_t i = 0; i < explanation.candidates.size(); ++i)
    if (explanation.candidates[i].admitted) graph.add(explanation.candidates[i], explanation.chosen == i);
  return graph.text();
}

}  // namespace convoke

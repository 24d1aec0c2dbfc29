// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/explain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "plan/plan_impl.hpp"
#include "tests/plan/sample_table.hpp"

namespace convoke {
namespace {

using contract::Contract;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// x 1x4x8x8 with weight 8x4x3x3, over the built-in contracts and both seeds unless a catalog is given.
struct Asked {
  TensorSpec x = planner::aligned({1, 4, 8, 8}), weight = planner::aligned({8, 4, 3, 3});
  std::optional<TensorSpec> bias;
  TensorSpec out = planner::aligned({1, 8, 6, 6});
  Conv2dParams params;
  PlanOptions options;

  Result<Explanation> ask() const { return explain(x, weight, bias, out, params, options); }
  Explanation explanation() const { return ask().value(); }
  Result<Plan> plan() const { return convoke::plan(x, weight, bias, out, params, options); }
};

const Catalog& with_seeds() {
  static const Catalog catalog = [] {
    std::vector<Document> documents;
    for (const char* name : {"cpu-conv.fkc.md", "vulkan-conv.fkc.md"}) {
      const std::string path = std::string(CONVOKE_SUITES) + "/contracts/" + name;
      documents.push_back({path, read_file(path).value()});
    }
    return Catalog::with_documents(documents).value();
  }();
  return catalog;
}

void takes_gaps(Contract& c) {
  c.inputs[0].layout->contiguous = contract::Contiguity::accepted;
  c.inputs[0].layout->strided = true;
}

// Telling requests: dense, gaps, unaligned, with a bias, through casts, forced, and with nothing left.
std::vector<Asked> telling() {
  std::vector<Asked> all(7);
  planner::spread(all[1].x);
  planner::spread(all[1].out);
  all[2].x.align = all[2].out.align = 1;
  all[3].bias = planner::aligned({8}, 4);
  for (TensorSpec* spec : {&all[4].x, &all[4].weight, &all[4].out}) spec->dtype = DType::bf16;
  all[4].options.demand = Demand::any();
  all[5].options.kernel = "cpu/portable-cpu/*";
  planner::spread(all[5].x);
  all[6].options.forbid = {"*"};
  for (Asked& asked : all) asked.options.catalog = &with_seeds();
  return all;
}

const CandidateReport* find(const Explanation& explanation, std::string_view id) {
  for (const CandidateReport& candidate : explanation.candidates)
    if (candidate.id.starts_with(id)) return &candidate;
  return nullptr;
}

TEST(Explain, GivesEveryRouteOnceAndEveryKernelOfTheOperation) {
  for (const Asked& asked : telling()) {
    const Explanation explanation = asked.explanation();
    std::set<std::string> routes, ids, wanted;
    for (const CandidateReport& candidate : explanation.candidates) {
      EXPECT_TRUE(routes.insert(candidate.route).second) << candidate.route;
      ids.insert(candidate.id);
    }
    for (const bind::Binding& binding : with_seeds().table().all())
      if (binding.op == bind::Operator::conv2d) wanted.insert(binding.id);
    EXPECT_EQ(ids, wanted);
  }
}

TEST(Explain, StepsSumToThePriceAndHoldTheKernelOnce) {
  std::size_t admitted = 0;
  for (const Asked& asked : telling())
    for (const CandidateReport& candidate : asked.explanation().candidates) {
      double sum = 0;
      int mains = 0;
      for (const StepReport& step : candidate.steps) {
        sum += step.price_ns;
        if (step.role.empty()) {
          ++mains;
          EXPECT_EQ(step.kernel, candidate.id);
        }
        EXPECT_GT(step.price_ns, 0) << step.kernel;
        EXPECT_GT(step.bytes, 0) << step.kernel;
        EXPECT_FALSE(step.cost_class.empty()) << step.kernel;
      }
      EXPECT_DOUBLE_EQ(candidate.price_ns, sum) << candidate.route;
      EXPECT_EQ(mains, candidate.admitted ? 1 : 0) << candidate.route;
      EXPECT_EQ(candidate.measured_ns, std::nullopt);
      admitted += candidate.admitted ? 1 : 0;
    }
  EXPECT_GE(admitted, 7u);
}

TEST(Explain, ARefusalHoldsClauseWantedAndFound) {
  std::set<std::string> clauses;
  for (const Asked& asked : telling())
    for (const CandidateReport& candidate : asked.explanation().candidates) {
      ASSERT_EQ(candidate.refused.has_value(), !candidate.admitted) << candidate.route;
      if (candidate.admitted) continue;
      EXPECT_EQ(candidate.refused->kernel, candidate.id);
      EXPECT_FALSE(candidate.refused->wanted.empty()) << candidate.route;
      EXPECT_FALSE(candidate.refused->found.empty()) << candidate.route;
      EXPECT_THAT(candidate.steps, IsEmpty());
      clauses.insert(candidate.refused->clause);
    }
  EXPECT_THAT(clauses, testing::IsSupersetOf({"key", "evidence", "kernel", "forbid", "alias", "backend"}));
}

TEST(Explain, TheChosenOneIsThePlan) {
  int chosen = 0;
  for (const Asked& asked : telling()) {
    const Explanation explanation = asked.explanation();
    const auto plan = asked.plan();
    ASSERT_EQ(explanation.chosen.has_value(), plan.has_value());
    if (!plan) continue;
    ++chosen;
    const CandidateReport& best = explanation.candidates.at(*explanation.chosen);
    EXPECT_EQ(best.route, planner::text_of(plan->impl().route));
    EXPECT_EQ(best.id, plan->kernel());
    std::vector<std::string> steps;
    for (const StepReport& step : best.steps) steps.push_back(step.kernel);
    EXPECT_EQ(steps, plan->route());
    EXPECT_DOUBLE_EQ(best.price_ns, plan->price_ns());
    EXPECT_EQ(best.workspace_bytes, plan->workspace_bytes());
    for (const CandidateReport& other : explanation.candidates) {
      if (other.admitted) {
        EXPECT_GE(other.price_ns, best.price_ns) << other.route;
      }
    }
  }
  EXPECT_EQ(chosen, 6);
}

TEST(Explain, WithNothingLeftThereIsAnExplanationWithoutAChoice) {
  Asked asked;
  asked.options.forbid = {"*"};
  const auto explanation = asked.ask();
  ASSERT_TRUE(explanation) << explanation.error().message;
  EXPECT_EQ(explanation->chosen, std::nullopt);
  EXPECT_FALSE(explanation->candidates.empty());
}

TEST(Explain, ErrorsAreThoseOfPlan) {
  const std::vector<std::function<void(Asked&)>> changes = {
      [](Asked& a) { a.params.stride = 0; },         [](Asked& a) { a.x.align = 3; },
      [](Asked& a) { a.weight.dtype = DType::f64; }, [](Asked& a) { a.out.strides = {0, 36, 6, 0}; },
      [](Asked& a) { a.options.threads = -1; },      [](Asked& a) { a.options.demand = Demand::accurate(-1); },
  };
  for (const auto& change : changes) {
    Asked asked;
    change(asked);
    const auto explanation = asked.ask();
    const auto plan = asked.plan();
    ASSERT_FALSE(explanation || plan);
    EXPECT_EQ(explanation.error().rule, plan.error().rule);
    EXPECT_EQ(explanation.error().message, plan.error().message);
  }
}

TEST(Explain, TellsWhatIsReliedOn) {
  Asked asked;
  asked.options.catalog = &with_seeds();
  const Explanation explanation = asked.explanation();
  const CandidateReport* own = find(explanation, "cpu/portable/conv2d_f32/f32,f32,f32#");
  ASSERT_NE(own, nullptr);
  EXPECT_TRUE(own->relied_on);
  EXPECT_EQ(own->evidence, "declared");
  EXPECT_EQ(own->order, "law");
  EXPECT_EQ(own->determinism, "bitwise");
  EXPECT_EQ(own->bound_over_law, 1);
  EXPECT_EQ(own->alias_of, "");
  EXPECT_THAT(own->invariant_to, UnorderedElementsAre("threads", "batch", "layout", "alignment", "isa", "device"));
  const CandidateReport* seed = find(explanation, "cpu/portable-cpu/conv2d_f32/f32,f32,f32#");
  ASSERT_NE(seed, nullptr);
  EXPECT_FALSE(seed->relied_on);
  EXPECT_EQ(seed->order, "unknown");
  EXPECT_EQ(seed->determinism, "same_hardware_bitwise");
  EXPECT_EQ(seed->bound_over_law, std::nullopt);
  EXPECT_EQ(seed->alias_of, own->id);
  EXPECT_EQ(seed->refused->clause, "evidence");
}

// What a route promises is what all of its steps promise.
TEST(Explain, ARoutePromisesWhatItsWeakestStepDoes) {
  const Catalog catalog = planner::sample_catalog({{"loose", [](Contract& c) {
                                                      c.determinism = contract::Determinism::nondeterministic;
                                                      c.numerics->invariant_to = {"threads", "magic"};
                                                    }}});
  Asked asked;
  asked.options.catalog = &catalog;
  asked.options.demand = Demand::any();
  CandidateReport report = *find(asked.explanation(), "cpu/loose/conv/f32,f32,f32#");
  EXPECT_EQ(report.determinism, "nondeterministic");
  EXPECT_THAT(report.invariant_to, ElementsAre("threads", "magic"));
  planner::spread(asked.x);
  report = *find(asked.explanation(), "cpu/loose/conv/f32,f32,f32#");
  ASSERT_EQ(report.steps.size(), 2u);
  EXPECT_EQ(report.determinism, "nondeterministic");
  EXPECT_THAT(report.invariant_to, ElementsAre("threads")) << "the copy knows no magic";
}

TEST(Explain, AFilledPriceIsMarked) {
  const Catalog catalog = planner::sample_catalog({{"vague"}, {"exact", planner::costs(10)}});
  Asked asked;
  asked.options.catalog = &catalog;
  const Explanation explanation = asked.explanation();
  EXPECT_TRUE(find(explanation, "cpu/vague/conv/f32,f32,f32#")->steps.at(0).filled);
  EXPECT_FALSE(find(explanation, "cpu/exact/conv/f32,f32,f32#")->steps.at(0).filled);
  EXPECT_EQ(find(explanation, "cpu/exact/conv/f32,f32,f32#")->steps.at(0).overhead_ns, 10);
}

TEST(Explain, OfTheTransposedOperation) {
  const auto explanation = explain(planner::aligned({1, 4, 5, 5}), planner::aligned({4, 8, 3, 3}), std::nullopt,
                                   planner::aligned({1, 8, 7, 7}), ConvTranspose2dParams{});
  ASSERT_TRUE(explanation) << explanation.error().message;
  ASSERT_TRUE(explanation->chosen);
  EXPECT_THAT(explanation->candidates[*explanation->chosen].id, StartsWith("cpu/portable/conv_transpose2d_f32/"));
}

// A small reader of what to_dot writes: a statement a line; nodes with their labels, edges, attributes.
struct Dot {
  std::map<std::string, std::string> nodes;  // name: label, unquoted
  std::vector<std::pair<std::string, std::string>> edges;
  int bold = 0;
  bool well_formed = true;

  explicit Dot(const std::string& text) {
    std::size_t at = text.find('\n') + 1;
    well_formed = text.starts_with("digraph routes {\n") && text.ends_with("\n}\n");
    for (std::size_t end = 0; at < text.size() - 2; at = end + 1) {
      end = text.find('\n', at);
      read(text.substr(at, end - at));
    }
  }

 private:
  void read(const std::string& line) {
    well_formed &= line.starts_with("  ") && line.ends_with(";");
    const std::string name = line.substr(2, line.find_first_of(" =", 2) - 2);
    if (name == "rankdir" || name == "node") return;
    bold += line.find("penwidth") != std::string::npos ? 1 : 0;
    if (const std::size_t arrow = line.find(" -> "); arrow != std::string::npos && arrow == 2 + name.size()) {
      edges.emplace_back(name, line.substr(arrow + 4, line.find_first_of(" ;", arrow + 4) - arrow - 4));
      return;
    }
    std::string label;
    std::size_t i = line.find('"');
    for (++i; i != 0 && i < line.size() && line[i] != '"'; ++i) label += line[i] == '\\' ? line[++i] : line[i];
    well_formed &= line.find('"') == std::string::npos || line.substr(i) == "\"];";
    nodes[name] = label;
  }
};

TEST(ToDot, IsOneBalancedGraphOfNodesThatExist) {
  for (const Asked& asked : telling()) {
    const std::string text = to_dot(asked.explanation());
    const Dot dot(text);
    EXPECT_TRUE(dot.well_formed) << text;
    for (const auto& [from, to] : dot.edges) {
      EXPECT_TRUE(dot.nodes.contains(from)) << from;
      EXPECT_TRUE(dot.nodes.contains(to)) << to;
    }
    const auto chosen = asked.explanation().chosen;
    EXPECT_EQ(dot.bold > 0, chosen.has_value());
    if (!chosen) {
      EXPECT_THAT(dot.edges, IsEmpty());
      EXPECT_THAT(dot.nodes, IsEmpty());
    }
  }
}

TEST(ToDot, ABiasLeadsToTheKernelWhereThereIsOne) {
  Asked asked;
  asked.options.forbid = {"cpu/simd/*"};
  const auto from_bias = [&] {
    const Dot dot(to_dot(asked.explanation()));
    return std::ranges::count(dot.edges, "bias", [](const auto& edge) { return edge.first; });
  };
  EXPECT_EQ(from_bias(), 0);
  asked.bias = planner::aligned({8}, 4);
  EXPECT_EQ(from_bias(), 1);
}

TEST(ToDot, AStepThatRoutesShareIsOneNode) {
  const Catalog catalog = planner::sample_catalog({{"one"}, {"two"}, {"three", takes_gaps}});
  Asked asked;
  asked.options.catalog = &catalog;
  planner::spread(asked.x);
  const Explanation explanation = asked.explanation();
  const Dot dot(to_dot(explanation));
  std::size_t copies = 0, kernels = 0;
  for (const auto& [name, label] : dot.nodes) {
    copies += label.starts_with("cpu/portable/contiguize") ? 1 : 0;
    kernels += label.find("/conv/") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(copies, 1u) << "three routes copy x in the same way";
  EXPECT_EQ(kernels, 4u) << "one a route";
  EXPECT_EQ(std::ranges::count_if(dot.edges, [](const auto& edge) { return edge.second == "out"; }), 4);
}

TEST(ToDot, QuotesWhateverANameHolds) {
  Explanation explanation;
  CandidateReport candidate;
  candidate.route = candidate.id = "cpu/\"a\\b\"; } {";
  candidate.admitted = true;
  candidate.steps = {StepReport{.kernel = candidate.id, .role = {}, .reads = {"x", "weight"}, .cost_class = {}}};
  explanation.candidates = {candidate};
  const Dot dot(to_dot(explanation));
  EXPECT_TRUE(dot.well_formed);
  EXPECT_EQ(dot.nodes.size(), 4u);
  EXPECT_EQ(std::ranges::count_if(dot.nodes, [&](const auto& node) { return node.second.starts_with(candidate.id); }),
            1);
}

}  // namespace
}  // namespace convoke

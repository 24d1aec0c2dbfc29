// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/candidates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/host.hpp"
#include "tests/plan/sample_table.hpp"

namespace convoke::planner {
namespace {

using contract::Contract;
using contract::Determinism;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Candidates keep pointers into the table and the request.
struct Search {
  std::shared_ptr<const bind::BindingTable> table;
  Request request = sample_request();
  PlanOptions options;

  explicit Search(const std::vector<SampleKernel>& kernels, bool with_copies = true)
      : table(sample_table(kernels, with_copies)) {}
  std::vector<Candidate> all() const { return candidates(*table, request, options); }
  /// Those whose key is the request's, or can serve it.
  std::vector<Candidate> fitting() const {
    std::vector<Candidate> found = all();
    std::erase_if(found, [](const Candidate& c) { return !c.route && c.route.error().clause == "key"; });
    return found;
  }
  /// kernel_source of the one that is taken; empty: none.
  std::string winner() const {
    const std::vector<Candidate> found = all();
    const auto best = cheapest(found);
    return best ? found[*best].binding->contract->kernel_source : "";
  }
  /// The clause that refuses the first candidate; empty: it is admitted.
  std::string clause() const {
    const std::vector<Candidate> found = fitting();
    if (found.empty()) return "no candidate";
    return found.front().route ? "" : found.front().route.error().clause;
  }
};

Change determinism(Determinism word) {
  return [word](Contract& c) { c.determinism = word; };
}

// Takes x with any gaps.
void takes_gaps(Contract& c) {
  c.inputs[0].layout->contiguous = contract::Contiguity::accepted;
  c.inputs[0].layout->strided = true;
}

Request with_gaps_in_x() {
  return sample_request([](TensorSpec& x, TensorSpec&, TensorSpec&) { spread(x); });
}

Request request_in(DType dtype) {
  TensorSpec x = aligned({1, 4, 8, 8}), weight = aligned({8, 4, 3, 3}), out = aligned({1, 8, 6, 6});
  x.dtype = weight.dtype = out.dtype = dtype;
  return make_request(Op::conv2d, x, weight, std::nullopt, out, {}).value();
}

TEST(Candidates, AreEveryBindingOfTheOperationInOrder) {
  Search search({{"first"}, {"second"}, {"third"}});
  std::vector<std::string> ids;
  for (const Candidate& candidate : search.all()) ids.push_back(candidate.binding->id);
  ASSERT_EQ(ids.size(), 6u) << "with and without bias; copies are no candidates";
  for (std::size_t i = 0; i < 6; ++i)
    EXPECT_THAT(ids[i], StartsWith(std::array{"cpu/first/", "cpu/second/", "cpu/third/"}[i / 2]));
  EXPECT_EQ(search.fitting().size(), 3u);
  EXPECT_TRUE(search.all()[1].route);
  EXPECT_EQ(search.all()[0].route.error().clause, "key");
}

TEST(Candidates, OfTheOtherOperationThereAreNone) {
  Search search({{"first"}});
  const TensorSpec x = aligned({1, 4, 8, 8}), weight = aligned({4, 8, 3, 3}), out = aligned({1, 8, 10, 10});
  search.request = make_request(Op::conv_transpose2d, x, weight, std::nullopt, out, {}).value();
  EXPECT_THAT(search.all(), IsEmpty());
  EXPECT_EQ(cheapest(search.all()), std::nullopt);
}

// Everything is wrong at first; mending what refused shows what is asked next.
TEST(Candidates, AreAskedInAFixedOrder) {
  const auto refused_by = [](int mended) {
    Search search({{"twin"},
                   {.name = "asked",
                    .change = [&](Contract& c) { c.requires_isa = {"sse9"}; },
                    .foreign = mended < 5,
                    .function = 0}});
    search.options.kernel = mended < 1 ? "cuda/*" : mended < 6 ? "cpu/asked/*" : "";
    search.request = request_in(mended < 2 ? DType::f64 : DType::f32);
    if (mended < 3) search.options.forbid = {"nothing", "*asked*"};
    if (mended < 4) search.options.backends = {"cuda", "metal"};
    search.options.demand = Demand::reproducible();
    if (mended == 7) search.options.forbid = {"cpu/twin/*"};
    for (const Candidate& candidate : search.all())
      if (!candidate.binding->optional_present && candidate.binding->contract->kernel_source == "asked")
        return candidate.route ? Clause{"admitted", "", ""} : candidate.route.error();
    return Clause{"absent", "", ""};
  };
  EXPECT_EQ(refused_by(0).clause, "kernel");
  EXPECT_EQ(refused_by(0).wanted, "cuda/*");
  EXPECT_THAT(refused_by(0).found, StartsWith("cpu/asked/"));
  EXPECT_EQ(refused_by(1).clause, "key");
  EXPECT_EQ(refused_by(1).wanted, "f32,f32,f32");
  EXPECT_EQ(refused_by(1).found, "f64,f64,f64");
  EXPECT_EQ(refused_by(2).clause, "forbid");
  EXPECT_EQ(refused_by(2).wanted, "nothing *asked*");
  EXPECT_EQ(refused_by(3).clause, "backend");
  EXPECT_EQ(refused_by(3).wanted, "cuda or metal");
  EXPECT_EQ(refused_by(3).found, "cpu");
  EXPECT_EQ(refused_by(4).clause, "evidence") << "the demand";
  EXPECT_EQ(refused_by(5).clause, "requires.isa") << "a forced alias goes on to its contract";
  EXPECT_EQ(refused_by(6).clause, "alias");
  EXPECT_THAT(refused_by(6).found, StartsWith("alias of cpu/twin/"));
  EXPECT_EQ(refused_by(7).clause, "requires.isa") << "and so does one whose twin is forbidden";
}

TEST(Candidates, OnlyTheBackendsThatAreNamedConvolve) {
  Search search({{"plain"}});
  search.options.backends = {"cuda", "cpu"};
  EXPECT_EQ(search.clause(), "");
  search.options.backends = {"cuda"};
  EXPECT_EQ(search.clause(), "backend");
}

TEST(Candidates, ADenseVariantStandsBesideARouteThatWalksGapsOnly) {
  Search search({{"free", takes_gaps}});
  EXPECT_EQ(search.fitting().size(), 1u) << "nothing to copy";
  search.request = with_gaps_in_x();
  std::vector<Candidate> found = search.fitting();
  ASSERT_EQ(found.size(), 2u);
  ASSERT_TRUE(found[0].route && found[1].route);
  EXPECT_FALSE(found[0].variant.dense);
  EXPECT_EQ(found[0].route->steps.size(), 1u);
  EXPECT_TRUE(found[1].variant.dense);
  EXPECT_THAT(name_of(found[1]), StartsWith("Contiguize(x) > cpu/free/"));
  EXPECT_GT(found[1].route->ns, found[0].route->ns) << "prices of one contract: the copy comes on top";

  Search strict({{"strict"}});
  strict.request = with_gaps_in_x();
  EXPECT_EQ(strict.fitting().size(), 1u) << "its only route copies already";
}

TEST(Candidates, ADenseVariantThatIsRefusedSaysHowItWasTried) {
  Search search({{"free", takes_gaps}});
  search.request = with_gaps_in_x();
  search.options.forbid = {"*/contiguize/*"};
  const std::vector<Candidate> found = search.fitting();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].route);
  ASSERT_FALSE(found[1].route);
  EXPECT_EQ(found[1].route.error().clause, "Contiguize");
  EXPECT_THAT(name_of(found[1]), StartsWith("dense: cpu/free/"));
}

// The break-even between walking gaps and copying first: prices of two contracts decide.
TEST(Cheapest, GapsOrACopyWhicheverCostsLess) {
  const auto winner = [](int strided_ns) {
    Search search({{"strided", both(takes_gaps, costs(strided_ns))}, {"dense", costs(1000)}});
    search.request = with_gaps_in_x();
    const std::vector<Candidate> all = search.all();
    return name_of(all.at(cheapest(all).value()));
  };
  Search copy({{"dense", costs(1000)}});
  copy.request = with_gaps_in_x();
  const double even = copy.fitting().at(0).route->ns;
  ASSERT_GT(even, 1000) << "the copy has a price";
  EXPECT_THAT(winner(static_cast<int>(even) - 1), StartsWith("cpu/strided/"));
  EXPECT_THAT(winner(static_cast<int>(even) + 1), StartsWith("Contiguize(x) > cpu/dense/"));
}

TEST(Cheapest, PriceDecidesBeforeAnythingElse) {
  Search search({{"dear", costs(200)}, {"cheap", both(costs(100), determinism(Determinism::nondeterministic))}});
  search.options.demand = Demand::any();
  EXPECT_EQ(search.winner(), "cheap");
}

TEST(Cheapest, AmongEqualPricesTheMoreStableBits) {
  Search search({{"loose", both(costs(100), determinism(Determinism::nondeterministic))},
                 {"here", both(costs(100), determinism(Determinism::same_hardware_bitwise))},
                 {"everywhere", costs(100)}});
  search.options.demand = Demand::any();
  EXPECT_EQ(search.winner(), "everywhere");
  search.options.forbid = {"cpu/everywhere/*"};
  EXPECT_EQ(search.winner(), "here");
}

// Copies that cost nothing, so that only the number of steps tells the routes apart.
TEST(Cheapest, AmongEqualPricesAndBitsFewerSteps) {
  Search search({{"copying", costs(100)}, {"direct", both(takes_gaps, costs(100))}});
  search.request = with_gaps_in_x();
  Rates free;
  ASSERT_TRUE(free.set({"cpu", "portable", "Contiguize", std::nullopt, {1e300, 1e300, 0}}));
  search.options.rates = &free;
  const std::vector<Candidate> all = search.all();
  const auto copying = std::ranges::find_if(all, [](const Candidate& c) { return c.route.has_value(); });
  ASSERT_EQ(copying->route->ns, 100) << "the copy must be free for this test";
  EXPECT_EQ(search.winner(), "direct");
}

TEST(Cheapest, AmongEqualsTheFirstRegistered) {
  EXPECT_EQ(Search({{"first", costs(100)}, {"second", costs(100)}}).winner(), "first");
  EXPECT_EQ(Search({{"second", costs(100)}, {"first", costs(100)}}).winner(), "second");
}

TEST(Cheapest, RefusedCandidatesDoNotCount) {
  Search search({{"refused", both(costs(1), [](Contract& c) { c.requires_isa = {"sse9"}; })}, {"dear", costs(1000)}});
  EXPECT_EQ(search.winner(), "dear");
  search.options.forbid = {"*"};
  EXPECT_EQ(search.winner(), "");
}

TEST(Approach, IsDirectOrThroughAWiderType) {
  const auto through = [](const char* kernel, DType request) -> std::string {
    const auto table = sample_table({{.name = "one", .dtype = kernel}}, false);
    const auto variant = approach(table->all()[1], request_in(request));
    if (!variant) return variant.error().clause;
    return variant->through ? std::string(name_of(*variant->through)) : "direct";
  };
  for (const auto& [token, dtype] :
       {std::pair{"F32", DType::f32}, {"F64", DType::f64}, {"BF16", DType::bf16}, {"F16", DType::f16}}) {
    EXPECT_EQ(through(token, dtype), "direct") << token;
    EXPECT_EQ(through("F64", dtype), dtype == DType::f64 ? "direct" : "f64") << token;
    EXPECT_EQ(through(token, DType::f64), dtype == DType::f64 ? "direct" : "key") << token;
  }
  EXPECT_EQ(through("F32", DType::bf16), "f32");
  EXPECT_EQ(through("F32", DType::f16), "f32");
  EXPECT_EQ(through("BF16", DType::f16), "key") << "neither half holds the other";
  EXPECT_EQ(through("F16", DType::bf16), "key");
  EXPECT_EQ(through("BF16", DType::f32), "key") << "operands are never narrowed";
}

TEST(Approach, WantsTheBiasThatTheKeyHas) {
  const auto table = sample_table({{"one"}}, false);
  EXPECT_FALSE(approach(table->all()[0], request_in(DType::bf16)));
  EXPECT_TRUE(approach(table->all()[1], request_in(DType::bf16)));
}

TEST(Candidates, AKernelInAWiderTypeServesThroughCastsThatArePriced) {
  Search search({{"half", costs(5000), "BF16"}, {"single", costs(100)}});
  search.request = request_in(DType::bf16);
  const std::vector<Candidate> found = search.fitting();
  ASSERT_EQ(found.size(), 2u);
  ASSERT_TRUE(found[1].route) << found[1].route.error().clause;
  EXPECT_EQ(found[1].variant.through, DType::f32);
  EXPECT_THAT(name_of(found[1]),
              testing::MatchesRegex("Cast\\(x\\) > Cast\\(weight\\) > cpu/single/.* > Cast\\(out\\)"));
  double sum = 0;
  for (const Step& step : found[1].route->steps) sum += step.price.ns;
  EXPECT_DOUBLE_EQ(found[1].route->ns, sum);
  EXPECT_GT(sum, 100);
  EXPECT_EQ(search.winner(), "single") << "the law survives, and it is cheaper with its casts";
  search.options.forbid = {"*/cast_to_f32/*"};
  EXPECT_EQ(search.winner(), "half");
  EXPECT_THAT(name_of(search.fitting()[1]), StartsWith("through f32: cpu/single/"));
  EXPECT_EQ(search.fitting()[1].route.error().clause, "Cast");
}

TEST(Candidates, ForbiddingACopyRefusesTheRoutesThatNeedIt) {
  Search search({{"strict"}});
  search.request = with_gaps_in_x();
  EXPECT_EQ(search.clause(), "");
  search.options.forbid = {"cpu/portable/contiguize/*"};
  EXPECT_EQ(search.clause(), "Contiguize");
  search.options.forbid = {"cpu/portable/copy_out/*"};
  EXPECT_EQ(search.clause(), "") << "a copy that nobody needs";
}

// The cap is on what the caller would have to hand over: Plan::workspace_bytes.
TEST(Candidates, TheWorkspaceCapIsOnWhatTheCallerHandsOver) {
  Search search({{"strict"}});
  search.request = with_gaps_in_x();
  const std::size_t needed = workspace_bytes(*search.fitting().at(0).route);
  ASSERT_GE(needed, 4u * 4 * 8 * 8);
  search.options.workspace_cap = needed;
  EXPECT_EQ(search.clause(), "");
  search.options.workspace_cap = needed - 1;
  EXPECT_EQ(search.clause(), "workspace");
  EXPECT_EQ(search.fitting()[0].route.error().found, std::to_string(needed));
  search.request = sample_request();
  search.options.workspace_cap = 0;
  EXPECT_EQ(search.clause(), "") << "no scratch at all";
}

TEST(DemandOf, IsReproducibleUnlessAKernelIsForced) {
  PlanOptions options;
  EXPECT_EQ(demand_of(options), Demand::reproducible());
  options.kernel = "*";
  EXPECT_EQ(demand_of(options), Demand::any());
  options.demand = Demand::fast();
  EXPECT_EQ(demand_of(options), Demand::fast());
}

TEST(WorkshopOptions, TakeEveryProcessorWhereNothingIsSaid) {
  PlanOptions options;
  EXPECT_EQ(workshop_options(options).threads, host().cores);
  options.threads = 3;
  EXPECT_EQ(workshop_options(options).threads, 3);
  EXPECT_FALSE(workshop_options(options).any_copies);
  options.demand = Demand::any();
  EXPECT_TRUE(workshop_options(options).any_copies);
}

TEST(CheckOptions, RefusesWhatNoPlanCanMean) {
  const auto rule = [](auto change) {
    PlanOptions options;
    change(options);
    const auto ok = check_options(options);
    return ok ? std::string() : ok.error().rule;
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(rule([](PlanOptions&) {}), "");
  EXPECT_EQ(rule([](PlanOptions& o) { o.threads = -1; }), "threads");
  for (const double factor : {0.0, -1.0, inf, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(rule([&](PlanOptions& o) { o.demand = Demand::accurate(factor); }), "demand") << factor;
  EXPECT_EQ(rule([](PlanOptions& o) { o.demand = Demand::accurate(1e-9); }), "");
}

}  // namespace
}  // namespace convoke::planner

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/file.hpp"
#include "base/keyed_cache.hpp"
#include "plan/plan_impl.hpp"
#include "tests/plan/sample_table.hpp"

namespace convoke {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

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

// x 1x4x8x8 and weight 8x4x3x3 give out 1x8x6x6; every tensor dense and aligned to 64 bytes unless changed.
struct Small {
  TensorSpec x = TensorSpec::dense(DType::f32, {1, 4, 8, 8});
  TensorSpec weight = TensorSpec::dense(DType::f32, {8, 4, 3, 3});
  std::optional<TensorSpec> bias;
  TensorSpec out = TensorSpec::dense(DType::f32, {1, 8, 6, 6});
  Conv2dParams params;
  PlanOptions options;

  Small() {
    x.align = weight.align = out.align = 64;
    options.catalog = &with_seeds();
  }
  Result<Plan> plan() const { return convoke::plan(x, weight, bias, out, params, options); }
};

const Refusal* refusal_of(const std::vector<Refusal>& refusals, std::string_view kernel) {
  const auto found =
      std::ranges::find_if(refusals, [&](const Refusal& refusal) { return refusal.kernel.starts_with(kernel); });
  return found == refusals.end() ? nullptr : &*found;
}

TEST(Plan, TheDefaultIsTheLaw) {
  const auto plan = Small().plan();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->kernel(), MatchesRegex("cpu/portable/conv2d_f32/f32,f32,f32#[0-9a-f]{8}"));
  EXPECT_THAT(plan->route(), ElementsAre(plan->kernel()));
  EXPECT_EQ(plan->workspace_bytes(), 0u);
  EXPECT_EQ(plan->output_shape(), (Dims{1, 8, 6, 6}));
  EXPECT_DOUBLE_EQ(plan->flops(), 2.0 * 8 * 6 * 6 * 4 * 3 * 3);
  const Refusal* seed = refusal_of(plan->refusals(), "cpu/portable-cpu/conv2d_f32/f32,f32,f32#");
  ASSERT_NE(seed, nullptr);
  EXPECT_EQ(seed->clause, "evidence");
}

TEST(Plan, ABiasSelectsTheKeyThatHoldsOne) {
  Small small;
  small.bias = TensorSpec::dense(DType::f32, {8});
  const auto plan = small.plan();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->kernel(), StartsWith("cpu/portable/conv2d_f32/f32,f32,f32,f32#"));
  const Refusal* other = refusal_of(plan->refusals(), "cpu/portable/conv2d_f32/f32,f32,f32#");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->clause, "key");
  EXPECT_EQ(other->wanted, "f32,f32,f32");
  EXPECT_EQ(other->found, "f32,f32,f32,f32");
}

TEST(Plan, ForcingTheSeedsKernelInsertsWhatItsContractWants) {
  Small small;
  small.options.kernel = "cpu/portable-cpu/*";
  auto plan = small.plan();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/portable-cpu/conv2d_f32/")));

  small.x.strides = {4 * 64, 1, 32, 4};  // channels last
  plan = small.plan();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/portable/contiguize"), StartsWith("cpu/portable-cpu/")));
  EXPECT_GE(plan->workspace_bytes(), 4u * 8 * 8 * 4);

  small.out.strides = {8 * 36, 1, 48, 8};
  plan = small.plan();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/portable/contiguize"), StartsWith("cpu/portable-cpu/"),
                                         StartsWith("cpu/portable/copy_out")));
}

TEST(Plan, EachAwkwardOperandIsCopiedForItsOwnReason) {
  const auto steps = [](auto change) {
    Small small;
    small.options.kernel = "cpu/portable-cpu/*";
    change(small);
    const auto plan = small.plan();
    return plan ? plan->route().size() : 0;
  };
  EXPECT_EQ(steps([](Small&) {}), 1u);
  EXPECT_EQ(steps([](Small& s) { s.x.offset = 16; }), 2u);
  EXPECT_EQ(steps([](Small& s) { s.x.align = 32; }), 2u);
  EXPECT_EQ(steps([](Small& s) { s.x.align = 2; }), 2u);
  EXPECT_EQ(steps([](Small& s) { s.weight.strides = {0, 9, 3, 1}; }), 2u);
  EXPECT_EQ(steps([](Small& s) {
              s.weight.strides = {36, 9, -3, -1};
              s.weight.offset = 8;
            }),
            2u);
  EXPECT_EQ(steps([](Small& s) { s.out.offset = 64; }), 2u);
  EXPECT_EQ(steps([](Small& s) { s.x.strides = {7, 64, 8, 1}; }), 1u) << "the stride of a unit axis does not matter";
}

TEST(Plan, OurKernelTakesEveryLayoutAsItLies) {
  Small small;
  small.x.strides = {0, -64, 8, 1};
  small.x.offset = 3 * 64;
  small.weight.strides = {0, 9, 3, 1};
  small.out.strides = {1, 1, 48, 8};
  small.x.align = small.weight.align = small.out.align = 4;
  const auto plan = small.plan();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->route().size(), 1u);
}

TEST(Plan, AnElementThatIsNotAlignedIsCopied) {
  Small small;
  small.x.align = 1;
  small.out.align = 2;
  const auto plan = small.plan();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->route(), ElementsAre(StartsWith("cpu/portable/contiguize"), StartsWith("cpu/portable/conv2d_f32"),
                                         StartsWith("cpu/portable/copy_out")));
}

TEST(Plan, ForbiddenKernelsDoNotCopyEither) {
  Small small;
  small.x.align = 1;
  small.options.forbid = {"*/contiguize/*"};
  const auto plan = small.plan();
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("Contiguize"));
}

TEST(Plan, TheVulkanSeedIsRefusedByItsBackend) {
  Small small;
  small.options.kernel = "vulkan/*";
  const auto plan = small.plan();
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::no_kernel);
  EXPECT_THAT(plan.error().message,
              HasSubstr("vulkan/vulkan-slang/conv2d_f32/f32,f32,f32#c90ae375: backend: wanted vulkan, "
                        "found no device of that kind here"));
}

TEST(Plan, AnAliasRunsOnlyWhenForcedOrItsTwinIsForbidden) {
  Small small;
  small.options.demand = Demand::any();
  auto plan = small.plan();
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->kernel(), StartsWith("cpu/portable/"));
  const Refusal* alias = refusal_of(plan->refusals(), "cpu/portable-cpu/conv2d_f32/f32,f32,f32#");
  ASSERT_NE(alias, nullptr);
  EXPECT_EQ(alias->clause, "alias");
  EXPECT_THAT(alias->found, StartsWith("alias of cpu/portable/conv2d_f32/f32,f32,f32#"));

  small.options.forbid = {"cpu/portable/*"};
  plan = small.plan();
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->kernel(), StartsWith("cpu/portable-cpu/conv2d_f32/"));
}

TEST(Plan, ForcingImpliesTheDemandAnyUnlessOneIsGiven) {
  Small small;
  small.options.kernel = "cpu/portable-cpu/*";
  ASSERT_TRUE(small.plan());
  small.options.demand = Demand::reproducible();
  const auto plan = small.plan();
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("evidence"));
}

TEST(Plan, NothingLeftListsEveryCandidate) {
  Small small;
  small.options.forbid = {"*"};
  const auto plan = small.plan();
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::no_kernel);
  EXPECT_THAT(plan.error().message, HasSubstr("cpu/portable/conv2d_f32/"));
  EXPECT_THAT(plan.error().message, HasSubstr("forbid"));
}

TEST(Plan, ACinOfZeroIsAdmittedByOursAndRefusedByTheSeedsConstraint) {
  Small small;
  small.x = TensorSpec::dense(DType::f32, {1, 0, 8, 8});
  small.weight = TensorSpec::dense(DType::f32, {8, 0, 3, 3});
  small.x.align = small.weight.align = 64;
  EXPECT_TRUE(small.plan());
  small.options.kernel = "cpu/portable-cpu/*";
  const auto plan = small.plan();
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message, HasSubstr("weight.shape_constraint"));
}

TEST(Plan, MalformedRequestsAreErrorsThatNameTheArgument) {
  const auto rule = [](auto change) {
    Small small;
    change(small);
    const auto plan = small.plan();
    return plan ? std::string("planned") : plan.error().rule;
  };
  EXPECT_EQ(rule([](Small& s) { s.params.stride = 0; }), "stride");
  EXPECT_EQ(rule([](Small& s) { s.params.groups = 3; }), "groups");
  EXPECT_EQ(rule([](Small& s) { s.out.shape = {1, 8, 6, 7}; }), "out");
  EXPECT_EQ(rule([](Small& s) { s.weight.dtype = DType::f64; }), "dtype");
  EXPECT_EQ(rule([](Small& s) { s.x.dtype = static_cast<DType>(9); }), "dtype");
  EXPECT_EQ(rule([](Small& s) { s.x.align = 3; }), "align");
  EXPECT_EQ(rule([](Small& s) { s.out.strides = {0, 36, 6, 0}; }), "out");
  EXPECT_NE(rule([](Small& s) { s.x.strides = {1, 1, 1}; }), "planned");
  EXPECT_NE(rule([](Small& s) { s.x.offset = -1; }), "planned");
  EXPECT_NE(rule([](Small& s) { s.x.strides = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}; }), "planned");
}

TEST(Plan, OptionsThatMeanNothingAreErrors) {
  const auto rule = [](auto change) {
    Small small;
    change(small.options);
    const auto plan = small.plan();
    return plan ? std::string("planned") : plan.error().rule;
  };
  EXPECT_EQ(rule([](PlanOptions& o) { o.threads = -1; }), "threads");
  EXPECT_EQ(rule([](PlanOptions& o) { o.demand = Demand::accurate(0); }), "demand");
  EXPECT_EQ(rule([](PlanOptions& o) { o.demand = Demand::accurate(std::nan("")); }), "demand");
}

TEST(PlanCache, TheSameCallGivesTheSamePlan) {
  const Small small;
  const auto first = small.plan(), second = small.plan();
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->shared_impl(), second->shared_impl());
}

TEST(PlanCache, AnotherDemandIsAnotherPlan) {
  Small small;
  std::set<const Plan::Impl*> plans;
  std::vector<Plan> kept;
  for (const Demand& demand : {Demand::reproducible(), Demand::order("law"), Demand::accurate(1), Demand::accurate(2),
                               Demand::accurate(2, true), Demand::fast(), Demand::any()}) {
    small.options.demand = demand;
    kept.push_back(small.plan().value());
    EXPECT_TRUE(plans.insert(&kept.back().impl()).second) << text_of(demand);
    EXPECT_EQ(kept.back().impl().demand, demand);
  }
}

TEST(PlanCache, ErrorsAreNotKept) {
  const Catalog catalog(planner::sample_table({{"one"}}));
  Small small;
  small.options.catalog = &catalog;
  small.options.forbid = {"*"};
  EXPECT_FALSE(small.plan());
  small.params.stride = 0;
  EXPECT_FALSE(small.plan());
  EXPECT_EQ(catalog.plans().size(), 0u);
  EXPECT_FALSE(small.plan()) << "and the next call says so again";
  EXPECT_TRUE(Small().plan());
}

TEST(PlanCache, CopiesOfACatalogShareTheirPlans) {
  const Catalog one(planner::sample_table({{"one"}}));
  const Catalog copy = one, other(planner::sample_table({{"one"}}));
  const auto planned = [](const Catalog& catalog) {
    Small small;
    small.options.catalog = &catalog;
    return small.plan().value().shared_impl();
  };
  EXPECT_EQ(planned(one), planned(copy));
  EXPECT_EQ(one.plans().size(), 1u);
  EXPECT_NE(planned(one), planned(other)) << "a catalog of its own";
}

TEST(PlanCache, APlanOutlivesItsCatalog) {
  std::optional<Catalog> catalog(planner::sample_catalog({{"one"}}));
  Small small;
  small.options.catalog = &*catalog;
  const Plan plan = small.plan().value();
  catalog.reset();
  EXPECT_THAT(plan.route(), ElementsAre(StartsWith("cpu/one/")));
}

TEST(Plan, TheReasonNamesThePriceTheNextAndTheCopies) {
  const Catalog catalog(planner::sample_table({{"cheap", planner::costs(100)}, {"dear", planner::costs(2000)}}));
  Small small;
  small.options.catalog = &catalog;
  EXPECT_EQ(small.plan()->reason(),
            "the cheapest of 2 routes, priced 100 ns, the next 2 us; takes every operand as it lies");
  EXPECT_EQ(small.plan()->price_ns(), 100);
  small.options.kernel = "cpu/dear/*";
  EXPECT_EQ(small.plan()->reason(), "matches 'cpu/dear/*'; takes every operand as it lies");
  small.options.kernel.clear();
  small.options.forbid = {"cpu/dear/*"};
  planner::spread(small.x);
  EXPECT_EQ(small.plan()->reason(), "the only route that meets the demand and admits this; with Contiguize of x");
}

}  // namespace
}  // namespace convoke

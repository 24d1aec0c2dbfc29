// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/route.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convoke/catalog.hpp"
#include "tests/plan/sample_binding.hpp"

namespace convoke::planner {
namespace {

using contract::Contract;
using contract::CostExpression;
using testing::HasSubstr;

const bind::BindingTable& ours() { return Catalog::builtin().table(); }

Change workspace(const char* text) {
  return [text](Contract& c) { c.workspace_bytes = CostExpression::parse(text).value(); };
}

// x with gaps, which the sample does not take.
Request awkward_request(bool out_too = false) {
  return sample_request([&](TensorSpec& x, TensorSpec&, TensorSpec& out) {
    x.strides = {1024, 128, 16, 2};
    if (out_too) out.strides = {576, 72, 12, 2};
  });
}

tl::expected<Route, Clause> route_of(const bind::Binding& binding, const Request& request,
                                     const Workshop::Options& options = {}, const bind::BindingTable& table = ours()) {
  Workshop workshop(table, request, options);
  return build_route(workshop, binding, {});
}

TEST(BuildRoute, AKernelAloneNeedsNoScratch) {
  const bind::Binding binding = sample_binding();
  const auto route = route_of(binding, sample_request());
  ASSERT_TRUE(route) << route.error().clause;
  ASSERT_EQ(route->steps.size(), 1u);
  EXPECT_EQ(route->main_step, 0u);
  EXPECT_EQ(route->scratch_bytes, 0u);
  EXPECT_EQ(route->steps[0].binding, &binding);
  EXPECT_EQ(route->steps[0].inputs[0].place, Place::x);
  EXPECT_EQ(route->steps[0].inputs[1].place, Place::weight);
  EXPECT_EQ(route->steps[0].outputs[0].place, Place::out);
}

TEST(BuildRoute, CopiesStandAroundTheKernelInScratchOfTheirOwn) {
  const bind::Binding binding = sample_binding();
  const auto route = route_of(binding, awkward_request(true));
  ASSERT_TRUE(route) << route.error().clause;
  ASSERT_EQ(route->steps.size(), 3u);
  EXPECT_EQ(route->main_step, 1u);
  const Step &copy = route->steps[0], &main = route->steps[1], &copy_out = route->steps[2];
  EXPECT_EQ(copy.binding->op, bind::Operator::contiguize);
  EXPECT_EQ(copy_out.binding->op, bind::Operator::copy_out);
  const Slot &x = main.inputs[0], &out = main.outputs[0];
  EXPECT_EQ(x.place, Place::scratch);
  EXPECT_EQ(x.bytes, 4u * 4 * 8 * 8);
  EXPECT_EQ(copy.outputs[0].scratch_offset, x.scratch_offset);
  EXPECT_EQ(copy_out.inputs[0].scratch_offset, out.scratch_offset);
  EXPECT_EQ(copy_out.outputs[0].place, Place::out);
  EXPECT_GE(out.scratch_offset, x.scratch_offset + x.bytes);
  EXPECT_GE(route->scratch_bytes, out.scratch_offset + out.bytes);
  for (const Slot* slot : {&x, &out}) EXPECT_EQ(slot->scratch_offset % slot->spec.align, 0u);
}

TEST(BuildRoute, WorkspaceIsReservedBehindTheCopiesAndAligned) {
  const bind::Binding binding = sample_binding([](Contract& c) {
    workspace("4 * Cout + 1")(c);
    c.inputs[0].shape_constraint.reset();
  });
  const Request request = sample_request([](TensorSpec& x, TensorSpec&, TensorSpec& out) {
    x = aligned({1, 4, 3, 3});  // 144 bytes, so that what follows must be moved up
    x.offset = 16;
    out = aligned({1, 8, 1, 1});
  });
  const auto route = route_of(binding, request);
  ASSERT_TRUE(route) << route.error().clause;
  const Step& main = route->steps[route->main_step];
  ASSERT_TRUE(main.workspace);
  EXPECT_EQ(main.workspace->place, Place::scratch);
  EXPECT_EQ(main.workspace->bytes, 33u);
  EXPECT_EQ(main.workspace->scratch_offset, 192u);
  EXPECT_EQ(route->scratch_bytes, 192u + 33u);
}

TEST(BuildRoute, AWorkspaceForEachThreadIsForThoseOfThePlanAndBindsTheRun) {
  for (const int threads : {1, 5}) {
    const bind::BindingTable none;
    const Request request = sample_request();
    Workshop::Options options;
    options.threads = threads;
    Workshop workshop(none, request, options);
    const bind::Binding scratchy = sample_binding(workspace("100 * threads")), plain = sample_binding(workspace("100"));
    const auto route = build_route(workshop, scratchy);
    ASSERT_TRUE(route) << route.error().clause;
    EXPECT_EQ(route->threads, threads);
    EXPECT_EQ(route->scratch_bytes, 100u * static_cast<unsigned>(threads));
    EXPECT_EQ(route->steps[0].most_threads, threads);
    EXPECT_EQ(build_route(workshop, plain)->steps[0].most_threads, std::nullopt);
  }
}

TEST(BuildRoute, AWorkspaceWithoutAUsableSizeIsRefused) {
  for (const char* text : {"1000000000000 * 1000000000000", "k * 4", "4 / (groups - 1)"}) {
    const bind::Binding binding = sample_binding(workspace(text));
    const auto route = route_of(binding, sample_request());
    ASSERT_FALSE(route) << text;
    EXPECT_EQ(route.error().clause, "workspace_bytes");
    EXPECT_THAT(route.error().wanted, HasSubstr(text));
  }
}

TEST(BuildRoute, WithoutACopyKernelTheOperandIsRefused) {
  const bind::Binding binding = sample_binding();
  const auto none = route_of(binding, awkward_request(), {}, bind::BindingTable{});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().clause, "Contiguize");
  const std::vector<std::string> forbid = {"*/copy_out/*"};
  const auto forbidden = route_of(binding, awkward_request(true), {.forbid = &forbid});
  ASSERT_FALSE(forbidden);
  EXPECT_EQ(forbidden.error().clause, "CopyOut");
}

TEST(BuildRoute, ARefusalOfTheContractIsTheRoutes) {
  const bind::Binding binding = sample_binding([](Contract& c) { c.requires_isa = {"sse9"}; });
  const auto route = route_of(binding, sample_request());
  ASSERT_FALSE(route);
  EXPECT_EQ(route.error().clause, "requires.isa");
}

TEST(BuildRoute, TheDenseVariantCopiesOperandsWithGapsOnly) {
  const bind::Binding binding = sample_binding();
  const Request request =
      sample_request([](TensorSpec&, TensorSpec& weight, TensorSpec&) { weight.strides = {72, 18, 6, 2}; });
  Workshop workshop(ours(), request, {});
  EXPECT_EQ(build_route(workshop, binding, {}).value().steps.size(), 1u) << "the sample takes a weight with gaps";
  const auto dense = build_route(workshop, binding, {.dense = true, .through = {}});
  ASSERT_TRUE(dense) << dense.error().clause;
  ASSERT_EQ(dense->steps.size(), 2u);
  EXPECT_EQ(dense->steps[0].role, "weight");
  EXPECT_EQ(dense->steps[1].inputs[0].place, Place::x);
  EXPECT_EQ(dense->steps[1].inputs[1].place, Place::scratch);
  EXPECT_DOUBLE_EQ(dense->ns, dense->steps[0].price.ns + dense->steps[1].price.ns);
}

// Casts read the caller's strides themselves; they write dense, so an out with gaps needs a copy of its own.
TEST(BuildRoute, ThroughAWiderTypeEveryOperandIsCast) {
  const bind::Binding binding = sample_binding();
  TensorSpec x = aligned({1, 4, 8, 8}), weight = aligned({8, 4, 3, 3}), out = aligned({1, 8, 6, 6});
  for (TensorSpec* spec : {&x, &weight, &out}) spec->dtype = DType::bf16;
  x.strides = {0, 1, 32, 4};
  const auto route_to = [&](const TensorSpec& to) {
    const Request request = make_request(Op::conv2d, x, weight, std::nullopt, to, {}).value();
    Workshop workshop(ours(), request, {});
    return build_route(workshop, binding, {.dense = false, .through = DType::f32});
  };
  const auto route = route_to(out);
  ASSERT_TRUE(route) << route.error().clause;
  EXPECT_EQ(text_of(*route), "Cast(x) > Cast(weight) > " + binding.id + " > Cast(out)");
  EXPECT_EQ(route->main_step, 2u);
  const Step& main = route->steps[2];
  for (const Slot& slot : main.inputs) EXPECT_EQ(slot.spec.dtype, DType::f32);
  EXPECT_EQ(main.outputs[0].place, Place::scratch);
  EXPECT_EQ(route->steps[3].outputs[0].place, Place::out);

  out.strides = {576, 72, 12, 2};
  const auto spread_out = route_to(out);
  ASSERT_TRUE(spread_out) << spread_out.error().clause;
  EXPECT_EQ(text_of(*spread_out), text_of(*route) + " > CopyOut(out)");
  EXPECT_EQ(spread_out->steps[3].outputs[0].spec.dtype, DType::bf16);
  EXPECT_EQ(spread_out->steps[4].outputs[0].spec.strides, out.strides);
}

TEST(WorkspaceBytes, AreThoseOfABufferOfAnyAlignment) {
  Route route;
  EXPECT_EQ(workspace_bytes(route), 0u);
  route.scratch_bytes = 1;
  EXPECT_EQ(workspace_bytes(route), scratch_alignment);
}

TEST(IsForbidden, ByAnyGlob) {
  EXPECT_FALSE(is_forbidden({}, "cpu/portable/conv2d_f32/f32,f32,f32#00000000"));
  EXPECT_TRUE(is_forbidden({"vulkan/*", "cpu/portable/*"}, "cpu/portable/conv2d_f32/f32,f32,f32#00000000"));
  EXPECT_FALSE(is_forbidden({"vulkan/*", "portable/*"}, "cpu/portable/conv2d_f32/f32,f32,f32#00000000"));
}

}  // namespace
}  // namespace convoke::planner

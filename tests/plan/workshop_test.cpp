// SPDX-License-Identifier: Apache-2.0 OR MIT
// Which kernel copies: the cheapest that takes the operands and that the demand and the options allow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/route.hpp"
#include "tests/plan/sample_table.hpp"

namespace convoke::planner {
namespace {

using bind::Operator;
using contract::Contract;
using testing::HasSubstr;

constexpr convoke_entry copy_entries[] = {
    {"sample::copy0", CONVOKE_CONTIGUIZE, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_BASELINE, sample_function<0>},
    {"sample::copy1", CONVOKE_CONTIGUIZE, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_BASELINE, sample_function<1>},
    {"sample::copy2", CONVOKE_CONTIGUIZE, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_BASELINE, sample_function<2>},
    {"sample::pack0", CONVOKE_PACK, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_BASELINE, sample_function<3>},
    {"sample::pack1", CONVOKE_PACK, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_BASELINE, sample_function<4>},
};

struct CopyKernel {
  std::string name;  // its kernel_source and its kernel
  const char* symbol;
  int ns;
  Change change = nullptr;
  bool foreign = false;
};

// The library's Contiguize as a contract of our own making.
contract::ParsedDocument copy_document(const CopyKernel& kernel) {
  for (const bind::BuiltinDocument& builtin : bind::builtin_documents()) {
    if (!builtin.path.ends_with("layout.fkc.md")) continue;
    contract::ParsedDocument document = contract::parse_document(builtin.text, kernel.name + ".fkc.md");
    document.provider->link_registry = "sample::COPIES";
    document.contracts.resize(1);
    Contract& contract = document.contracts.front();
    EXPECT_EQ(contract.kernel, "contiguize");
    contract.kernel = contract.kernel_source = kernel.name;
    contract.entry_point = kernel.symbol;
    contract.inputs.front().dtypes = {"F32"};
    if (std::string_view(kernel.symbol).starts_with("sample::pack")) {
      contract.op_kind = "Pack";
      contract.kernel_source = "packs";
    }
    costs(kernel.ns)(contract);
    if (kernel.change) kernel.change(contract);
    return document;
  }
  ADD_FAILURE() << "no layout.fkc.md";
  return {};
}

bind::BindingTable copies(const std::vector<CopyKernel>& kernels) {
  bind::BindingTable table;
  table.provide({.link_registry = "sample::COPIES", .entries = copy_entries});
  for (const CopyKernel& kernel : kernels) {
    const auto added = table.add(copy_document(kernel), kernel.foreign, host().isa);
    EXPECT_TRUE(added) << added.error().message;
  }
  return table;
}

TensorSpec gaps() {
  TensorSpec spec = aligned({2, 3});
  spread(spec);
  return spec;
}

// kernel_source of what makes a tensor with gaps dense; empty: nothing does.
std::string copier(const bind::BindingTable& table, const Workshop::Options& options = {}) {
  const Request request = sample_request();
  Workshop workshop(table, request, options);
  const Workshop::Copy copy = workshop.copy(0, Operator::contiguize, gaps(), aligned({2, 3}));
  return copy.binding == nullptr ? "" : copy.binding->contract->kernel_source;
}

TEST(WorkshopCopy, TheCheapestCopiesAndTheFirstAmongEquals) {
  EXPECT_EQ(copier(copies({{"dear", "sample::copy0", 30}, {"cheap", "sample::copy1", 20}})), "cheap");
  EXPECT_EQ(copier(copies({{"cheap", "sample::copy0", 20}, {"dear", "sample::copy1", 30}})), "cheap");
  EXPECT_EQ(copier(copies({{"first", "sample::copy0", 20}, {"second", "sample::copy1", 20}})), "first");
  EXPECT_EQ(copier(copies({})), "");
}

TEST(WorkshopCopy, OnlyWhatTakesTheOperandsAsTheyLie) {
  const Change dense_only = [](Contract& c) { c.inputs[0].layout->strided = false; };
  EXPECT_EQ(copier(copies({{"strict", "sample::copy0", 1, dense_only}, {"free", "sample::copy1", 20}})), "free");
  EXPECT_EQ(copier(copies({{"strict", "sample::copy0", 1, dense_only}})), "");
}

TEST(WorkshopCopy, ClaimsAreWantedUnlessAnythingWillDo) {
  const Change loose = [](Contract& c) { c.determinism = contract::Determinism::same_hardware_bitwise; };
  const bind::BindingTable table = copies({{"loose", "sample::copy0", 1, loose},
                                           {.name = "theirs", .symbol = "sample::copy1", .ns = 2, .foreign = true},
                                           {"ours", "sample::copy2", 30}});
  EXPECT_EQ(copier(table), "ours");
  EXPECT_EQ(copier(table, {.any_copies = true}), "loose");
  const std::vector<std::string> forbid = {"*/loose/*"};
  EXPECT_EQ(copier(table, {.forbid = &forbid, .any_copies = true}), "theirs");
}

TEST(WorkshopCopy, ForbiddenOnesAndThoseNotNamedDoNot) {
  const bind::BindingTable table = copies({{"one", "sample::copy0", 1}, {"two", "sample::copy1", 2}});
  const std::vector<std::string> forbid = {"cpu/one/*"}, named = {table.all()[1].id}, none;
  EXPECT_EQ(copier(table, {.forbid = &forbid}), "two");
  EXPECT_EQ(copier(table, {.steps = &named}), "two");
  EXPECT_EQ(copier(table, {.steps = &none}), "");
}

TEST(WorkshopCopy, AnAliasDoesNotCopyForItsTwin) {
  const bind::BindingTable table = copies({{"twin", "sample::copy0", 20}, {"alias", "sample::copy0", 1}});
  ASSERT_TRUE(table.all()[1].alias_of);
  EXPECT_EQ(copier(table), "twin");
}

TEST(WorkshopCopy, WhatWasFoundIsKeptForTheSameEndsOnly) {
  const bind::BindingTable table =
      copies({{"one", "sample::copy0", 1, [](Contract& c) { c.inputs[0].layout->start_offset = false; }}});
  const Request request = sample_request();
  Workshop workshop(table, request, {});
  const TensorSpec dense = aligned({2, 3});
  TensorSpec moved = gaps();
  moved.offset = 5;
  for (int round = 0; round < 2; ++round) {
    EXPECT_NE(workshop.copy(0, Operator::contiguize, gaps(), dense).binding, nullptr);
    EXPECT_EQ(workshop.copy(0, Operator::contiguize, moved, dense).binding, nullptr);
    EXPECT_EQ(workshop.copy(0, Operator::copy_out, gaps(), dense).binding, nullptr);
    EXPECT_EQ(workshop.copy(0, Operator::contiguize, gaps(), gaps()).binding, nullptr) << "the target is not dense";
  }
}

TEST(WorkshopCopy, PriceIsThatOfTheRates) {
  const bind::BindingTable table = copies({{"one", "sample::copy0", 7}});
  const Request request = sample_request();
  Workshop workshop(table, request, {});
  EXPECT_EQ(workshop.copy(0, Operator::contiguize, gaps(), aligned({2, 3})).price.ns, 7);
}

// A kernel that wants its weight packed by the kernel of that name, beside another that is cheaper.
struct Packed {
  bind::BindingTable table;
  Request request = sample_request();
  bind::Binding binding;

  explicit Packed(const char* kernel = "pack_b", const char* bytes = "4 * Cout * Cin * Kh * Kw + 100",
                  const char* source = "packs")
      : table(copies({{"pack_a", "sample::pack0", 1}, {"pack_b", "sample::pack1", 50}, {"copy", "sample::copy0", 10}})),
        binding(sample_binding(both(costs(1000), [=](Contract& c) {
          c.kernel_source = source;
          c.packing = contract::Packing{"weight", kernel, contract::CostExpression::parse(bytes).value()};
        }))) {}
  tl::expected<Route, Clause> route(const Workshop::Options& options = {}) const {
    Workshop workshop(table, request, options);
    return build_route(workshop, binding);
  }
};

TEST(BuildRoute, AWeightIsPackedByTheKernelThatTheContractNames) {
  const Packed packed;
  const auto route = packed.route();
  ASSERT_TRUE(route) << route.error().clause;
  ASSERT_EQ(route->steps.size(), 2u);
  const Step &pack = route->steps[0], &main = route->steps[1];
  EXPECT_EQ(pack.binding->contract->kernel, "pack_b");
  EXPECT_EQ(pack.role, "weight");
  EXPECT_EQ(pack.inputs[0].place, Place::weight);
  EXPECT_EQ(pack.outputs[0].bytes, 4u * 8 * 4 * 3 * 3 + 100) << "as the contract says, not as the weight is large";
  EXPECT_EQ(main.inputs[1].scratch_offset, pack.outputs[0].scratch_offset);
  EXPECT_EQ(main.inputs[1].place, Place::scratch);
  EXPECT_GE(route->scratch_bytes, pack.outputs[0].bytes);
  EXPECT_EQ(route->ns, 1050);
  EXPECT_THAT(text_of(*route), HasSubstr("Pack(weight) > "));
}

TEST(BuildRoute, APackingThatCannotBeDoneRefuses) {
  const auto clause = [](const Packed& packed, const Workshop::Options& options = {}) {
    const auto route = packed.route(options);
    return route ? std::string() : route.error().clause;
  };
  EXPECT_EQ(clause(Packed("pack_c")), "packing");
  EXPECT_EQ(clause(Packed("pack_b", "8", "other")), "packing") << "a kernel of that name, but of another source";
  EXPECT_EQ(clause(Packed("pack_b", "tiles")), "packing");
  EXPECT_EQ(clause(Packed("pack_b", "1000000000000 * 1000000000000")), "workspace");
  const std::vector<std::string> forbid = {"*/pack_b/*"};
  EXPECT_EQ(clause(Packed(), {.forbid = &forbid}), "packing");
}

TEST(BuildRoute, AWeightThatThePackKernelCannotReadIsMadeDenseFirst) {
  Packed packed;
  packed.table = copies({{"pack_b", "sample::pack1", 50, [](Contract& c) { c.inputs[0].layout->strided = false; }},
                         {"copy", "sample::copy0", 10}});
  packed.request = sample_request([](TensorSpec&, TensorSpec& weight, TensorSpec&) { spread(weight); });
  const auto route = packed.route();
  ASSERT_TRUE(route) << route.error().clause;
  EXPECT_THAT(text_of(*route), testing::StartsWith("Contiguize(weight) > Pack(weight) > cpu/"));
  EXPECT_EQ(route->ns, 1060);
}

}  // namespace
}  // namespace convoke::planner

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bind/binding_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/host.hpp"
#include "tests/contract/sample.hpp"

namespace convoke::bind {
namespace {

using contract::testing::plant;
using testing::HasSubstr;

// The small document of the contract's tests, bound to a kernel of ours.
std::string text() {
  return plant(plant(contract::testing::sample(), "sample::TABLE", "convoke"), "\"sample::conv\"",
               "\"convoke::portable::conv2d_f32\"");
}

contract::ParsedDocument parsed(const std::string& text, const char* path = "sample.fkc.md") {
  contract::ParsedDocument document = contract::parse_document(text, path);
  EXPECT_FALSE(document.has_errors()) << contract::testing::rendered(document.diagnostics);
  return document;
}

TEST(Operators, RoundTrip) {
  for (const Operator op : {Operator::conv2d, Operator::conv_transpose2d, Operator::contiguize, Operator::copy_out,
                            Operator::cast, Operator::pack, Operator::upload, Operator::download})
    EXPECT_EQ(operator_of(token_of(op)), op) << token_of(op);
  EXPECT_EQ(operator_of("Conv2D"), Operator::conv2d);
  EXPECT_EQ(operator_of("conv2d"), std::nullopt);
  EXPECT_EQ(operator_of(""), std::nullopt);
  EXPECT_EQ(operator_of(Op::conv_transpose2d), Operator::conv_transpose2d);
}

TEST(ImplId, IsBackendSourceKernelDtypesAndRevision) {
  contract::Contract contract;
  contract.backend = contract::Backend::vulkan;
  contract.kernel_source = "simd";
  contract.kernel = "conv2d";
  contract.revision = 0x0012abcd'ffffffff;
  EXPECT_EQ(impl_id(contract, {{"F32", "BF16", "F32"}, "", true}), "vulkan/simd/conv2d/f32,bf16,f32#0012abcd");
}

TEST(BindingTable, AddsEveryKeyInOrder) {
  BindingTable table;
  const auto added = table.add(parsed(text()), true, host().isa);
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_EQ(table.all().size(), 2u);
  const Binding &with = table.all()[0], &without = table.all()[1];
  EXPECT_TRUE(with.optional_present);
  EXPECT_EQ(with.input_count(), 3u);
  EXPECT_FALSE(without.optional_present);
  EXPECT_EQ(without.input_count(), 2u);
  for (const Binding& binding : table.all()) {
    EXPECT_EQ(binding.op, Operator::conv2d);
    EXPECT_NE(binding.function, nullptr);
    EXPECT_EQ(binding.missing_isa, 0u);
    EXPECT_EQ(binding.document, "sample.fkc.md");
    EXPECT_TRUE(binding.foreign);
    EXPECT_FALSE(binding.alias_of);
    EXPECT_THAT(binding.id, testing::StartsWith("cpu/plain/conv/f32,f32,f32"));
  }
}

TEST(BindingTable, ASiblingOfTheSameFunctionIsAnAlias) {
  BindingTable table;
  ASSERT_TRUE(table.add(parsed(text()), false, host().isa));
  for (const char* source : {"other", "third"}) {
    const auto added = table.add(
        parsed(plant(text(), "kernel_source: \"plain\"", std::string("kernel_source: ") + source)), true, host().isa);
    ASSERT_TRUE(added) << added.error().message;
  }
  ASSERT_EQ(table.all().size(), 6u);
  for (std::size_t i = 2; i < 6; ++i) EXPECT_EQ(table.all()[i].alias_of, i % 2) << "the first is the twin of all";
}

TEST(BindingTable, WhatCannotBeBoundIsAnError) {
  struct Row {
    ErrorCode code;
    const char* rule;
    const char* from;
    const char* to;
    const char* says;
  };
  const Row rows[] = {
      {ErrorCode::not_found, "link_registry", "link_registry: convoke", "link_registry: nobody", "nobody"},
      {ErrorCode::not_found, "UnknownEntryPoint", "portable::conv2d_f32", "portable::conv9d_f32", "conv9d_f32"},
      {ErrorCode::invalid_document, "SignatureMismatch", "portable::conv2d_f32", "portable::conv2d_f64", "wants f64"},
      {ErrorCode::invalid_document, "SignatureMismatch", "portable::conv2d_f32", "portable::conv_transpose2d_f32",
       "computes ConvTranspose2D"},
  };
  for (const Row& row : rows) {
    BindingTable table;
    const auto added = table.add(parsed(plant(text(), row.from, row.to)), true, host().isa);
    ASSERT_FALSE(added) << row.to;
    EXPECT_EQ(added.error().code, row.code) << row.to;
    EXPECT_EQ(added.error().rule, row.rule) << row.to;
    EXPECT_THAT(added.error().message, HasSubstr(row.says));
    EXPECT_THAT(added.error().message, HasSubstr("sample.fkc.md:")) << "the place";
    EXPECT_TRUE(table.all().empty()) << row.to;
  }
}

// Kernels that are not the library's: their symbols, their device, and what the table says of a host that lacks the
// ISA.
std::int32_t outside(const convoke_call*) { return CONVOKE_OK; }
std::int32_t outside_wide(const convoke_call*) { return CONVOKE_OK; }

constexpr convoke_entry outside_entries[] = {
    {"sample::conv", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_AVX512, outside_wide},
    {"sample::conv", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_BASELINE, outside}};

BindingTable provided(contract::Backend backend, const convoke_device* device, std::string registry = "sample::TABLE",
                      std::span<const convoke_entry> entries = outside_entries) {
  BindingTable table;
  table.provide({.link_registry = std::move(registry), .backend = backend, .entries = entries, .device = device});
  return table;
}

TEST(Provider, SuppliesTheFunctionsOfItsRegistry) {
  BindingTable table = provided(contract::Backend::cpu, nullptr);
  const auto added = table.add(parsed(contract::testing::sample()), true, CONVOKE_ISA_BASELINE);
  ASSERT_TRUE(added) << added.error().message;
  ASSERT_EQ(table.all().size(), 2u);
  for (const Binding& binding : table.all()) {
    EXPECT_EQ(binding.function, outside);
    EXPECT_EQ(binding.device, nullptr);
    EXPECT_FALSE(binding.alias_of);
  }
}

TEST(Provider, ItsRowsStandInOrderOfPreferenceForTheHost) {
  BindingTable wide = provided(contract::Backend::cpu, nullptr);
  ASSERT_TRUE(wide.add(parsed(contract::testing::sample()), true, CONVOKE_ISA_FMA | CONVOKE_ISA_AVX512));
  EXPECT_EQ(wide.all()[0].function, outside_wide);
  BindingTable only = provided(contract::Backend::cpu, nullptr, "sample::TABLE", std::span(outside_entries).first(1));
  ASSERT_TRUE(only.add(parsed(contract::testing::sample()), true, CONVOKE_ISA_BASELINE));
  EXPECT_EQ(only.all()[0].function, nullptr) << "known, but not runnable here";
  EXPECT_EQ(only.all()[0].missing_isa, static_cast<std::uint32_t>(CONVOKE_ISA_AVX512));
}

TEST(Provider, GoesBeforeABuiltInRegistryOfItsName) {
  BindingTable table = provided(contract::Backend::cpu, nullptr, "convoke");
  const auto mine = plant(contract::testing::sample(), "sample::TABLE", "convoke");
  ASSERT_TRUE(table.add(parsed(mine), true, CONVOKE_ISA_BASELINE));
  EXPECT_EQ(table.all()[0].function, outside);
  const auto builtin = table.add(parsed(text()), true, CONVOKE_ISA_BASELINE);
  ASSERT_FALSE(builtin) << "and hides what that one has";
  EXPECT_EQ(builtin.error().rule, "UnknownEntryPoint");
}

TEST(Provider, ItsDeviceServesKernelsOfItsBackendOnly) {
  const convoke_device device{};
  BindingTable table = provided(contract::Backend::vulkan, &device);
  ASSERT_TRUE(table.add(parsed(contract::testing::sample()), true, CONVOKE_ISA_BASELINE));
  EXPECT_EQ(table.all()[0].device, nullptr) << "a kernel of the host";
  BindingTable there = provided(contract::Backend::vulkan, &device);
  ASSERT_TRUE(there.add(parsed(plant(contract::testing::sample(), "backend: Cpu", "backend: Vulkan")), true,
                        CONVOKE_ISA_BASELINE));
  EXPECT_EQ(there.all()[0].device, &device);
  EXPECT_EQ(there.all()[0].function, outside);
}

TEST(Provider, WhatItsTableSaysOfASymbolMustFit) {
  const convoke_entry entries[] = {
      {"sample::conv", CONVOKE_CONV2D, CONVOKE_F16, CONVOKE_F16, CONVOKE_ISA_BASELINE, outside}};
  BindingTable table = provided(contract::Backend::cpu, nullptr, "sample::TABLE", entries);
  const auto added = table.add(parsed(contract::testing::sample()), true, CONVOKE_ISA_BASELINE);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().rule, "SignatureMismatch");
  BindingTable other = provided(contract::Backend::cpu, nullptr, "sample::OTHER");
  EXPECT_EQ(other.add(parsed(contract::testing::sample()), true, CONVOKE_ISA_BASELINE).error().rule, "link_registry");
}

TEST(BindingTable, TwoKernelsOfOneImplIdAreAnError) {
  const convoke_entry entries[] = {
      {"sample::conv", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_BASELINE, outside},
      {"sample::conw", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, CONVOKE_ISA_BASELINE, outside_wide}};
  BindingTable table = provided(contract::Backend::cpu, nullptr, "sample::TABLE", entries);
  contract::ParsedDocument document = parsed(contract::testing::sample());
  ASSERT_TRUE(table.add(document, true, CONVOKE_ISA_BASELINE));
  document.contracts.front().entry_point = "sample::conw";
  const auto again = table.add(document, true, CONVOKE_ISA_BASELINE);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::invalid_document);
  EXPECT_EQ(again.error().rule, "DuplicateImplId");
  EXPECT_THAT(again.error().message, HasSubstr(table.all()[0].id));
}

TEST(BindingTable, AnOperatorOutsideTheScopeIsAnError) {
  contract::ParsedDocument document = parsed(text());
  document.contracts.front().op_kind = "MatMul";
  BindingTable table;
  const auto added = table.add(document, true, host().isa);
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().rule, "op_kind");
  EXPECT_THAT(added.error().message, HasSubstr("MatMul"));
}

TEST(BindingTable, TheSameFunctionTwiceAtOneSourceIsAnError) {
  BindingTable table;
  ASSERT_TRUE(table.add(parsed(text()), false, host().isa));
  const auto again = table.add(parsed(text(), "again.fkc.md"), true, host().isa);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().rule, "DuplicateKernelRef");
  EXPECT_THAT(again.error().message, HasSubstr("again.fkc.md"));
  EXPECT_EQ(table.all().size(), 2u);
}

}  // namespace
}  // namespace convoke::bind

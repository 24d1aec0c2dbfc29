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
  for (const Operator op :
       {Operator::conv2d, Operator::conv_transpose2d, Operator::contiguize, Operator::copy_out, Operator::cast})
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

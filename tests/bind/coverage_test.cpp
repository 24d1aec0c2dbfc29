// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bind/coverage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/file.hpp"
#include "base/host.hpp"
#include "bind/builtin_documents.hpp"

namespace convoke::bind {
namespace {

BindingTable table_of(std::string_view path, const std::string& text, bool foreign = false) {
  BindingTable table;
  const auto added = table.add(contract::parse_document(text, path), foreign, host().isa);
  EXPECT_TRUE(added) << added.error().message;
  return table;
}

std::string convolutions() {
  for (const BuiltinDocument& document : builtin_documents())
    if (document.path.ends_with("portable/conv.fkc.md")) return std::string(document.text);
  ADD_FAILURE() << "no conv.fkc.md is built in";
  return {};
}

Coverage row_of(const std::vector<Coverage>& rows, Operator op, const std::vector<DType>& dtypes) {
  const auto found =
      std::ranges::find_if(rows, [&](const Coverage& row) { return row.op == op && row.dtypes == dtypes; });
  EXPECT_NE(found, rows.end());
  return found == rows.end() ? Coverage() : *found;
}

std::size_t replace_all(std::string& text, const std::string& from, const std::string& to) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size(), ++count)
    text.replace(at, from.size(), to);
  return count;
}

TEST(Coverage, ATableWithoutKernelsCoversNothing) {
  for (const Coverage& row : coverage(BindingTable{})) EXPECT_FALSE(row.covered());
}

TEST(Coverage, IsCountedByKeyAndNotByOperator) {
  const auto rows = coverage(table_of("conv.fkc.md", convolutions()));
  EXPECT_TRUE(row_of(rows, Operator::conv2d, {DType::f16, DType::f16, DType::f16}).covered());
  EXPECT_TRUE(row_of(rows, Operator::conv2d, std::vector<DType>(4, DType::f16)).covered());
  EXPECT_FALSE(row_of(rows, Operator::cast, {DType::f32, DType::f16}).covered());
  EXPECT_FALSE(row_of(rows, Operator::contiguize, {DType::f32, DType::f32}).covered());
}

TEST(Coverage, AKernelThatIsNotBitStableDoesNotCount) {
  std::string text = convolutions();
  EXPECT_GT(replace_all(text, "determinism: bitwise", "determinism: nondeterministic"), 0U);
  EXPECT_GT(replace_all(text, "bit_stable_on_same_hardware: true", "bit_stable_on_same_hardware: false"), 0U);
  EXPECT_GT(replace_all(text, "audited: ~", "audited: true"), 0U);
  for (const Coverage& row : coverage(table_of("conv.fkc.md", text))) EXPECT_FALSE(row.covered());
}

TEST(Coverage, ForeignClaimsAreCountedApart) {
  const auto rows = coverage(table_of("conv.fkc.md", convolutions(), true));
  const Coverage row = row_of(rows, Operator::conv2d, std::vector<DType>(3, DType::f32));
  EXPECT_FALSE(row.covered());
  EXPECT_EQ(row.unrelied_on.size(), 1U);
}

}  // namespace
}  // namespace convoke::bind

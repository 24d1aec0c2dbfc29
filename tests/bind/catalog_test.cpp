// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/catalog.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/file.hpp"
#include "bind/binding_table.hpp"

namespace convoke {
namespace {

using ::testing::HasSubstr;

Document seed(const char* name) {
  const std::string path = std::string(CONVOKE_SUITES) + "/contracts/" + name;
  return {path, read_file(path).value()};
}

// Replaces the first occurrence, which must be there.
std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Catalog, BuiltinHoldsEveryOperationInEveryDtype) {
  std::set<std::string> ids;
  for (const std::string& id : Catalog::builtin().impl_ids()) EXPECT_TRUE(ids.insert(id).second) << id;
  for (const char* dtype : {"f32", "f64", "bf16", "f16"})
    for (const char* op : {"conv2d", "conv_transpose2d"})
      for (int operands : {3, 4}) {
        std::string key = std::string("cpu/portable/") + op + "_" + dtype + "/";
        for (int i = 0; i < operands; ++i) key += std::string(i == 0 ? "" : ",") + dtype;
        EXPECT_EQ(std::ranges::count_if(ids, [&](const std::string& id) { return id.starts_with(key + "#"); }), 1)
            << key;
      }
}

TEST(Catalog, BuiltinBindingsAllRunHere) {
  for (const bind::Binding& binding : Catalog::builtin().table().all()) {
    EXPECT_NE(binding.function, nullptr) << binding.id;
    EXPECT_FALSE(binding.alias_of) << binding.id;
    EXPECT_FALSE(binding.foreign) << binding.id;
  }
}

TEST(Catalog, TheCpuSeedsSixteenBindingsAreAliases) {
  const auto catalog = Catalog::with_documents({seed("cpu-conv.fkc.md")});
  ASSERT_TRUE(catalog) << catalog.error().message;
  const std::size_t own = Catalog::builtin().table().all().size();
  const auto all = catalog->table().all();
  ASSERT_EQ(all.size(), own + 16);
  for (std::size_t i = own; i < all.size(); ++i) {
    ASSERT_TRUE(all[i].alias_of) << all[i].id;
    EXPECT_EQ(all[*all[i].alias_of].dtypes, all[i].dtypes);
    EXPECT_EQ(all[*all[i].alias_of].function, all[i].function);
    EXPECT_TRUE(all[i].foreign);
  }
  EXPECT_EQ(all[own].id, "cpu/portable-cpu/conv2d_f32/f32,f32,f32,f32#9698b0be");
  EXPECT_EQ(all[own + 1].id, "cpu/portable-cpu/conv2d_f32/f32,f32,f32#9698b0be");
}

TEST(Catalog, TheVulkanSeedsBindingsAreListedWithoutFunction) {
  const auto catalog = Catalog::with_documents({seed("vulkan-conv.fkc.md")});
  ASSERT_TRUE(catalog) << catalog.error().message;
  const auto all = catalog->table().all();
  ASSERT_EQ(all.size(), Catalog::builtin().table().all().size() + 3);
  EXPECT_EQ(all.back().id, "vulkan/vulkan-slang/conv2d_f16/f16,f16,f16#08c3045f");
  EXPECT_EQ(all.back().function, nullptr);
}

TEST(Catalog, TheSameDocumentTwiceIsADuplicate) {
  Document again = seed("cpu-conv.fkc.md");
  again.path = "again.fkc.md";
  const auto catalog = Catalog::with_documents({seed("cpu-conv.fkc.md"), again});
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::invalid_document);
  EXPECT_THAT(catalog.error().message, HasSubstr("again.fkc.md"));
}

TEST(Catalog, AnUnknownSymbolIsNamed) {
  Document document = seed("cpu-conv.fkc.md");
  document.text = with(document.text, "entry_point: \"fuel_cpu_backend::byte_kernels::conv2d_f32\"",
                       "entry_point: \"fuel_cpu_backend::byte_kernels::conv9d_f32\"");
  const auto catalog = Catalog::with_documents({document});
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::not_found);
  EXPECT_EQ(catalog.error().rule, "UnknownEntryPoint");
  EXPECT_THAT(catalog.error().message, HasSubstr("conv9d_f32"));
}

// A document of ours that says of a symbol what it is not must not reach a kernel.
TEST(Catalog, AKeyThatTheFunctionDoesNotTakeIsRefused) {
  const auto error_of = [](std::string_view from, std::string_view to) {
    Document document = seed("cpu-conv.fkc.md");
    document.text = with(document.text, from, to);
    const auto catalog = Catalog::with_documents({document});
    EXPECT_FALSE(catalog);
    return catalog ? Error{} : catalog.error();
  };
  const Error op = error_of("entry_point: \"fuel_cpu_backend::byte_kernels::conv2d_f32\"",
                            "entry_point: \"fuel_cpu_backend::byte_kernels::conv_transpose2d_f32\"");
  EXPECT_EQ(op.rule, "SignatureMismatch");
  EXPECT_THAT(op.message, HasSubstr("computes ConvTranspose2D, not Conv2D"));
  const Error dtype = error_of("entry_point: \"fuel_cpu_backend::byte_kernels::conv2d_f32\"",
                               "entry_point: \"fuel_cpu_backend::byte_kernels::conv2d_f64\"");
  EXPECT_EQ(dtype.rule, "SignatureMismatch");
  EXPECT_THAT(dtype.message, HasSubstr("wants f64"));
}

TEST(Catalog, AnUnknownRegistryListsTheKnownOnes) {
  Document document = seed("cpu-conv.fkc.md");
  document.text =
      with(document.text, "link_registry: fuel_cpu_backend::byte_kernels::ENTRY_POINTS", "link_registry: nobody");
  const auto catalog = Catalog::with_documents({document});
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().rule, "link_registry");
  EXPECT_THAT(catalog.error().message, HasSubstr("convoke"));
}

TEST(Catalog, DiagnosticsOfABrokenDocumentAreInTheError) {
  Document document = seed("cpu-conv.fkc.md");
  document.text = with(document.text, "determinism: same_hardware_bitwise", "determinism: mostly");
  const auto catalog = Catalog::with_documents({document});
  ASSERT_FALSE(catalog);
  EXPECT_EQ(catalog.error().code, ErrorCode::invalid_document);
  EXPECT_THAT(catalog.error().message, HasSubstr("mostly"));
}

TEST(Catalog, AProviderFileSuppliesFrontMatter) {
  Document provider{"folder/_provider.fkc.md", ""};
  Document document = seed("cpu-conv.fkc.md");
  const std::size_t end = document.text.find("\n---", 3) + 5;
  provider.text = document.text.substr(0, end);
  document.path = "folder/conv.fkc.md";
  document.text = "---\nfkc_version: 1\n---\n" + document.text.substr(end);
  const auto catalog = Catalog::with_documents({document, provider});
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_EQ(catalog->table().all().size(), Catalog::builtin().table().all().size() + 16);
}

std::int32_t outside(const convoke_call*) { return CONVOKE_OK; }

// The Vulkan seed, bound to a device: its symbols resolve, its built-in registry does not hide them.
TEST(MakeCatalog, BindsDocumentsThroughProviders) {
  const convoke_device device{};
  std::vector<convoke_entry> entries;
  for (const auto& [symbol, dtype] : {std::pair{"fuel_vulkan_backend::fkc::conv2d_f32", CONVOKE_F32},
                                      std::pair{"fuel_vulkan_backend::fkc::conv2d_bf16", CONVOKE_BF16},
                                      std::pair{"fuel_vulkan_backend::fkc::conv2d_f16", CONVOKE_F16}})
    entries.push_back({symbol, CONVOKE_CONV2D, dtype, dtype, CONVOKE_ISA_BASELINE, outside});
  const bind::Provider provider{.link_registry = "fuel_vulkan_backend::fkc::ENTRY_POINTS",
                                .backend = contract::Backend::vulkan,
                                .entries = entries,
                                .device = &device};
  const auto catalog = bind::make_catalog({seed("vulkan-conv.fkc.md")}, {provider});
  ASSERT_TRUE(catalog) << catalog.error().message;
  const auto all = catalog->table().all();
  const std::size_t own = Catalog::builtin().table().all().size();
  ASSERT_EQ(all.size(), own + 3);
  for (std::size_t i = own; i < all.size(); ++i) {
    EXPECT_EQ(all[i].function, outside) << all[i].id;
    EXPECT_EQ(all[i].device, &device) << all[i].id;
    EXPECT_TRUE(all[i].foreign) << all[i].id;
    EXPECT_FALSE(all[i].alias_of) << all[i].id;
  }
  for (std::size_t i = 0; i < own; ++i) EXPECT_EQ(all[i].device, nullptr) << all[i].id;
  EXPECT_EQ(all.back().id, "vulkan/vulkan-slang/conv2d_f16/f16,f16,f16#08c3045f") << "the ImplId is the document's";
}

TEST(MakeCatalog, WithoutProvidersIsWithDocuments) {
  EXPECT_EQ(bind::make_catalog({seed("cpu-conv.fkc.md")}, {})->impl_ids(),
            Catalog::with_documents({seed("cpu-conv.fkc.md")})->impl_ids());
}

TEST(Catalog, CopiesShareTheirPlans) {
  const Catalog copy = Catalog::builtin();
  EXPECT_EQ(&copy.plans(), &Catalog::builtin().plans());
  const auto other = Catalog::with_documents({});
  ASSERT_TRUE(other);
  EXPECT_NE(&other->plans(), &copy.plans());
}

}  // namespace
}  // namespace convoke

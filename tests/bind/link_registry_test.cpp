// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bind/link_registry.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/host.hpp"

namespace convoke::bind {
namespace {

constexpr std::uint32_t every_isa = ~0u;

TEST(LinkRegistry, OwnSymbolsResolve) {
  const LinkRegistry* registry = find_registry("convoke");
  ASSERT_NE(registry, nullptr);
  for (const char* kernel : {"conv2d", "conv_transpose2d", "contiguize", "copy_out"})
    for (const char* dtype : {"f32", "f64", "bf16", "f16"}) {
      const std::string symbol = std::string("convoke::portable::") + kernel + "_" + dtype;
      const Resolution found = registry->resolve(symbol, host().isa);
      EXPECT_TRUE(found.known) << symbol;
      EXPECT_NE(found.function(), nullptr) << symbol;
    }
}

TEST(LinkRegistry, SeedSymbolsAreTheSameFunctions) {
  const LinkRegistry* own = find_registry("convoke");
  const LinkRegistry* seed = find_registry("fuel_cpu_backend::byte_kernels::ENTRY_POINTS");
  ASSERT_NE(seed, nullptr);
  for (const char* kernel : {"conv2d_f32", "conv2d_f16", "conv_transpose2d_f64", "conv_transpose2d_bf16"}) {
    const Resolution theirs = seed->resolve(std::string("fuel_cpu_backend::byte_kernels::") + kernel, host().isa);
    const Resolution ours = own->resolve(std::string("convoke::portable::") + kernel, host().isa);
    ASSERT_NE(theirs.function(), nullptr) << kernel;
    EXPECT_EQ(theirs.function(), ours.function()) << kernel;
  }
}

TEST(LinkRegistry, UnknownNamesAreUnknown) {
  EXPECT_EQ(find_registry("nobody::ENTRY_POINTS"), nullptr);
  EXPECT_EQ(find_registry(""), nullptr);
  const LinkRegistry* own = find_registry("convoke");
  EXPECT_FALSE(own->resolve("convoke::portable::conv3d_f32", every_isa).known);
  EXPECT_FALSE(own->resolve("", every_isa).known);
  const LinkRegistry* seed = find_registry("fuel_cpu_backend::byte_kernels::ENTRY_POINTS");
  EXPECT_FALSE(seed->resolve("fuel_cpu_backend::byte_kernels::contiguize_f32", every_isa).known);
  EXPECT_FALSE(seed->resolve("convoke::portable::conv2d_f32", every_isa).known);
}

TEST(LinkRegistry, TheBaselineHostGetsTheBaselineBuild) {
  const LinkRegistry* own = find_registry("convoke");
  const Resolution baseline = own->resolve("convoke::portable::conv2d_f32", CONVOKE_ISA_BASELINE);
  ASSERT_NE(baseline.function(), nullptr);
  EXPECT_EQ(baseline.missing_isa, 0u);
  if ((host().isa & CONVOKE_ISA_FMA) == 0) GTEST_SKIP() << "this host lacks FMA, so there is one build only";
  EXPECT_NE(own->resolve("convoke::portable::conv2d_f32", CONVOKE_ISA_FMA).function(), baseline.function());
}

TEST(LinkRegistry, VulkanSymbolsAreKnownWithoutAFunction) {
  const LinkRegistry* seed = find_registry("fuel_vulkan_backend::fkc::ENTRY_POINTS");
  ASSERT_NE(seed, nullptr);
  const Resolution found = seed->resolve("fuel_vulkan_backend::fkc::conv2d_bf16", every_isa);
  EXPECT_TRUE(found.known);
  EXPECT_EQ(found.function(), nullptr);
  EXPECT_FALSE(seed->resolve("fuel_vulkan_backend::fkc::conv2d_f64", every_isa).known);
}

}  // namespace
}  // namespace convoke::bind

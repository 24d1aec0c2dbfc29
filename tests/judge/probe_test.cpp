// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/plan/rivals.hpp"

namespace convoke::judge {
namespace {

using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<Probe> probes(const Catalog& catalog, std::string_view kernel) {
  for (const bind::Binding& binding : catalog.table().all())
    if (binding.contract->kernel == kernel && binding.contract->kernel_source == "rivals")
      return probes_of(catalog, binding).value();
  ADD_FAILURE() << kernel << " is not there";
  return {};
}

Catalog packing_catalog() {
  return rivals::catalog_of(rivals::packing_convolution("flops: \"3 * n\"") + rivals::pack_kernel("flops: \"5 * n\""));
}

TEST(ProbesOf, AConvolutionWhoseWeightIsPackedIsTimedAlone) {
  const Catalog catalog = packing_catalog();
  const std::vector<Probe> found = probes(catalog, "packed");
  ASSERT_THAT(found, Not(IsEmpty()));
  rivals::take_calls();
  const auto tiny = std::ranges::find(found, true, &Probe::tiny);
  ASSERT_NE(tiny, found.end());
  EXPECT_TRUE(tiny->run());
  EXPECT_TRUE(tiny->run());
  EXPECT_THAT(rivals::take_calls(), Each("packed"));
  EXPECT_EQ(tiny->work, "Conv2D/conv");
  EXPECT_EQ(tiny->counted.flops, 3 * 2 * 2 * 2) << "of the convolution, not of the packing";
}

TEST(ProbesOf, APackKernelIsTimedOnTheWeightsOfAKernelThatItPacksFor) {
  const Catalog catalog = packing_catalog();
  const std::vector<Probe> found = probes(catalog, "pack");
  ASSERT_THAT(found, Not(IsEmpty()));
  rivals::take_calls();
  for (const Probe& probe : found) {
    EXPECT_TRUE(probe.run());
    EXPECT_EQ(probe.work, "Pack/conv");
  }
  EXPECT_THAT(rivals::take_calls(), Each("pack"));
  const auto tiny = std::ranges::find(found, true, &Probe::tiny);
  ASSERT_NE(tiny, found.end());
  EXPECT_EQ(tiny->counted.flops, 5 * 2 * 2);
}

TEST(ProbesOf, APackKernelThatNobodyNamesHasNone) {
  const Catalog catalog = rivals::catalog_of(rivals::convolution("dense", rivals::dense_only, "flops: \"n\"") +
                                             rivals::pack_kernel("flops: \"n\""));
  EXPECT_THAT(probes(catalog, "pack"), IsEmpty());
}

}  // namespace
}  // namespace convoke::judge

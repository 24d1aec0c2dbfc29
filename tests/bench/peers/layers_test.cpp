// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/layers.hpp"

#include <gtest/gtest.h>

namespace convoke::peers {
namespace {

TEST(PeersLayers, OnlyAndBatchChooseAndChangeLayers) {
  const auto layers = read_layers(CONVOKE_SUITES "/layers.csv", "resnet50_l1_3x3*", 4);
  ASSERT_TRUE(layers);
  ASSERT_EQ(layers->size(), 2U);
  for (const problem::Problem& layer : *layers) EXPECT_EQ(layer.x[0], 4);
  EXPECT_EQ(layers->front().name, "resnet50_l1_3x3");
}

TEST(PeersLayers, AGlobThatMatchesNothingIsAnError) {
  const auto layers = read_layers(CONVOKE_SUITES "/layers.csv", "nothing*", 0);
  ASSERT_FALSE(layers);
  EXPECT_EQ(layers.error().rule, "only");
}

}  // namespace
}  // namespace convoke::peers

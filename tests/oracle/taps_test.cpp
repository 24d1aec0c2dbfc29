// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/taps.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "definition.hpp"

namespace convoke::oracle {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// Every element of x and weight has bits of its own, so that equal bits mean the same element.
TEST(Taps, AreThoseOfTheDefinitionInItsOrder) {
  Random random(1);
  std::int64_t seen = 0;
  for (int i = 0; i < 1500; ++i) {
    Sample sample = Sample::random_one(random, DType::f32, Data::integers);
    for (Owned* owned : {&sample.x, &sample.weight})
      for (std::size_t at = owned->skew, n = 0; at + 4 <= owned->memory.size(); at += 4)
        store_bits(owned->memory.data() + at, DType::f32, n++);
    const Request request = sample.request();
    for (std::int64_t number = 0; number < output_count(sample.geometry); ++number) {
      const At at = at_index(sample.geometry, number);
      Pairs found, want;
      const Taps taps = taps_of(request, at);
      for_each_tap(taps, [&](std::int64_t x, std::int64_t weight) {
        found.emplace_back(load_bits(address_of(request.x, x), DType::f32),
                           load_bits(address_of(request.weight, weight), DType::f32));
      });
      defined_taps(sample, at, [&](std::uint64_t x, std::uint64_t weight) { want.emplace_back(x, weight); });
      ASSERT_EQ(found, want) << i << ' ' << number;
      ASSERT_EQ(taps.count(), static_cast<std::int64_t>(want.size()));
      seen += taps.count();
    }
  }
  EXPECT_GT(seen, 100000);
}

// Sizes that no memory holds, but that an empty tensor may have: the answer comes at once.
TEST(Taps, TakeNoLongerOnLongAxes) {
  const std::int64_t big = std::int64_t{1} << 50;
  const AxisTaps conv = conv_taps({big, big / 2, 1, 1, 0}, 5);
  EXPECT_EQ(conv.count, big / 2);
  const AxisTaps up = transposed_taps({big, 3, 1, 1, 0}, 7);
  EXPECT_EQ(up.count, 3);
  EXPECT_EQ(up.input, 5);
  EXPECT_EQ(up.kernel, 2);
  EXPECT_EQ(up.kernel_step, -1);
  EXPECT_EQ(transposed_taps({big, 2, 4, 2, 0}, 1).count, 0);  // odd outputs meet nothing
}

TEST(Request, NumbersOutputsRowByRow) {
  Geometry g;
  g.N = 2, g.Cout = 3, g.Ho = 4, g.Wo = 5;
  EXPECT_EQ(output_count(g), 120);
  EXPECT_EQ(at_index(g, 0), (At{0, 0, 0, 0}));
  EXPECT_EQ(at_index(g, 119), (At{1, 2, 3, 4}));
  EXPECT_EQ(at_index(g, 60 + 20 + 5 + 1), (At{1, 1, 1, 1}));
}

}  // namespace
}  // namespace convoke::oracle

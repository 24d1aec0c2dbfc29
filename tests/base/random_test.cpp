// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace convoke {
namespace {

// splitmix64's published first outputs for the seed 1234567.
TEST(Random, SeedsAsPublished) {
  std::uint64_t state = 1234567;
  EXPECT_EQ(splitmix64(state), 6457827717110365317u);
  EXPECT_EQ(splitmix64(state), 3203168211198807973u);
}

// Test data and samples everywhere hang on these numbers: they must never change.
TEST(Random, DrawsTheSameForever) {
  Random random(42);
  const std::array<std::uint64_t, 3> drawn = {random.next(), random.next(), random.next()};
  EXPECT_EQ(drawn, (std::array<std::uint64_t, 3>{1546998764402558742u, 6990951692964543102u, 12544586762248559009u}));
}

TEST(Random, DrawsEvenlyBelow) {
  Random random(1);
  std::array<int, 7> seen{};
  for (int i = 0; i < 70000; ++i) ++seen[random.below(7)];
  for (const int count : seen) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(random.below(1), 0u);
  // 3 * 2^62 leaves a quarter of all words over: were they not skipped, the lower third would be twice as likely.
  const std::uint64_t n = std::uint64_t{3} << 62;
  int low = 0;
  for (int i = 0; i < 30000; ++i) low += random.below(n) < n / 3;
  EXPECT_NEAR(low, 10000, 500);
}

TEST(Random, DrawsBetweenBothEnds) {
  Random random(2);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t drawn = random.between(-2, 3);
    ASSERT_TRUE(drawn >= -2 && drawn <= 3);
    low |= drawn == -2, high |= drawn == 3;
  }
  EXPECT_TRUE(low && high);
  constexpr std::int64_t min64 = std::numeric_limits<std::int64_t>::min();
  EXPECT_LT(random.between(min64, min64 + 1), min64 + 2);
}

}  // namespace
}  // namespace convoke

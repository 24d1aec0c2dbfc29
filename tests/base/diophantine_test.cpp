// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/diophantine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "base/random.hpp"

namespace convoke {
namespace {

TEST(LinearTerms, ReachWhatEnumerationReaches) {
  Random random(5);
  int reached = 0;
  for (int i = 0; i < 3000; ++i) {
    LinearTerms terms;
    std::set<std::int64_t> sums = {0};
    const auto count = random.between(0, 4);
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t factor = random.between(0, 30), last = random.between(0, 5);
      terms.add(factor, last);
      std::set<std::int64_t> more;
      for (const std::int64_t sum : sums)
        for (std::int64_t j = 0; j <= last; ++j) more.insert(sum + factor * j);
      sums = more;
    }
    ASSERT_EQ(static_cast<std::int64_t>(terms.largest()), *sums.rbegin());
    for (std::int64_t target = -3; target < 250; ++target) {
      ASSERT_EQ(terms.reaches(target), sums.contains(target)) << i << ' ' << target;
      reached += sums.contains(target);
    }
  }
  EXPECT_GT(reached, 1000);
}

TEST(LinearTerms, SolvePairsOfAnySize) {
  // 2^61 - 1 is a prime: with 2^61 - 3 the only sums that meet are far apart.
  const Wide p = (Wide{1} << 61) - 1, q = (Wide{1} << 61) - 3;
  LinearTerms terms;
  terms.add(p, 1 << 30);
  terms.add(q, 1 << 30);
  EXPECT_TRUE(terms.reaches(p * 12345 + q * 987654));
  EXPECT_FALSE(terms.reaches(p * 12345 + q * 987654 + 1));
  EXPECT_TRUE(terms.reaches(terms.largest()));
  EXPECT_FALSE(terms.reaches(terms.largest() - 1));
}

// A subset sum without structure: the search gives up on the safe side, and soon.
TEST(LinearTerms, GiveUpInTime) {
  Random random(6);
  LinearTerms terms;
  Wide target = 1;
  for (int k = 0; k < 12; ++k) {
    const std::int64_t factor = 2 * random.between(1'000'000'000, 2'000'000'000);
    terms.add(factor, 1'000'000);
    target += Wide{factor} * 500'000;
  }
  terms.add(3, 1);
  const auto start = std::chrono::steady_clock::now();
  terms.reaches(target);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

}  // namespace
}  // namespace convoke

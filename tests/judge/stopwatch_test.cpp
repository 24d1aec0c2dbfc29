// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/stopwatch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "base/fail.hpp"

namespace convoke::judge {
namespace {

TEST(Stopwatch, SubjectsTakeTurns) {
  std::string order;
  const auto noted = [&order](char name) {
    return [&order, name]() -> Result<void> {
      order += name;
      return {};
    };
  };
  const std::array<Subject, 2> subjects = {noted('a'), noted('b')};
  const auto times = medians_ns(subjects, {.box_ms = 0, .least = 3, .most = 3});
  ASSERT_TRUE(times);
  EXPECT_EQ(times->size(), 2u);
  EXPECT_EQ(order, "abababab") << "one round to warm up, three that count";
  order.clear();
  ASSERT_TRUE(medians_ns(subjects, {.box_ms = 0, .least = 1, .most = 1, .warm = true}));
  EXPECT_EQ(order, "ab");
  order.clear();
  ASSERT_TRUE(medians_ns(subjects, {.box_ms = 0, .least = 2, .most = 2, .twice = true}));
  EXPECT_EQ(order, "aabbaabb") << "each is warm without a round before";
}

TEST(Stopwatch, TheFirstFailureEndsIt) {
  int runs = 0;
  const std::array<Subject, 1> subjects = {[&]() -> Result<void> {
    if (++runs < 3) return {};
    return fail(ErrorCode::kernel_failure, "kernel", {}, "the third run fails");
  }};
  const auto times = medians_ns(subjects, {.box_ms = 0, .least = 9, .most = 9});
  ASSERT_FALSE(times);
  EXPECT_EQ(times.error().code, ErrorCode::kernel_failure);
  EXPECT_EQ(runs, 3);
}

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median_of({3, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median_of({7}), 7);
}

}  // namespace
}  // namespace convoke::judge

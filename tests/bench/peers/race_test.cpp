// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/race.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "base/fail.hpp"

namespace convoke::peers {
namespace {

using judge::Subject;

Subject noted(std::string& order, char name, std::chrono::milliseconds time) {
  return [&order, name, time]() -> Result<void> {
    order += name;
    std::this_thread::sleep_for(time);
    return {};
  };
}

TEST(Race, SubjectsTakeTurnsInBlocks) {
  std::string order;
  const std::array<Subject, 2> subjects = {noted(order, 'a', std::chrono::milliseconds(3)),
                                           noted(order, 'b', std::chrono::milliseconds(3))};
  const auto laps = race(subjects, {.box_ms = 0, .block_ms = 0, .slow_ms = 1e9, .least = 2, .most = 2});
  ASSERT_TRUE(laps);
  EXPECT_EQ(laps->size(), 2U);
  EXPECT_EQ(order, "aabbabab") << "twice to warm up and to learn how long it takes, then in turn";
}

TEST(Race, ASlowSubjectIsCalledSeldom) {
  std::string order;
  const std::array<Subject, 1> subjects = {noted(order, 's', std::chrono::milliseconds(1))};
  ASSERT_TRUE(race(subjects, {.box_ms = 0, .slow_ms = 0, .least = 9, .most = 9, .slow_calls = 3}));
  EXPECT_EQ(order, "sss") << "the first call counts, because there are so few";
}

TEST(Race, TheFirstFailureEndsIt) {
  int runs = 0;
  const std::array<Subject, 1> subjects = {[&]() -> Result<void> {
    if (++runs < 3) return {};
    return fail(ErrorCode::kernel_failure, "kernel", {}, "the third run fails");
  }};
  const auto laps = race(subjects, {});
  ASSERT_FALSE(laps);
  EXPECT_EQ(laps.error().code, ErrorCode::kernel_failure);
  EXPECT_EQ(runs, 3);
}

}  // namespace
}  // namespace convoke::peers

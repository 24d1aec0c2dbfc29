// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace convoke {
namespace {

constexpr std::int64_t max64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t min64 = std::numeric_limits<std::int64_t>::min();

TEST(Checked, SaysWhereInt64Ends) {
  EXPECT_EQ(checked_add(max64 - 1, 1), max64);
  EXPECT_EQ(checked_add(max64, 1), std::nullopt);
  EXPECT_EQ(checked_sub(min64 + 1, 1), min64);
  EXPECT_EQ(checked_sub(min64, 1), std::nullopt);
  EXPECT_EQ(checked_mul(std::int64_t{1} << 31, std::int64_t{1} << 31), std::int64_t{1} << 62);
  EXPECT_EQ(checked_mul(std::int64_t{1} << 32, std::int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(checked_mul(min64, -1), std::nullopt);
}

TEST(Checked, CarriesAnOverflowOn) {
  const Checked lost = checked_mul(max64, 2);
  EXPECT_EQ(checked_add(lost, Checked(1)), std::nullopt);
  EXPECT_EQ(checked_sub(Checked(1), lost), std::nullopt);
  EXPECT_EQ(checked_mul(Checked(0), lost), std::nullopt);
  EXPECT_EQ(checked_mul(Checked(3), Checked(4)), 12);
}

TEST(Checked, DividesDownwards) {
  EXPECT_EQ(floor_div(7, 2), 3);
  EXPECT_EQ(floor_div(-7, 2), -4);
  EXPECT_EQ(floor_div(-8, 2), -4);
  EXPECT_EQ(floor_div(min64, 1), min64);
  EXPECT_EQ(floor_div(min64, max64), -2);
}

}  // namespace
}  // namespace convoke

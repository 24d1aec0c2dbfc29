// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/fnv1a.hpp"

#include <gtest/gtest.h>

namespace convoke {
namespace {

TEST(Fnv1a, MeetsThePublishedVectors) {
  EXPECT_EQ(fnv1a(""), 0xcbf29ce484222325u);
  EXPECT_EQ(fnv1a("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(fnv1a("foobar"), 0x85944171f73967e8u);
  EXPECT_EQ(fnv1a("bar", fnv1a("foo")), fnv1a("foobar"));
  EXPECT_NE(fnv1a("\xff"), fnv1a("\x7f"));
}

}  // namespace
}  // namespace convoke

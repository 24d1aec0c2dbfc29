// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/sha256.hpp"

#include <gtest/gtest.h>

namespace convoke {
namespace {

constexpr const char* abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

// FIPS 180-4's own examples.
TEST(Sha256, MeetsTheStandardsExamples) {
  EXPECT_EQ(sha256_hex("abc"), abc);
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, TakesPiecesAndStartsAfresh) {
  Sha256 hash;
  hash.update("a");
  hash.update(nullptr, 0);
  Sha256 moved = std::move(hash);
  moved.update("bc");
  EXPECT_EQ(moved.hex(), abc);
  moved.update("abc");
  EXPECT_EQ(moved.hex(), abc);
}

}  // namespace
}  // namespace convoke

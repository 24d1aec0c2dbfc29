// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/digest.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "base/sha256.hpp"

namespace convoke {
namespace {

TEST(Digest, ReadsAnyLayoutInRowOrder) {
  const std::array<std::uint16_t, 12> memory = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  // Rows upwards, every second column, from element 9.
  const ConstTensor view{memory.data(), sizeof memory, {DType::f16, {3, 2}, {-4, 2}, 9, 0}};
  const std::array<std::uint16_t, 6> want = {9, 11, 5, 7, 1, 3};
  const std::string bytes = dense_bytes(view);
  ASSERT_EQ(bytes.size(), sizeof want);
  EXPECT_EQ(std::memcmp(bytes.data(), want.data(), sizeof want), 0);
  EXPECT_EQ(digest_of(view), sha256_hex(bytes));
  const ConstTensor dense{want.data(), sizeof want, TensorSpec::dense(DType::f16, {3, 2})};
  EXPECT_EQ(digest_of(dense), digest_of(view));
}

TEST(Digest, MakesNaNsCanonicalAndKeepsZeros) {
  const std::array<std::uint32_t, 3> odd = {0xffc12345u, 0x80000000u, 0x7f800000u};
  const std::array<std::uint32_t, 3> plain = {0x7fc00000u, 0x80000000u, 0x7f800000u};
  const std::array<std::uint32_t, 3> zero = {0x7fc00000u, 0x00000000u, 0x7f800000u};
  const TensorSpec spec = TensorSpec::dense(DType::f32, {3});
  EXPECT_EQ(digest_of({odd.data(), 12, spec}), digest_of({plain.data(), 12, spec}));
  EXPECT_NE(digest_of({odd.data(), 12, spec}), digest_of({zero.data(), 12, spec}));
}

TEST(Digest, TakesEmptyAndScalarTensors) {
  EXPECT_EQ(dense_bytes({nullptr, 0, TensorSpec::dense(DType::f64, {2, 0, 3})}), "");
  const double one = 1;
  EXPECT_EQ(dense_bytes({&one, 8, TensorSpec::dense(DType::f64, {})}), std::string("\0\0\0\0\0\0\xf0\x3f", 8));
}

}  // namespace
}  // namespace convoke

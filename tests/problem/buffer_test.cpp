// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/buffer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/dtype.hpp"
#include "base/sanitizer.hpp"

namespace convoke::problem {
namespace {

std::uintptr_t address(const Buffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); }
std::uintptr_t page() { return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE)); }

TEST(Buffer, IsAlignedExactlyAndCloseToItsGuard) {
  for (const Guard guard : {Guard::none, Guard::front, Guard::end})
    for (std::size_t align = 1; align <= 4096; align *= 2)
      for (const std::size_t bytes :
           {std::size_t{0}, std::size_t{1}, std::size_t{6}, std::size_t{4096}, std::size_t{9999}}) {
        const auto buffer = Buffer::make(bytes, align, guard);
        ASSERT_TRUE(buffer);
        EXPECT_EQ(buffer->size(), bytes);
        EXPECT_EQ(address(*buffer) % align, 0u);
        EXPECT_NE(address(*buffer) % (2 * align), 0u);
        if (guard == Guard::front) {
          EXPECT_LE(address(*buffer) % page(), align);
        }
        if (guard == Guard::end) {
          EXPECT_LT((0 - address(*buffer) - bytes) % page(), 2 * align);
        }
      }
}

TEST(Buffer, ContentCanTouchEitherGuard) {
  // 4 bytes at an odd multiple of 4 end at a page boundary.
  EXPECT_EQ((address(*Buffer::make(4, 4, Guard::end)) + 4) % page(), 0u);
}

TEST(BufferDeathTest, GuardsEndTheProgram) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto end = Buffer::make(4, 4, Guard::end);
  const auto front = Buffer::make(4, 1, Guard::front);
  EXPECT_DEATH({ const_cast<volatile std::byte*>(end->data())[4] = std::byte{1}; }, "");
  EXPECT_DEATH({ const_cast<volatile std::byte*>(front->data())[-2] = std::byte{1}; }, "");
}

TEST(Buffer, IsPoisonedWithNaNsOfEveryType) {
  const auto buffer = Buffer::make(16, 2, Guard::end);
  for (const DType dtype : all_dtypes)
    for (std::size_t at = 0; at < 16; at += size_of(dtype))
      EXPECT_TRUE(is_nan_bits(dtype, load_bits(buffer->data() + at, dtype))) << name_of(dtype);
  EXPECT_EQ(load_bits(buffer->data(), DType::f32), 0x7ff47ff4u);
}

TEST(Buffer, IsPoisonedToItsLastByte) {
  for (const std::size_t bytes : {1u, 2u, 3u, 5u, 4095u, 9999u}) {
    const auto buffer = Buffer::make(bytes, 2, Guard::end);
    for (std::size_t i = 0; i < bytes; ++i)
      ASSERT_EQ(buffer->data()[i], i % 2 == 0 ? std::byte{0xf4} : std::byte{0x7f}) << i << " of " << bytes;
  }
}

TEST(Buffer, NoticesWritesIntoTheSlack) {
#ifdef CONVOKE_ADDRESS_SANITIZER  // which ends the program at such a write
  EXPECT_DEATH(Buffer::make(3, 8, Guard::end)->data()[3] = std::byte{1}, "AddressSanitizer");
#else
  for (const Guard guard : {Guard::front, Guard::end}) {
    auto buffer = Buffer::make(3, 8, guard);
    EXPECT_TRUE(buffer->slack_intact());
    buffer->bytes()[0] = std::byte{1};
    EXPECT_TRUE(buffer->slack_intact());
    for (const std::ptrdiff_t outside : {-1, 3}) {
      const std::byte kept = std::exchange(buffer->data()[outside], std::byte{1});
      EXPECT_FALSE(buffer->slack_intact());
      buffer->data()[outside] = kept;
    }
    EXPECT_TRUE(buffer->slack_intact());
  }
#endif
}

TEST(Buffer, MovesWithoutMovingItsMemory) {
  auto made = Buffer::make(8, 8, Guard::end);
  std::byte* const data = made->data();
  Buffer moved = *std::move(made);
  EXPECT_EQ(moved.data(), data);
  Buffer assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.data(), data);
  EXPECT_EQ(assigned.size(), 8u);
  assigned.data()[7] = std::byte{1};
}

TEST(Buffer, RefusesWhatCannotBe) {
  EXPECT_EQ(Buffer::make(1, 3, Guard::none).error().rule, "align");
  EXPECT_EQ(Buffer::make(1, 0, Guard::none).error().rule, "align");
  EXPECT_EQ(Buffer::make(1, 8192, Guard::none).error().rule, "align");
  for (const std::size_t bytes : {std::numeric_limits<std::size_t>::max(), std::size_t{1} << 60})
    EXPECT_EQ(Buffer::make(bytes, 64, Guard::end).error().code, ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace convoke::problem

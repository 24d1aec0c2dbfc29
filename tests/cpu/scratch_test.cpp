// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cpu/scratch.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

// A sanitizer's allocator ends the process at an absurd size unless told to fail as others do.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace convoke::cpu {
namespace {

bool on_a_page(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 4096 == 0; }

// Every case on a thread of its own, which has no block yet.
template <class Body>
void on_a_fresh_thread(Body body) {
  std::thread(body).join();
}

TEST(Scratch, IsAsLargeAsAskedAndStartsOnAPage) {
  on_a_fresh_thread([] {
    for (const std::size_t bytes : {1u, 100u, 4096u, 4097u, 1u << 20, 5u}) {
      const Scratch scratch = Scratch::acquire(bytes);
      ASSERT_NE(scratch.data(), nullptr);
      EXPECT_GE(scratch.size(), bytes);
      EXPECT_TRUE(on_a_page(scratch.data())) << bytes;
      std::memset(scratch.data(), 0x5a, scratch.size());
    }
  });
}

TEST(Scratch, IsKeptBetweenCallsAndGrows) {
  on_a_fresh_thread([] {
    const void* first = nullptr;
    {
      const Scratch scratch = Scratch::acquire(10'000);
      first = scratch.data();
    }
    const Scratch smaller = Scratch::acquire(100);
    EXPECT_EQ(smaller.data(), first);
    EXPECT_GE(smaller.size(), 10'000u);
    EXPECT_GE(Scratch::acquire(1'000'000).size(), 1'000'000u);
  });
}

TEST(Scratch, ARunInsideAnotherGetsItsOwn) {
  on_a_fresh_thread([] {
    {
      const Scratch kept = Scratch::acquire(8192);
    }
    const Scratch outer = Scratch::acquire(4096);
    const Scratch inner = Scratch::acquire(4096);
    ASSERT_NE(inner.data(), nullptr);
    EXPECT_NE(inner.data(), outer.data());
  });
}

TEST(Scratch, MovingHandsTheBlockOver) {
  on_a_fresh_thread([] {
    Scratch from = Scratch::acquire(64);
    const void* const data = from.data();
    const Scratch to = std::move(from);
    EXPECT_EQ(to.data(), data);
    EXPECT_EQ(from.size(), 0u);  // NOLINT(bugprone-use-after-move): what is left is what is asked
  });
}

TEST(Scratch, AThreadDoesNotSeeAnothers) {
  const Scratch here = Scratch::acquire(4096);
  on_a_fresh_thread([&] { EXPECT_NE(Scratch::acquire(4096).data(), here.data()); });
}

TEST(Scratch, AbsurdSizesAreEmptyAndLeaveTheNextCallWell) {
  on_a_fresh_thread([] {
    for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX / 2}) {
      const Scratch scratch = Scratch::acquire(bytes);
      EXPECT_EQ(scratch.data(), nullptr) << bytes;
      EXPECT_EQ(scratch.size(), 0u) << bytes;
    }
    EXPECT_NE(Scratch::acquire(64).data(), nullptr);
  });
}

}  // namespace
}  // namespace convoke::cpu

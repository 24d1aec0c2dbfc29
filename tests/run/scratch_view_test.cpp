// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "run/scratch_view.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "plan/route.hpp"

// A sanitizer's allocator ends the process at an absurd size unless told to fail as others do.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace convoke::executor {
namespace {

constexpr std::size_t align = planner::scratch_alignment;

std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

TEST(AcquireScratch, NoneIsNeededForNothing) {
  const auto scratch = acquire_scratch({}, 0);
  ASSERT_TRUE(scratch);
  EXPECT_EQ(scratch->data, nullptr);
}

TEST(AcquireScratch, TheThreadsOwnIsAligned) {
  const auto scratch = acquire_scratch({}, 1000);
  ASSERT_TRUE(scratch) << scratch.error().message;
  EXPECT_NE(scratch->data, nullptr);
  EXPECT_EQ(address(scratch->data) % align, 0u);
  EXPECT_EQ(scratch->own.data(), scratch->data);
}

// What Plan::workspace_bytes says is enough wherever the caller's memory starts, and no byte less always is.
TEST(AcquireScratch, TheCallersIsAlignedInsideIt) {
  constexpr std::size_t bytes = 1000, enough = bytes + align - 1;
  std::vector<std::byte> memory(enough + 2 * align);
  std::byte* const page = memory.data() + (align - address(memory.data()) % align);
  for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, std::size_t{64}, align - 1}) {
    RunOptions options;
    options.scratch = page + shift;
    options.scratch_bytes = enough;
    const auto scratch = acquire_scratch(options, bytes);
    ASSERT_TRUE(scratch) << shift << ": " << scratch.error().message;
    EXPECT_EQ(scratch->data, page + (shift == 0 ? 0 : align)) << shift;
    EXPECT_EQ(scratch->own.data(), nullptr);
  }
  RunOptions options;
  options.scratch = page + 1;
  options.scratch_bytes = enough - 1;
  const auto scratch = acquire_scratch(options, bytes);
  ASSERT_FALSE(scratch);
  EXPECT_EQ(scratch.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(scratch.error().rule, "scratch");
}

TEST(AcquireScratch, MoreThanThereIsRunsOut) {
  const auto scratch = acquire_scratch({}, SIZE_MAX / 2);
  ASSERT_FALSE(scratch);
  EXPECT_EQ(scratch.error().code, ErrorCode::out_of_memory);
}

}  // namespace
}  // namespace convoke::executor

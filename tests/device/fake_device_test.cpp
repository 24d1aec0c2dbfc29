// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/device/fake_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "convoke/plan.hpp"

namespace convoke::fake {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

FakeDevice& device() { return FakeDevice::get(); }
void* allocate(std::uint64_t bytes) { return device().face()->allocate(device().face()->context, bytes); }
void release(void* handle) { device().face()->release(device().face()->context, handle); }

TEST(FakeDevice, HandlesLeadToMemoryAndAreNoAddresses) {
  void* const handle = allocate(100);
  EXPECT_TRUE(FakeDevice::is_handle(handle));
  std::byte* const memory = device().memory(handle, 100);
  ASSERT_NE(memory, nullptr);
  EXPECT_NE(static_cast<void*>(memory), handle);
  EXPECT_FALSE(FakeDevice::is_handle(memory));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % (2 * device_alignment), device_alignment);
  EXPECT_EQ(device().live(), 1u);
  release(handle);
  EXPECT_EQ(device().live(), 0u);
  EXPECT_THAT(device().take_faults(), IsEmpty());
}

TEST(FakeDevice, WhatIsReleasedTwiceIsAFault) {
  void* const handle = allocate(1);
  release(handle);
  release(handle);
  EXPECT_THAT(device().take_faults(), ElementsAre(HasSubstr("was released")));
  EXPECT_EQ(device().memory(handle, 1), nullptr);
  EXPECT_THAT(device().take_faults(), ElementsAre(HasSubstr("was used")));
}

TEST(FakeDevice, BytesBesideAnAllocationAreGuarded) {
  for (const int at : {-1, 100}) {
    void* const handle = allocate(100);
    std::byte* const memory = device().memory(handle, 100);
    memory[at] = std::byte{1};
    release(handle);
    EXPECT_THAT(device().take_faults(), ElementsAre(HasSubstr("beside an allocation of 100"))) << at;
  }
  void* const handle = allocate(100);
  EXPECT_EQ(device().memory(handle, 101), nullptr);
  EXPECT_THAT(device().take_faults(), ElementsAre(HasSubstr("101 bytes were used")));
  release(handle);
}

TEST(FakeDevice, ARunWithoutRoomGivesBackWhatItGot) {
  const auto dense = [](const Dims& shape) { return TensorSpec::dense(DType::f32, shape); };
  PlanOptions options;
  options.kernel = "vulkan/*";
  options.catalog = &seed_catalog();
  const auto planned =
      plan(dense({1, 1, 2, 2}), dense({64, 1, 1, 1}), std::nullopt, dense({1, 64, 2, 2}), Conv2dParams{}, options);
  ASSERT_TRUE(planned) << planned.error().message;
  std::vector<float> x(4, 1), weight(64, 1), out(256, 7);
  const auto tensor = [&](std::vector<float>& values, const Dims& shape) {
    return Tensor{values.data(), values.size() * sizeof(float), dense(shape)};
  };
  device().set_capacity(512);  // x and weight, not out
  const std::size_t before = device().allocations();
  const auto ran =
      planned->run(tensor(x, {1, 1, 2, 2}), tensor(weight, {64, 1, 1, 1}), std::nullopt, tensor(out, {1, 64, 2, 2}));
  device().set_capacity(UINT64_MAX);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, ErrorCode::out_of_memory);
  EXPECT_THAT(ran.error().message, HasSubstr("fake device"));
  EXPECT_EQ(device().allocations(), before + 2);
  EXPECT_EQ(device().live(), 0u);
  EXPECT_EQ(out.front(), 7) << "out is as it was";
  ASSERT_TRUE(
      planned->run(tensor(x, {1, 1, 2, 2}), tensor(weight, {64, 1, 1, 1}), std::nullopt, tensor(out, {1, 64, 2, 2})));
  EXPECT_EQ(out.front(), 1);
  EXPECT_EQ(device().live(), 0u);
  EXPECT_THAT(device().take_faults(), IsEmpty());
}

}  // namespace
}  // namespace convoke::fake

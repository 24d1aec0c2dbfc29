// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/device/fake_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "problem/buffer.hpp"

namespace convoke::fake {
namespace {

// Handles have this in the upper bits: no address of a program on x86-64 or AArch64.
constexpr std::uintptr_t handle_tag = 0xfade000000000000u;
constexpr std::uintptr_t handle_mask = 0xffff000000000000u;
constexpr std::byte guard_byte{0xc3};

std::uintptr_t bits_of(const void* handle) noexcept { return reinterpret_cast<std::uintptr_t>(handle); }

}  // namespace

// Guard, memory, guard. The memory is aligned to device_alignment and not to twice that.
struct FakeDevice::Allocation {
  explicit Allocation(std::uint64_t size)
      : bytes(size), total(2 * device_alignment + (size + device_alignment - 1) / device_alignment * device_alignment) {
    block = static_cast<std::byte*>(::operator new(total, std::align_val_t{2 * device_alignment}));
    std::fill_n(block, total, guard_byte);
    problem::poison({data(), bytes});
  }
  ~Allocation() { ::operator delete(block, std::align_val_t{2 * device_alignment}); }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;

  std::byte* data() const noexcept { return block + device_alignment; }
  bool intact() const noexcept {
    const auto guards = [](const std::byte* first, const std::byte* last) {
      return std::all_of(first, last, [](std::byte byte) { return byte == guard_byte; });
    };
    return guards(block, data()) && guards(data() + bytes, block + total);
  }

  std::uint64_t bytes, total;
  std::byte* block = nullptr;
};

FakeDevice& FakeDevice::get() {
  static FakeDevice device;
  return device;
}

FakeDevice::FakeDevice() {
  face_.size = sizeof face_;
  face_.alignment = device_alignment;
  face_.name = "fake device";
  face_.context = this;
  face_.allocate = [](void* context, std::uint64_t bytes) {
    return static_cast<FakeDevice*>(context)->allocate(bytes);
  };
  face_.release = [](void* context, void* handle) { static_cast<FakeDevice*>(context)->release(handle); };
}

void* FakeDevice::allocate(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes > capacity_) return nullptr;
  const std::uintptr_t handle = handle_tag | (static_cast<std::uintptr_t>(++made_) << 4);
  live_.emplace(handle, std::make_unique<Allocation>(bytes));
  return reinterpret_cast<void*>(handle);
}

void FakeDevice::release(void* handle) {
  const std::scoped_lock lock(mutex_);
  const auto found = live_.find(bits_of(handle));
  if (found == live_.end()) {
    faults_.push_back(fmt::format("{:#x} was released, and is no live allocation", bits_of(handle)));
    return;
  }
  if (!found->second->intact())
    faults_.push_back(fmt::format("bytes beside an allocation of {} were written", found->second->bytes));
  live_.erase(found);
}

std::byte* FakeDevice::memory(const void* handle, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found = live_.find(bits_of(handle));
  if (found == live_.end()) {
    faults_.push_back(fmt::format("{:#x} was used, and is no live allocation", bits_of(handle)));
    return nullptr;
  }
  if (bytes > found->second->bytes) {
    faults_.push_back(fmt::format("{} bytes were used of an allocation of {}", bytes, found->second->bytes));
    return nullptr;
  }
  return found->second->data();
}

bool FakeDevice::is_handle(const void* data) noexcept { return (bits_of(data) & handle_mask) == handle_tag; }

void FakeDevice::fault(std::string what) {
  const std::scoped_lock lock(mutex_);
  faults_.push_back(std::move(what));
}

std::vector<std::string> FakeDevice::take_faults() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(faults_, {});
}

std::size_t FakeDevice::live() const {
  const std::scoped_lock lock(mutex_);
  return live_.size();
}

std::size_t FakeDevice::allocations() const {
  const std::scoped_lock lock(mutex_);
  return made_;
}

void FakeDevice::set_capacity(std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  capacity_ = bytes;
}

}  // namespace convoke::fake

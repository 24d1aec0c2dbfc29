// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "run/device_memory.hpp"

#include <algorithm>
#include <cstdint>

#include "base/fail.hpp"

namespace convoke::executor {

Result<DeviceMemory> DeviceMemory::acquire(const convoke_device* device, const std::vector<std::size_t>& sizes,
                                           const std::vector<bool>& used) {
  DeviceMemory memory;
  memory.device_ = device;
  memory.handles_.reserve(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::size_t bytes = sizes[i];
    if (!used[i]) {
      memory.handles_.push_back(nullptr);
      continue;
    }
    // An empty tensor still needs a handle that is one.
    void* const handle = device->allocate(device->context, std::max<std::uint64_t>(1, bytes));
    if (handle == nullptr)
      return fail(ErrorCode::out_of_memory, "device", {named("device", device->name), named("bytes", bytes)},
                  "{} has no room for {} bytes", device->name, bytes);
    memory.handles_.push_back(handle);
  }
  return memory;
}

DeviceMemory::~DeviceMemory() {
  for (void* const handle : handles_)
    if (handle != nullptr) device_->release(device_->context, handle);
}

}  // namespace convoke::executor

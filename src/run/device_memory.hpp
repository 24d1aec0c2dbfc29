// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "convoke/error.hpp"
#include "kernels/common/kernel.h"

namespace convoke::executor {

/// Device memory, given back at the end.
class DeviceMemory {
 public:
  /// One allocation for each size whose flag in `used` is set. Errors: out_of_memory.
  static Result<DeviceMemory> acquire(const convoke_device* device, const std::vector<std::size_t>& sizes,
                                      const std::vector<bool>& used);

  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept : device_(other.device_), handles_(std::exchange(other.handles_, {})) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(device_, other.device_);
    handles_.swap(other.handles_);
    return *this;
  }
  ~DeviceMemory();

  void* at(std::size_t index) const noexcept { return handles_[index]; }

 private:
  const convoke_device* device_ = nullptr;
  std::vector<void*> handles_;
};

}  // namespace convoke::executor

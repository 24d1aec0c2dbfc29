// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "convoke/error.hpp"
#include "kernels/common/kernel.h"

namespace convoke::executor {

/// The device memory of one run, given back when it ends.
class DeviceMemory {
 public:
  /// One allocation for each size; none where `device` is null. Errors: out_of_memory.
  static Result<DeviceMemory> acquire(const convoke_device* device, const std::vector<std::size_t>& sizes);

  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept : device_(other.device_), handles_(std::exchange(other.handles_, {})) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory();

  void* at(std::size_t index) const noexcept { return handles_[index]; }

 private:
  const convoke_device* device_ = nullptr;
  std::vector<void*> handles_;
};

}  // namespace convoke::executor

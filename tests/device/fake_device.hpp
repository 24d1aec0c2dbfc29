// SPDX-License-Identifier: Apache-2.0 OR MIT
// A device without hardware. Its memory is reached through handles that are no addresses, so that whoever takes one for
// a host pointer ends the program; between guard bytes, so that whoever writes beside an allocation is found; and it
// keeps count. Its kernels check every clause of their contracts and leave the arithmetic to the portable ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bind/binding_table.hpp"
#include "kernels/common/kernel.h"

namespace convoke::fake {

/// Of every allocation, exactly.
inline constexpr std::uint32_t device_alignment = 256;

/// There is one: a kernel is handed handles, and nothing that says whose.
class FakeDevice {
 public:
  static FakeDevice& get();

  const convoke_device* face() const noexcept { return &face_; }

  /// The host memory behind a handle that is live and holds at least `bytes`; anything else is a fault, and null.
  std::byte* memory(const void* handle, std::uint64_t bytes);
  /// Whether it looks like a handle of this device, live or not.
  static bool is_handle(const void* data) noexcept;

  /// Remembers what went wrong.
  void fault(std::string what);
  /// What went wrong since this was asked last: guard bytes written over, handles that are not live, broken clauses.
  std::vector<std::string> take_faults();

  std::size_t live() const;         ///< allocations that nobody gave back
  std::size_t allocations() const;  ///< ever made
  /// How many bytes one allocation may have.
  void set_capacity(std::uint64_t bytes);

 private:
  struct Allocation;
  FakeDevice();
  void* allocate(std::uint64_t bytes);
  void release(void* handle);

  convoke_device face_{};
  mutable std::mutex mutex_;  // of the rest
  std::map<std::uintptr_t, std::unique_ptr<Allocation>> live_;
  std::size_t made_ = 0;
  std::uint64_t capacity_ = UINT64_MAX;
  std::vector<std::string> faults_;
};

/// The kernels of the Vulkan seed document and transfers for all dtypes, under the seed's registry.
bind::Provider seed_provider();

/// The contracts of the transfers.
Document transfers();

/// The built-in catalog, the seed document of the Vulkan convolutions and the transfers.
const Catalog& seed_catalog();

}  // namespace convoke::fake

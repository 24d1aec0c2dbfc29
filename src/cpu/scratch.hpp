// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <utility>

namespace convoke::cpu {

/// Scratch on loan from the calling thread, which keeps one block between calls and frees it when it ends. A run that
/// starts inside another on the same thread, as a work-stealing pool may do, gets a block of its own. Blocks beyond
/// `max_kept_bytes` are freed at once.
class Scratch {
 public:
  static constexpr std::size_t max_kept_bytes = std::size_t{256} << 20;

  /// At least `bytes` bytes, aligned to a page, contents undefined; empty where memory ran out.
  static Scratch acquire(std::size_t bytes) noexcept;

  Scratch() = default;
  Scratch(Scratch&&) noexcept = default;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();  // gives the block back; on the thread that acquired it

  void* data() const noexcept { return memory_.get(); }
  std::size_t size() const noexcept { return memory_ ? bytes_ : 0; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  struct Block {
    std::unique_ptr<void, Free> memory;
    std::size_t bytes = 0;
  };
  static Block& kept() noexcept;

  Scratch(std::unique_ptr<void, Free> memory, std::size_t bytes) noexcept : memory_(std::move(memory)), bytes_(bytes) {}

  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace convoke::cpu

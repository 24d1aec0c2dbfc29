// SPDX-License-Identifier: Apache-2.0 OR MIT
// Memory for operands: aligned exactly as asked, filled with a pattern that is NaN in every dtype, and, where asked,
// between pages that nobody may touch, so that an access outside it ends the program at the faulty instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "convoke/error.hpp"

namespace convoke::problem {

/// The pattern of untouched memory, repeated from the data pointer on: a NaN in f32, f64, bf16 and f16, which no
/// arithmetic produces and no generator puts into data.
inline constexpr std::uint16_t poison_word = 0x7ff4;

/// Which end of the memory touches a page without access. The other end has such a page too, up to a page away.
enum class Guard { none, front, end };

/// Fills memory with the pattern.
void poison(std::span<std::byte> memory) noexcept;

/// Owned memory, fresh from the system. Move-only.
class Buffer {
 public:
  /// `bytes` of memory whose address is a multiple of `align` (a power of two up to 4096) and not of 2 * align. Between
  /// it and the guard lie at most 2 * align - 1 bytes of slack, poisoned too.
  /// Errors: invalid_argument (`align`), out_of_memory.
  [[nodiscard]] static Result<Buffer> make(std::size_t bytes, std::size_t align, Guard guard);

  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::span<std::byte> bytes() noexcept { return {data_, size_}; }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

  /// Whether the slack around the memory is as it was made.
  [[nodiscard]] bool slack_intact() const noexcept;

 private:
  std::span<std::byte> slack_before() const noexcept { return {pages_, data_}; }
  std::span<std::byte> slack_after() const noexcept { return {data_ + size_, pages_ + pages_bytes_}; }

  void* map_ = nullptr;  // the whole mapping, guards included
  std::size_t map_bytes_ = 0;
  std::byte* pages_ = nullptr;  // the accessible part
  std::size_t pages_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace convoke::problem

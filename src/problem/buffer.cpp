// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/buffer.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "base/fail.hpp"
#include "base/sanitizer.hpp"

// It sees accesses in the slack, which no page guards.
#ifdef CONVOKE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace convoke::problem {
namespace {

constexpr std::size_t largest_align = 4096;

void forbid([[maybe_unused]] std::span<const std::byte> memory) noexcept {
#ifdef CONVOKE_ADDRESS_SANITIZER
  __asan_poison_memory_region(memory.data(), memory.size());
#endif
}

void allow([[maybe_unused]] std::span<const std::byte> memory) noexcept {
#ifdef CONVOKE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory.data(), memory.size());
#endif
}

std::byte poison_byte(std::size_t position) noexcept {
  return static_cast<std::byte>(position % 2 == 0 ? poison_word & 0xff : poison_word >> 8);
}

// Whether it begins as poison does, and then repeats with poison's period.
bool is_poison(std::span<const std::byte> memory) noexcept {
  for (std::size_t i = 0; i < std::min(memory.size(), sizeof poison_word); ++i)
    if (memory[i] != poison_byte(i)) return false;
  return memory.size() <= sizeof poison_word ||
         std::memcmp(memory.data() + sizeof poison_word, memory.data(), memory.size() - sizeof poison_word) == 0;
}

// Start of the content among the pages: congruent to `align` modulo 2 * align, as close to the guard as that admits.
std::size_t place(std::uintptr_t pages, std::size_t pages_bytes, std::size_t bytes, std::size_t align, Guard guard) {
  const std::uintptr_t period = 2 * align;
  if (guard == Guard::end) {
    const std::uintptr_t latest = pages + pages_bytes - bytes;
    return latest - (latest + align) % period - pages;
  }
  return (align + period - pages % period) % period;
}

}  // namespace

// By copies of what is filled already: scratch is megabytes, and a sanitizer looks at each store of a loop.
void poison(std::span<std::byte> memory) noexcept {
  std::size_t filled = std::min(memory.size(), sizeof poison_word);
  for (std::size_t i = 0; i < filled; ++i) memory[i] = poison_byte(i);
  while (filled < memory.size()) {
    const std::size_t more = std::min(filled, memory.size() - filled);
    std::memcpy(memory.data() + filled, memory.data(), more);
    filled += more;
  }
}

Result<Buffer> Buffer::make(std::size_t bytes, std::size_t align, Guard guard) {
  if (!std::has_single_bit(align) || align > largest_align)
    return fail(ErrorCode::invalid_argument, "align", {named("align", align)},
                "align must be a power of two from 1 to {}, got {}", largest_align, align);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto refuse = [bytes] {
    return fail(ErrorCode::out_of_memory, "buffer", {named("bytes", bytes)}, "a buffer of {} bytes cannot be had",
                bytes);
  };
  if (bytes > std::numeric_limits<std::size_t>::max() / 4) return refuse();

  Buffer buffer;
  const std::size_t guards = guard == Guard::none ? 0 : page;
  buffer.pages_bytes_ = (bytes + 2 * align + page - 1) / page * page;
  buffer.map_bytes_ = buffer.pages_bytes_ + 2 * guards;
  void* const map = mmap(nullptr, buffer.map_bytes_, guard == Guard::none ? PROT_READ | PROT_WRITE : PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return refuse();
  buffer.map_ = map;
  buffer.pages_ = static_cast<std::byte*>(map) + guards;
  if (guards != 0 && mprotect(buffer.pages_, buffer.pages_bytes_, PROT_READ | PROT_WRITE) != 0) return refuse();
  buffer.data_ =
      buffer.pages_ + place(reinterpret_cast<std::uintptr_t>(buffer.pages_), buffer.pages_bytes_, bytes, align, guard);
  buffer.size_ = bytes;
  for (const auto part : {buffer.slack_before(), buffer.bytes(), buffer.slack_after()}) poison(part);
  forbid(buffer.slack_before());
  forbid(buffer.slack_after());
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(map_, other.map_);
  std::swap(map_bytes_, other.map_bytes_);
  std::swap(pages_, other.pages_);
  std::swap(pages_bytes_, other.pages_bytes_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Buffer::~Buffer() {
  if (map_ == nullptr) return;
  allow({pages_, pages_bytes_});
  munmap(map_, map_bytes_);
}

bool Buffer::slack_intact() const noexcept {
  const std::span<const std::byte> before = slack_before();
  const std::span<const std::byte> after = slack_after();
  allow(before);
  allow(after);
  const bool intact = is_poison(before) && is_poison(after);
  forbid(before);
  forbid(after);
  return intact;
}

}  // namespace convoke::problem

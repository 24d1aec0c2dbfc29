// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cpu/scratch.hpp"

#include <cstdint>
#include <utility>

namespace convoke::cpu {
namespace {

constexpr std::size_t page = 4096;

}  // namespace

Scratch::Block& Scratch::kept() noexcept {
  thread_local Block block;
  return block;
}

Scratch Scratch::acquire(std::size_t bytes) noexcept {
  Block block = std::exchange(kept(), Block{});
  if (block.bytes >= bytes) return {std::move(block.memory), block.bytes};
  if (bytes > SIZE_MAX - page) return {};
  const std::size_t rounded = (bytes + page - 1) / page * page;
  block.memory.reset();  // before allocating, so that the two never exist together
  block.memory.reset(std::aligned_alloc(page, rounded));
  return {std::move(block.memory), rounded};
}

Scratch::~Scratch() {
  if (size() > kept().bytes && size() <= max_kept_bytes) kept() = Block{std::move(memory_), bytes_};
}

}  // namespace convoke::cpu

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cpu/scratch.hpp"

#include <cstdlib>
#include <memory>

namespace convoke::cpu {
namespace {

constexpr std::size_t page = 4096;

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

struct Scratch {
  std::unique_ptr<void, Free> memory;
  std::size_t bytes = 0;
};

}  // namespace

void* thread_scratch(std::size_t bytes) noexcept {
  thread_local Scratch scratch;
  if (bytes <= scratch.bytes) return scratch.memory.get();
  if (bytes > SIZE_MAX - page) return nullptr;
  const std::size_t rounded = (bytes + page - 1) / page * page;
  scratch.memory.reset();  // before allocating, so that the two never exist together
  scratch.memory.reset(std::aligned_alloc(page, rounded));
  scratch.bytes = scratch.memory ? rounded : 0;
  return scratch.memory.get();
}

}  // namespace convoke::cpu

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Memory that ends, or begins, at a page nobody may touch: a kernel that reads or writes one byte too far dies there.
// Stands on the system alone, for the digest program is built for other machines by itself.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/kernels/simd_kernel.hpp"

namespace convoke::kernel_tests {

enum class Side { front, end };

/// Filled with a pattern that is NaN as a number and -1 as an index. Aligned to nothing but what `bytes` leaves.
class Guarded {
 public:
  Guarded(std::size_t bytes, Side side) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t usable = (bytes + page - 1) / page * page;
    map_bytes_ = usable + 2 * page;
    map_ = mmap(nullptr, map_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map_ == MAP_FAILED) std::abort();
    auto* const first = static_cast<unsigned char*>(map_) + page;
    if (usable > 0 && mprotect(first, usable, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = side == Side::end ? first + usable - bytes : first;
    poison();
  }
  void poison() const { std::memset(data_, 0xff, bytes_); }
  ~Guarded() { munmap(map_, map_bytes_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  unsigned char* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_, map_bytes_ = 0;
  void* map_ = nullptr;
  unsigned char* data_ = nullptr;
};

/// The memory between the first and the last element of an operand, moved to where a guard touches it.
class GuardedOperand {
 public:
  GuardedOperand(convoke_operand& operand, std::size_t element_bytes, Side side)
      : GuardedOperand(operand, element_bytes, side, lowest(operand)) {}

  /// What lies there now goes back to where it came from.
  void put_back() const { std::memcpy(from_, memory_.data(), memory_.bytes()); }

 private:
  GuardedOperand(convoke_operand& operand, std::size_t element_bytes, Side side, std::int64_t low)
      : memory_(static_cast<std::size_t>(elements(operand)) * element_bytes, side),
        from_(static_cast<unsigned char*>(operand.data) + low * static_cast<std::int64_t>(element_bytes)) {
    std::memcpy(memory_.data(), from_, memory_.bytes());
    operand.data = memory_.data() - low * static_cast<std::int64_t>(element_bytes);
  }

  // Elements from the lowest to the highest, both counted; none of an empty operand.
  static std::int64_t elements(const convoke_operand& operand) {
    // First of all: the strides of an empty operand mean nothing.
    for (int axis = 0; axis < operand.rank; ++axis) {
      if (operand.shape[axis] == 0) return 0;
    }
    std::int64_t span = 1;
    for (int axis = 0; axis < operand.rank; ++axis) {
      if (operand.shape[axis] > 1) span += (operand.shape[axis] - 1) * std::abs(operand.stride[axis]);
    }
    return span;
  }
  static std::int64_t lowest(const convoke_operand& operand) {
    std::int64_t low = operand.offset;
    if (elements(operand) == 0) return low;
    for (int axis = 0; axis < operand.rank; ++axis) {
      if (operand.shape[axis] > 1) low += (operand.shape[axis] - 1) * std::min<std::int64_t>(operand.stride[axis], 0);
    }
    return low;
  }

  Guarded memory_;
  unsigned char* from_;
};

/// Packs and convolves with a guard at one side of every operand, of the packed weights and of the scratch (which only
/// has one behind it, since it begins at a multiple of 64). The output comes back into `operands`.
inline std::int32_t run_guarded(const SimdKernel& kernel, const Problem& p, const Operands& operands, Side side) {
  CallOperands call(operands);
  const auto element = static_cast<std::size_t>(operands.x.format().bytes);
  const GuardedOperand x(call.x, element, side), weight(call.weight, element, side), bias(call.bias, element, side),
      out(call.out, element, side);
  // A multiple of 64, as a plan's is: then both ends of the memory are aligned.
  const Guarded packed((kernel.packed_bytes(p) + 63) / 64 * 64, side);
  static const Guarded scratch(scratch_per_thread, Side::end);  // fresh pages cost more than a small convolution
  scratch.poison();
  std::int32_t status = pack(kernel, call, packed.data(), packed.bytes());
  if (status == CONVOKE_OK) {
    status = convolve(kernel, call, packed.data(), packed.bytes(), scratch.data(), scratch.bytes());
  }
  out.put_back();
  return status;
}

}  // namespace convoke::kernel_tests

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Runs one host kernel: fills in the calling convention, sets the threads.
#pragma once

#include <cstddef>
#include <span>

#include "convoke/plan.hpp"
#include "convoke/tensor.hpp"
#include "kernels/common/kernel.h"

namespace convoke::cpu {

/// An operand for the calling convention. The kernel only reads inputs.
convoke_operand to_operand(const TensorSpec& spec, void* data, std::size_t bytes) noexcept;

/// Threads that OpenMP would use here.
int default_threads() noexcept;

/// How many threads to start for a request of `threads` (0: as many as OpenMP would): never more than four for each
/// processor, since OpenMP ends the process where the system has no more to give.
int usable_threads(int threads) noexcept;

struct Call {
  convoke_host_kernel function = nullptr;
  std::span<const convoke_operand> inputs, outputs;  // at most 6 each
  const void* params = nullptr;
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  int threads = 1;
  const ParallelFor* parallel_for = nullptr;  // null or empty: OpenMP
};

/// A status beside convoke_status: the caller's parallel_for threw, or did not cover every range once.
inline constexpr int pool_failure = -1;

/// The kernel's status, or pool_failure.
int run(const Call& call);

}  // namespace convoke::cpu

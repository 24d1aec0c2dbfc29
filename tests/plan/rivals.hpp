// SPDX-License-Identifier: Apache-2.0 OR MIT
// Kernels that compute as the portable ones do and differ in what they take and cost: one that walks gaps, one of dense
// operands, one that wants its weight packed, and the copies they need. They note that they were called.
#pragma once

#include <string>
#include <vector>

#include "convoke/catalog.hpp"
#include "convoke/plan.hpp"
#include "convoke/rates.hpp"
#include "kernels/common/kernel.h"
#include "problem/workload.hpp"

namespace convoke::rivals {

/// The kernels that were called since this was asked last, in order: `strided`, `dense`, `packed`, `pack`, `copy`.
std::vector<std::string> take_calls();
/// What the Pack kernel was told last.
convoke_conv_params packed_for();
/// The threads that the kernel that was called last was given.
int threads_given();

inline constexpr const char* dense_only =
    "{ contiguous: required, strided: rejected, broadcast_stride0: rejected, start_offset: rejected, "
    "reverse_strides: rejected, awkward_layout_strategy: requires_contiguous }";
inline constexpr const char* any_layout =
    "{ contiguous: accepted, strided: accepted, broadcast_stride0: accepted, start_offset: accepted, "
    "reverse_strides: accepted, awkward_layout_strategy: handles_strided }";

/// The section of a conv2d_f32 kernel. `cost`: without bytes_moved, nothing is moved. `more`: lines of the block.
std::string convolution(const char* name, const char* layout, const std::string& cost, const std::string& more = "");
/// The section of a kernel that takes one operand.
std::string copying(const char* name, const char* op, const char* layout, const std::string& cost,
                    const std::string& more = "");
std::string pack_kernel(const std::string& cost);
/// `convolution("packed", dense_only, cost, more)` with what it says of its packing and its scratch.
std::string packing_convolution(const std::string& cost, const std::string& more = "");

/// The built-in kernels and these.
Catalog catalog_of(const std::string& sections);

/// A machine that does 1 flop a nanosecond, copies 1 byte in 10 and starts in none; only rivals convolve on it.
struct Contest {
  explicit Contest(const std::string& sections);
  Catalog catalog;
  Rates rates;
  PlanOptions options() const;
};

problem::Workload workload_of(const std::string& line);

}  // namespace convoke::rivals

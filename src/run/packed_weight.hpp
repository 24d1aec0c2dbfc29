// SPDX-License-Identifier: Apache-2.0 OR MIT
// A weight in the form that a kernel takes, and whether it fits a plan.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/geometry.hpp"
#include "convoke/error.hpp"
#include "convoke/packed_weight.hpp"
#include "convoke/plan.hpp"
#include "kernels/common/kernel.h"
#include "plan/plan_impl.hpp"
#include "run/device_memory.hpp"

namespace convoke {

/// What a PackedWeight holds, and all that its form may depend on.
struct PackedWeight::Impl {
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };

  std::shared_ptr<const bind::BindingTable> table;  ///< keeps what the device belongs to
  Op op = Op::conv2d;
  convoke_conv_params params{};
  TensorSpec weight;                       ///< that it was made of
  TensorSpec form;                         ///< as the kernel takes it; its alignment is that of the memory
  const bind::Binding* packer = nullptr;   ///< the Pack kernel, of `table`; null: none, the form says it all
  const convoke_device* device = nullptr;  ///< where it lies; null: in host memory
  std::vector<std::string> kernels, digests;
  std::unique_ptr<void, Free> host;
  executor::DeviceMemory on_device;
  std::size_t bytes = 0;

  convoke_operand operand() const noexcept;
};

namespace executor {

/// Plan::pack().
Result<PackedWeight> pack(const Plan::Impl& plan, const ConstTensor& weight, const RunOptions& options);

/// Whether the plan's kernel would be handed just this, had the plan packed it itself. Errors: invalid_argument, rule
/// `packed_weight`; the text and the values name what differs.
Result<void> check_fit(const PackedWeight::Impl& packed, const Plan::Impl& plan);

}  // namespace executor
}  // namespace convoke

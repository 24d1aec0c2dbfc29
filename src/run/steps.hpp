// SPDX-License-Identifier: Apache-2.0 OR MIT
// Runs the steps of a plan, or those of them that are asked for.
#pragma once

#include "convoke/error.hpp"
#include "convoke/plan.hpp"
#include "kernels/common/kernel.h"
#include "plan/plan_impl.hpp"
#include "run/check_operands.hpp"

namespace convoke::executor {

enum class Part {
  whole,   ///< every step
  weight,  ///< those that work on the weight alone
  rest,    ///< the others
};

/// Runs these steps in scratch and device memory that last as long as the call. `packed`: where the weight lies as the
/// convolution takes it, for the parts that stop and start there. The operands were checked.
/// Errors: invalid_argument (threads, scratch, parallel_for), out_of_memory, kernel_failure.
Result<void> run_steps(const Plan::Impl& plan, Part part, const Operands& operands, const convoke_operand* packed,
                       const RunOptions& options);

}  // namespace convoke::executor

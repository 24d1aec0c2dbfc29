// SPDX-License-Identifier: Apache-2.0 OR MIT
// Whether the tensors of a run are those of its plan.
#pragma once

#include <optional>

#include "convoke/error.hpp"
#include "convoke/plan.hpp"
#include "convoke/tensor.hpp"
#include "plan/request.hpp"

namespace convoke::executor {

struct Operands {
  ConstTensor x, weight;
  std::optional<ConstTensor> bias;
  Tensor out;
};

/// The same predicate as when planning: what the plan was promised must be true of the tensor.
Result<void> check_tensor(const ConstTensor& tensor, const TensorSpec& planned, const char* role);

/// All operands, and that `out` meets none of them. `packed`: there is no weight among them.
Result<void> check_operands(const Operands& operands, const planner::Request& request, bool packed);

/// Steps write the scratch while operands are still to be read. Operands that are not there share nothing.
Result<void> check_scratch(const Operands& operands, const RunOptions& options);

}  // namespace convoke::executor

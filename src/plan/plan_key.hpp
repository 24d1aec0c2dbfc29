// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/geometry.hpp"
#include "convoke/plan.hpp"
#include "convoke/tensor.hpp"

namespace convoke::planner {

/// The arguments of plan(), as they were given.
struct Arguments {
  Op op = Op::conv2d;
  const TensorSpec& x;
  const TensorSpec& weight;
  const std::optional<TensorSpec>& bias;
  const TensorSpec& out;
  const ConvParams& params;
  const PlanOptions& options;
};

/// Appends what a plan depends on, beside the catalog: equal words mean equal plans.
void append_key(const Arguments& arguments, std::vector<std::uint64_t>& key);

}  // namespace convoke::planner

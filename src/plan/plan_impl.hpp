// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string>
#include <vector>

#include "convoke/plan.hpp"
#include "kernels/common/kernel.h"
#include "plan/request.hpp"
#include "plan/route.hpp"

namespace convoke {

/// What a Plan holds. The catalog keeps the bindings that the route points to alive.
struct Plan::Impl {
  Catalog catalog;
  planner::Request request;
  planner::Route route;
  convoke_conv_params params;
  std::string kernel;
  std::string reason;
  std::vector<Refusal> refusals;
  Dims output_shape;
};

}  // namespace convoke

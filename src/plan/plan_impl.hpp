// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/geometry.hpp"
#include "convoke/plan.hpp"
#include "kernels/common/kernel.h"
#include "plan/request.hpp"
#include "plan/route.hpp"

namespace convoke {

/// What a Plan holds. The table keeps the bindings that the route points to alive.
struct Plan::Impl {
  std::shared_ptr<const bind::BindingTable> table;
  planner::Request request;
  planner::Variant variant;
  planner::Route route;
  Demand demand;
  convoke_conv_params params;
  std::string kernel;
  std::string reason;
  std::vector<Refusal> refusals;
  Dims output_shape;
};

namespace planner {

/// A plan of this route. `reason` and `refusals`: as Plan hands them out.
Plan make_plan(std::shared_ptr<const bind::BindingTable> table, Request request, const Variant& variant, Route route,
               Demand demand, std::string reason, std::vector<Refusal> refusals);

}  // namespace planner
}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "convoke/error.hpp"
#include "convoke/plan.hpp"
#include "plan/plan_key.hpp"

namespace convoke::planner {

/// Every admitted route of one request as a plan, in the order of candidates(): what is run to see whether prices order
/// routes as the clock does. The reason of each is its route by name.
struct Alternatives {
  std::vector<Plan> plans;
  std::optional<std::size_t> chosen;  ///< the one that plan() takes; absent: none is admitted
};

/// Never cached. Errors: those of plan() but no_kernel.
Result<Alternatives> alternatives(const Arguments& arguments);

}  // namespace convoke::planner

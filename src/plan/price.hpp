// SPDX-License-Identifier: Apache-2.0 OR MIT
// What a step costs: the work its contract counts, bound to real shapes, and the time that makes on a machine.
#pragma once

#include <string_view>
#include <vector>

#include "bind/binding_table.hpp"
#include "convoke/rates.hpp"
#include "plan/request.hpp"

namespace convoke::planner {

/// Work and memory. `filled`: a default of the operator stands in for an expression that is missing or has no value.
struct Work {
  double flops = 0, bytes = 0, overhead_ns = 0;
  double device_bytes = 0, host_bytes = 0, disk_bytes = 0;
  bool filled = false;
};

struct Price {
  Work work;
  std::string_view cost_class;  ///< of the contract, or of the fast path that applies; lives as long as the binding
  double ns = 0;
};

/// The price of one call of `binding`. `operands`: as the kernel sees them, inputs first. `threads`: at least 1.
/// overhead_ns is the contract's where it states one, else the rate's.
Price price_of(const bind::Binding& binding, const Request& request, const std::vector<TensorSpec>& operands,
               const Rates& rates, int threads);

}  // namespace convoke::planner

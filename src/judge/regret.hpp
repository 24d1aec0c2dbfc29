// SPDX-License-Identifier: Apache-2.0 OR MIT
// What following the prices costs: every admitted route of one convolution, checked and timed, beside the chosen one.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convoke/plan.hpp"
#include "judge/check.hpp"
#include "judge/stopwatch.hpp"
#include "problem/workload.hpp"

namespace convoke::judge {

struct MeasuredRoute {
  std::string route;   ///< its steps by name
  std::string family;  ///< backend and kernel_source of the kernel that convolves: `cpu/portable`
  std::string kernel;  ///< the same with its name: `cpu/portable/conv2d`
  double price_ns = 0, measured_ns = 0;
};

/// All admitted routes of one convolution, or why one of them is wrong.
struct MeasuredRoutes {
  std::vector<MeasuredRoute> routes;
  std::size_t chosen = 0;  ///< the one that plan() takes
  std::string wrong;       ///< empty: every route is right

  /// The fastest one.
  std::size_t best() const noexcept;
  /// How much longer the chosen route takes than the fastest: 0.1 is 10 % longer.
  double regret() const noexcept;
};

struct RegretOptions {
  PlanOptions plan;    ///< with packed_weight, routes are checked and timed without what they do to the weight
  CheckOptions check;  ///< the run options are those of the timed runs too, but for the scratch
  Pace pace;
};

/// Checks every route and then times them in turn. Errors: those of plan(), no_kernel where no route is admitted.
Result<MeasuredRoutes> measure_routes(problem::Workload& workload, const RegretOptions& options);

/// How often the prices of two routes stand in the order of their times.
struct OrderCount {
  std::size_t agree = 0;  ///< pairs whose prices and times are in one order
  std::size_t told = 0;   ///< pairs whose times can be told apart
  std::size_t close = 0;  ///< pairs whose times cannot
};

/// Two times can be told apart where they differ by more than `margin` of the shorter one. Equal prices agree with
/// neither order. Only pairs that `alike` is the same for are counted.
OrderCount order_of(const std::vector<MeasuredRoute>& routes, std::string MeasuredRoute::* alike, double margin);

}  // namespace convoke::judge

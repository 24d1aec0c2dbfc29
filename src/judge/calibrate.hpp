// SPDX-License-Identifier: Apache-2.0 OR MIT
// How fast this machine does the work that contracts count.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "convoke/catalog.hpp"
#include "convoke/error.hpp"
#include "convoke/rates.hpp"

namespace convoke::judge {

struct CalibrateOptions {
  int threads = 0;  ///< that the gain of threads is measured with; 0: as many as the machine has processors
  double box_ms =
      250;  ///< for the kernels of one operator and output, but never less than `rounds` counted runs of each probe
  int rounds = 5;
  /// Called before each step: what is measured, and how many steps of how many are done.
  std::function<void(std::string_view work, std::size_t done, std::size_t total)> progress;
};

/// The defaults, and over them a row for every kind of work (backend, kernel_source, operator and cost class, dtype)
/// of the built-in kernels that run here, each from the medians of runs in turn with one thread; and the gain of
/// threads. Takes half a minute. Errors: out_of_memory, kernel_failure.
Result<Rates> calibrate(const Catalog& catalog, const CalibrateOptions& options = {});

/// One measured run of a kernel: the work that was counted, and the time above the overhead.
struct Sample {
  double flops = 0, bytes = 0, ns = 0;  ///< ns above 0
  std::size_t row = 0;                  ///< which of the kernel's rates it tells of
};
/// The rates of one kernel that explain the samples best, by least squares of the relative errors: one speed of flops
/// for all, since it computes alike whatever its operands are and however they lie, and a speed of bytes for each. What
/// the samples do not tell, or hardly, stays near `known`, of which there is one for each row: a speed that moves away
/// from there counts as an error too, a hundredth as much, and none comes out more than 16 times as fast. Overheads are
/// those of `known`.
std::vector<Rate> fit_rates(const std::vector<Sample>& samples, const std::vector<Rate>& known);

}  // namespace convoke::judge

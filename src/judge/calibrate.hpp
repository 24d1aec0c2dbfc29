// SPDX-License-Identifier: Apache-2.0 OR MIT
// How fast this machine does the work that contracts count.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "convoke/catalog.hpp"
#include "convoke/error.hpp"
#include "convoke/rates.hpp"

namespace convoke::judge {

struct CalibrateOptions {
  int threads = 0;      ///< that the gain of threads is measured with; 0: as many as the machine has processors
  double box_ms = 250;  ///< for the kernels of one operator and output, but never less than `rounds` runs of each probe
  int rounds = 5;
  /// Called before each step: what is measured, and how many steps of how many are done.
  std::function<void(std::string_view work, std::size_t done, std::size_t total)> progress;
};

/// The defaults, and over them a row for every kind of work (backend, kernel_source, operator and cost class, dtype)
/// of the built-in kernels that run here, each from the medians of runs in turn with one thread; and the gain of
/// threads. Takes a few seconds. Errors: out_of_memory, kernel_failure.
Result<Rates> calibrate(const Catalog& catalog, const CalibrateOptions& options = {});

/// One measured run: the work that was counted, and the time above the overhead.
struct Sample {
  double flops = 0, bytes = 0, ns = 0;
};
/// The two speeds that explain the samples best: by least squares of the relative errors, or, where the samples can
/// tell but one, by the geometric mean. Work that none of them holds keeps the speed of `fallback`, and so does the
/// overhead.
Rate fit_rate(const std::vector<Sample>& samples, const Rate& fallback);

}  // namespace convoke::judge

// SPDX-License-Identifier: Apache-2.0 OR MIT
// One line of the comparison: one layer in one dtype on so many threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convoke/tensor.hpp"
#include "problem/problem.hpp"

namespace convoke::peers {

struct Row {
  std::string name;
  DType dtype = DType::f32;
  int threads = 1;
  bool transposed = false;
  bool dense = false;      ///< not grouped
  bool square3 = false;    ///< a dense conv2d of 3x3 taps
  std::string reproducer;  ///< the problem line
  std::string kernel;      ///< ImplId of ours
  double ours_us = 0;
  double gflops = 0;                        ///< of ours
  double fma_gflops = 0;                    ///< of the loop of multiply-adds that ran in turn with the others
  std::optional<double> plain_us, best_us;  ///< absent: oneDNN has nothing, or only what takes too long
  std::string plain_kernel, best_kernel;    ///< what oneDNN calls it; empty: it has nothing
  std::optional<double> f32_us;             ///< ours in f32, run in turn with the others; absent for f32 itself
  int attempts = 0;
  bool disturbed = false;  ///< the machine was slower than before in every attempt
  std::string wrong;       ///< why the row counts for nothing; empty: it is good

  /// Above 1: we are faster.
  std::optional<double> ratio_plain() const { return over_ours(plain_us); }
  std::optional<double> ratio_best() const { return over_ours(best_us); }
  /// Our rate over our own f32 rate.
  std::optional<double> ratio_f32() const { return over_ours(f32_us); }
  /// Our rate in percent of the loop's; a 16-bit type computes in f32, an f64 vector holds half as many lanes.
  double peak() const { return 100 * gflops / (fma_gflops * (dtype == DType::f64 ? 0.5 : 1)); }

 private:
  std::optional<double> over_ours(const std::optional<double>& us) const {
    return us ? std::optional(*us / ours_us) : std::nullopt;
  }
};

}  // namespace convoke::peers

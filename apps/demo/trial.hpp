// SPDX-License-Identifier: Apache-2.0 OR MIT
// One convolution, planned, timed and held to what its kernel's contract promises.
#pragma once

#include <cstdint>
#include <string>

#include "convoke/tensor.hpp"
#include "judge/check.hpp"
#include "problem/workload.hpp"

namespace convoke::demo {

struct Effort {
  int threads = 0;           ///< 0: as many as OpenMP would use
  double seconds = 0.2;      ///< time for repeated runs; one is always done
  std::int64_t outputs = 0;  ///< how many are compared with each oracle; 0: all
};

/// What became of one convolution.
struct Trial {
  std::string what;
  DType dtype = DType::f32;
  std::string kernel, why;
  double ms = 0, gflops = 0;  ///< of the fastest run
  judge::Check check;         ///< failed also where there was no plan or the run failed
};

Trial run_trial(const std::string& what, const problem::Workload& workload, const Effort& effort);

}  // namespace convoke::demo

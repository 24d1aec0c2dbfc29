// SPDX-License-Identifier: Apache-2.0 OR MIT
// What `convoke run` works on: a problem line with generated data, or tensors from .npy files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/convoke/execution.hpp"
#include "problem/npy.hpp"
#include "problem/workload.hpp"

namespace convoke::cli {

/// As the command line gives it; empty strings and negative numbers were not given.
struct RunWords {
  std::vector<std::string> words;  ///< of the problem line
  std::string x, weight, bias;     ///< .npy files
  std::string dtype, kernel;
  int threads = -1;
};

/// Operands, and the memory they lie in. Movable; the operands stay valid.
struct RunInput {
  problem::Problem problem;
  Operands operands;
  Geometry geometry;
  std::string reproducer;  ///< the command that does the same again

  std::optional<problem::Workload> workload;
  std::vector<problem::Array> arrays;
  problem::Buffer out;
};

/// Errors: those of the problem line, of the files, and of sizes that do not fit; each names the next step.
Result<RunInput> load_run_input(const RunWords& given);

/// `; reproduce with: convoke run ...` added to the message.
Error with_reproducer(Error error, const RunInput& input);

}  // namespace convoke::cli

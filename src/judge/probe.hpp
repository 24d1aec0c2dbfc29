// SPDX-License-Identifier: Apache-2.0 OR MIT
// Kernels on operands of their own, ready to be timed: what a calibration runs.
#pragma once

#include <string>
#include <vector>

#include "bind/binding_table.hpp"
#include "convoke/catalog.hpp"
#include "convoke/tensor.hpp"
#include "judge/stopwatch.hpp"
#include "plan/price.hpp"

namespace convoke::judge {

/// One kernel on one problem, called without anything around it.
struct Probe {
  std::string backend, kernel_source, work;  ///< as RateRow has them; `work` is operator and class
  std::string kernel;                        ///< name in the contract
  DType dtype = DType::f32;                  ///< of the output
  planner::Work counted;                     ///< what its contract counts
  bool tiny = false;                         ///< so little work that only the overhead shows
  Subject run;                               ///< with one thread; owns the operands
};

/// The probes that `binding` admits: with operands that are dense and with such that are in another order, bound by
/// what it computes, by what it moves, and by neither. A convolution's weight is packed before; a Pack kernel packs for
/// the first kernel whose contract names it. Errors: out_of_memory, kernel_failure.
Result<std::vector<Probe>> probes_of(const Catalog& catalog, const bind::Binding& binding);

/// A convolution that is bound by what it computes, on as many threads; what the gain of threads is measured with.
/// Errors: those of plan().
Result<Subject> threaded_probe(const Catalog& catalog, int threads);

}  // namespace convoke::judge

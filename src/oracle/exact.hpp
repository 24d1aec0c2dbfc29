// SPDX-License-Identifier: Apache-2.0 OR MIT
// The exact oracle: one output as the sum without rounding, and how far a given value may be and is from it.
#pragma once

#include <cstdint>
#include <optional>

#include "convoke/tensor.hpp"
#include "oracle/request.hpp"

namespace convoke::oracle {

/// What can be said about a result without following a particular order of the sum.
enum class Verifiable {
  by_bound,  ///< all operands finite and no order of the sum can overflow
  by_class,  ///< an operand is not finite or a sum may overflow: only finite, infinite or NaN can be compared
};

/// One output, judged.
struct ExactVerdict {
  Verifiable how = Verifiable::by_bound;
  bool within = true;  ///< the value is within the bound; true where how is by_class
  double error = 0;    ///< |value - exact|, an upper estimate; 0 where how is by_class
  double bound = 0;    ///< the bound, an upper estimate
  double error_over_bound = 0;
  std::uint64_t rounded = 0;  ///< exact rounded once to the dtype, if by_bound
};

/// The kernel whose result is judged. Defaults: the law's kernels.
struct BoundClaim {
  std::optional<DType> accumulator;   ///< absent: accumulator_of(dtype)
  std::optional<std::int64_t> terms;  ///< n of the bound; absent: present taps of that output, and the bias
};

/// The exact sum of one output rounded once to the request's dtype. A zero is -0 only where bias and all products are
/// -0, as in any order of the sum. Absent if an operand is not finite.
std::optional<std::uint64_t> exact_output(const Request& request, const At& at) noexcept;

/// Judges `bits`, a result in the request's dtype, against the bound.
ExactVerdict judge_output(const Request& request, const At& at, std::uint64_t bits,
                          const BoundClaim& claim = {}) noexcept;

}  // namespace convoke::oracle

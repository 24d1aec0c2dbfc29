// SPDX-License-Identifier: Apache-2.0 OR MIT
// The error bound of a sum of products, derived and never tuned:
//   |y - exact| <= B + u_out (|exact| + B) + eta_out,  B = gamma_n (|x| * |w| + |bias|) + n eta_acc,
// with u the unit roundoff, eta half the smallest subnormal, gamma_n = n u / (1 - n u) of the accumulator and n the
// number of terms, the bias counted. The two `out` terms stand only where the result is narrowed.
#pragma once

#include <cstdint>

#include "base/dtype.hpp"
#include "convoke/tensor.hpp"

namespace convoke::oracle {

/// What the bound depends on beside the values.
struct BoundTerms {
  DType accumulator = DType::f32;
  DType out = DType::f32;
  std::int64_t n = 1;
};

/// B, never below the true value. All magnitudes are given and returned times 2^scale, so that neither the largest nor
/// the smallest doubles get lost. Infinite where n u >= 1.
double sum_bound(const BoundTerms& terms, double absolute_sum, int scale) noexcept;
/// The whole right-hand side, never below the true value.
double output_bound(const BoundTerms& terms, double absolute_sum, double exact, int scale) noexcept;

}  // namespace convoke::oracle

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/bound.hpp"

#include <cmath>
#include <limits>

namespace convoke::oracle {
namespace {

// A handful of roundings of 2^-53 each, and terms that fell below the normal doubles: added, so that the bound as
// computed is never below the bound as defined. Values are scaled to about 1, where this changes nothing to see.
double upwards(double bound) noexcept { return bound * (1 + 0x1p-48) + 0x1p-1000; }

}  // namespace

double sum_bound(const BoundTerms& terms, double absolute_sum, int scale) noexcept {
  const Precision acc = precision_of(terms.accumulator);
  const double nu = std::ldexp(static_cast<double>(terms.n), acc.unit_exponent);
  if (nu >= 1) return std::numeric_limits<double>::infinity();
  const double underflows = std::ldexp(static_cast<double>(terms.n), acc.eta_exponent + scale);
  return upwards(nu / (1 - nu) * absolute_sum + underflows);
}

double output_bound(const BoundTerms& terms, double absolute_sum, double exact, int scale) noexcept {
  const double sum = sum_bound(terms, absolute_sum, scale);
  if (terms.out == terms.accumulator) return sum;
  const Precision out = precision_of(terms.out);
  return upwards(sum + std::ldexp(exact + sum, out.unit_exponent) + std::ldexp(1.0, out.eta_exponent + scale));
}

}  // namespace convoke::oracle

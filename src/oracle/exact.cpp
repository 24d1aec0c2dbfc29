// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/exact.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/dtype.hpp"
#include "oracle/bound.hpp"
#include "oracle/exact_sum.hpp"
#include "oracle/law.hpp"
#include "oracle/taps.hpp"

namespace convoke::oracle {
namespace {

/// The value of f32 bits as a double, by bits: a thread that flushes subnormals changes nothing.
double value_of_f32(std::uint32_t bits) noexcept {
  const std::uint64_t sign = std::uint64_t{bits >> 31} << 63;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint64_t moved = std::uint64_t{magnitude} << 29;  // field and fraction where a double has them
  if (magnitude >= 0x7f800000u) return std::bit_cast<double>(sign | 0x7ff0000000000000u | moved);
  if (magnitude >= 0x00800000u) return std::bit_cast<double>(sign | (moved + (std::uint64_t{1023 - 127} << 52)));
  if (magnitude == 0) return std::bit_cast<double>(sign);
  // A subnormal counts 2^-149 and is normal as a double: its leading bit becomes the hidden one.
  const int leading = 31 - std::countl_zero(magnitude);
  const auto field = static_cast<std::uint64_t>(1023 - 149 + leading);
  return std::bit_cast<double>(sign | (((field - 1) << 52) + (std::uint64_t{magnitude} << (52 - leading))));
}

double element(const ConstTensor& tensor, std::int64_t number) noexcept {
  const std::uint64_t bits = load_bits(address_of(tensor, number), tensor.spec.dtype);
  if (tensor.spec.dtype == DType::f64) return std::bit_cast<double>(bits);
  return value_of_f32(law_widen(tensor.spec.dtype, bits));
}

bool is_finite(double value) noexcept { return (std::bit_cast<std::uint64_t>(value) >> 52 & 0x7ff) != 0x7ff; }

/// Everything that one output's operands say without rounding.
struct Sums {
  ExactSum exact, absolute;
  std::int64_t terms = 0;          // present taps, and the bias
  bool finite = true;              // all operands are
  bool all_negative_zero = false;  // bias and every product are -0
};

Sums sums_of(const Request& request, const At& at) noexcept {
  Sums sums;
  const Taps taps = taps_of(request, at);
  sums.terms = taps.count() + (request.bias ? 1 : 0);
  if (request.bias) {
    const double bias = element(*request.bias, request.bias->spec.offset + at.co * request.bias->spec.strides[0]);
    sums.finite = is_finite(bias);
    sums.all_negative_zero = bias == 0 && std::signbit(bias);
    if (sums.finite) sums.exact.add(bias), sums.absolute.add(std::fabs(bias));
  }
  for_each_tap(taps, [&](std::int64_t x_number, std::int64_t weight_number) {
    const double x = element(request.x, x_number), weight = element(request.weight, weight_number);
    if (!is_finite(x) || !is_finite(weight)) {
      sums.finite = false;
      return;
    }
    sums.all_negative_zero &= (x == 0 || weight == 0) && std::signbit(x) != std::signbit(weight);
    sums.exact.add_product(x, weight);
    sums.absolute.add_product(std::fabs(x), std::fabs(weight));
  });
  return sums;
}

std::uint64_t rounded(Sums& sums, DType dtype) noexcept {
  if (sums.exact.sign() == 0 && sums.all_negative_zero) return std::uint64_t{1} << (8 * size_of(dtype) - 1);
  return sums.exact.round_to(dtype);
}

/// What rounds to infinity in `dtype`, times 2^-overflow_exponent.
double overflow_threshold(const Precision& precision) noexcept { return 1 - std::ldexp(0.5, precision.unit_exponent); }

/// Whether no order of the sum can leave the accumulator's range, nor the narrowing that of the result.
bool stays_finite(Sums& sums, const BoundTerms& terms) noexcept {
  const Precision acc = precision_of(terms.accumulator), out = precision_of(terms.out);
  const double slack = 1 - 0x1p-40;
  const double absolute = sums.absolute.magnitude(-acc.overflow_exponent);
  const double largest = absolute + sum_bound(terms, absolute, -acc.overflow_exponent);
  if (!(largest < overflow_threshold(acc) * slack)) return false;
  if (terms.out == terms.accumulator) return true;
  const double sum = sum_bound(terms, sums.absolute.magnitude(-out.overflow_exponent), -out.overflow_exponent);
  return sums.exact.magnitude(-out.overflow_exponent) + sum < overflow_threshold(out) * slack;
}

}  // namespace

std::optional<std::uint64_t> exact_output(const Request& request, const At& at) noexcept {
  Sums sums = sums_of(request, at);
  if (!sums.finite) return std::nullopt;
  return rounded(sums, request.dtype());
}

ExactVerdict judge_output(const Request& request, const At& at, std::uint64_t bits, const BoundClaim& claim) noexcept {
  const DType dtype = request.dtype();
  Sums sums = sums_of(request, at);
  const BoundTerms terms = {claim.accumulator.value_or(accumulator_of(dtype)), dtype, claim.terms.value_or(sums.terms)};
  ExactVerdict verdict;
  if (!sums.finite || !stays_finite(sums, terms)) {
    verdict.how = Verifiable::by_class;
    return verdict;
  }
  verdict.rounded = rounded(sums, dtype);
  const double value = dtype == DType::f64 ? std::bit_cast<double>(bits) : value_of_f32(law_widen(dtype, bits));
  // Everything is compared times 2^scale: about 1 for the largest number that the bound depends on.
  int unit = std::max(precision_of(terms.accumulator).eta_exponent, precision_of(terms.out).eta_exponent);
  if (sums.absolute.sign() != 0) unit = std::max(unit, sums.absolute.exponent());
  const int scale = -unit;
  const auto above = [scale](ExactSum& sum) { return sum.magnitude(scale) * (1 + 0x1p-51) + 0x1p-1000; };
  const double bound = output_bound(terms, above(sums.absolute), above(sums.exact), scale);
  double error = std::numeric_limits<double>::infinity();
  if (is_finite(value)) {
    sums.exact.add(-value);
    error = sums.exact.magnitude(scale);
  }
  verdict.within = error <= bound;
  verdict.error_over_bound = error / bound;
  verdict.error = std::ldexp(error, unit);
  verdict.bound = std::ldexp(bound, unit);
  return verdict;
}

}  // namespace convoke::oracle

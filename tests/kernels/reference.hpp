// SPDX-License-Identifier: Apache-2.0 OR MIT
// The law of the sum once more, as literally as it can be written: one output at a time, every tap asked whether it is
// there, std::fma, conversions by frexp and ldexp. Shares no code with the kernels.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/problem.hpp"

namespace convoke::kernel_tests {

/// Exact: every format fits in a double.
inline double decode(const Format& format, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & (format.sign() - 1);
  const double sign = (bits & format.sign()) != 0 ? -1.0 : 1.0;
  if (magnitude > format.infinity()) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude == format.infinity()) return sign * std::numeric_limits<double>::infinity();
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const int unit = 1 - static_cast<int>(format.bias()) - format.mantissa_bits;  // exponent of the smallest subnormal
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), unit);
  const std::uint64_t full = mantissa | (std::uint64_t{1} << format.mantissa_bits);
  return sign * std::ldexp(static_cast<double>(full), unit + exponent - 1);
}

/// `value` rounded once to nearest, ties to even.
inline std::uint64_t encode(const Format& format, double value) {
  const std::uint64_t sign = std::signbit(value) ? format.sign() : 0;
  if (std::isnan(value)) return format.quiet_nan();
  if (std::isinf(value)) return sign | format.infinity();
  if (value == 0) return sign;
  const int unit = 1 - static_cast<int>(format.bias()) - format.mantissa_bits;
  int exponent = 0;
  static_cast<void>(std::frexp(value, &exponent));  // |value| in [2^(exponent-1), 2^exponent)
  const int scale = std::max(exponent - 1 - format.mantissa_bits, unit);
  // In units of the last place the value is below 2^(mantissa_bits + 1), so rounding it to an integer is exact work.
  const auto steps = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(std::fabs(value), -scale)));
  // A mantissa that rounds up to the next power of two carries into the exponent by itself.
  const std::uint64_t biased = static_cast<std::uint64_t>(scale - unit) << format.mantissa_bits;
  const std::uint64_t magnitude = biased + steps;
  return sign | std::min(magnitude, format.infinity());
}

/// Sum is float for f32, bf16 and f16, double for f64.
template <class Sum>
class Reference {
 public:
  Reference(const Problem& problem, const Operands& operands) : p_(problem), o_(operands) {}

  std::uint64_t output(std::int64_t n, std::int64_t co, std::int64_t oh, std::int64_t ow) const {
    Sum sum = 0;
    if (p_.bias) sum = value(o_.bias, o_.bias.element_index(co));
    const std::int64_t Cin_group = p_.Cin / p_.groups, Cout_group = p_.Cout / p_.groups, group = co / Cout_group;
    for (std::int64_t i = 0; i < Cin_group; ++i) {
      const std::int64_t ci = group * Cin_group + i;
      sum =
          p_.transposed ? transposed_channel(sum, n, ci, co % Cout_group, oh, ow) : channel(sum, n, ci, i, co, oh, ow);
    }
    return encode(o_.out.format(), static_cast<double>(sum));
  }

 private:
  static Sum value(const Tensor& tensor, std::int64_t element) {
    return static_cast<Sum>(decode(tensor.format(), tensor.bits_at(element)));
  }
  Sum tap(Sum sum, const std::array<std::int64_t, 4>& x, const std::array<std::int64_t, 4>& weight) const {
    return std::fma(value(o_.x, o_.x.element_index(x)), value(o_.weight, o_.weight.element_index(weight)), sum);
  }

  Sum channel(Sum sum, std::int64_t n, std::int64_t ci, std::int64_t i, std::int64_t co, std::int64_t oh,
              std::int64_t ow) const {
    for (std::int64_t kh = 0; kh < p_.Kh; ++kh) {
      for (std::int64_t kw = 0; kw < p_.Kw; ++kw) {
        const std::int64_t h = oh * p_.stride[0] + kh * p_.dilation[0] - p_.padding[0];
        const std::int64_t w = ow * p_.stride[1] + kw * p_.dilation[1] - p_.padding[1];
        if (h < 0 || h >= p_.H || w < 0 || w >= p_.W) continue;
        sum = tap(sum, {n, ci, h, w}, {co, i, kh, kw});
      }
    }
    return sum;
  }

  /// The tap that takes input `in` to output `out` along an axis, or -1.
  std::int64_t tap_between(std::size_t axis, std::int64_t in, std::int64_t out, std::int64_t kernel) const {
    const std::int64_t reach = out + p_.padding[axis] - in * p_.stride[axis];
    if (reach < 0 || reach % p_.dilation[axis] != 0 || reach / p_.dilation[axis] >= kernel) return -1;
    return reach / p_.dilation[axis];
  }

  Sum transposed_channel(Sum sum, std::int64_t n, std::int64_t ci, std::int64_t co_group, std::int64_t oh,
                         std::int64_t ow) const {
    for (std::int64_t hi = 0; hi < p_.H; ++hi) {
      const std::int64_t kh = tap_between(0, hi, oh, p_.Kh);
      for (std::int64_t wi = 0; wi < p_.W && kh >= 0; ++wi) {
        const std::int64_t kw = tap_between(1, wi, ow, p_.Kw);
        if (kw >= 0) sum = tap(sum, {n, ci, hi, wi}, {ci, co_group, kh, kw});
      }
    }
    return sum;
  }

  const Problem& p_;
  const Operands& o_;
};

/// Computes the whole output of a problem into `out`, a tensor of the output's shape.
inline void reference(const Problem& p, const Operands& operands, Tensor& out) {
  const std::int64_t Ho = p.out_size(0), Wo = p.out_size(1);
  const Reference<float> narrow(p, operands);
  const Reference<double> wide(p, operands);
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const std::int64_t n = i / (p.Cout * Ho * Wo), co = i / (Ho * Wo) % p.Cout, oh = i / Wo % Ho, ow = i % Wo;
    out.set(i, p.dtype == CONVOKE_F64 ? wide.output(n, co, oh, ow) : narrow.output(n, co, oh, ow));
  }
}

}  // namespace convoke::kernel_tests

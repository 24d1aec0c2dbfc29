// SPDX-License-Identifier: Apache-2.0 OR MIT
// Depth-first from the largest factor. What the smaller terms can add at most bounds each i from below, and their
// common divisor must divide what is left; strides that nest leave one or two choices a level. The last two terms are
// solved in closed form, so that long axes cost nothing.
#include "base/diophantine.hpp"

#include <algorithm>
#include <cstddef>

namespace convoke {
namespace {

Wide ceil_div(Wide a, Wide b) noexcept { return a / b + static_cast<Wide>(a % b > 0); }
Wide floor_div(Wide a, Wide b) noexcept { return a / b - static_cast<Wide>(a % b < 0); }

Wide gcd(Wide a, Wide b) noexcept {
  while (b != 0) {
    const Wide rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// x of [0, modulus) with a * x = 1 modulo `modulus`; a and modulus have no common divisor.
Wide inverse(Wide a, Wide modulus) noexcept {
  Wide r0 = modulus, r1 = a % modulus, t0 = 0, t1 = 1;
  while (r1 != 0) {
    const Wide q = r0 / r1;
    const Wide r2 = r0 - q * r1, t2 = t0 - q * t1;
    r0 = r1, r1 = r2, t0 = t1, t1 = t2;
  }
  return t0 < 0 ? t0 + modulus : t0 % modulus;
}

/// a * i + b * j = target with i, j in range.
bool pair_reaches(const LinearTerm& a, const LinearTerm& b, Wide target) noexcept {
  const Wide common = gcd(a.factor, b.factor);
  if (target % common != 0) return false;
  const Wide step = b.factor / common;  // i is known up to multiples of this
  // Both sides modulo b: i = target/common * (a/common)^-1. Reduced first, the product fits: step < 2^67 only where the
  // factors are strides in bytes of at most 2^66, and then target/common modulo step times an inverse may not fit.
  const Wide inverse_a = inverse(a.factor / common, step);
  Wide i = 0;
  Wide addend = target / common % step;
  for (Wide bits = inverse_a; bits != 0; bits >>= 1) {
    if ((bits & 1) != 0) i = (i + addend) % step;
    addend = (addend + addend) % step;
  }
  // i also has to leave for j something of [0, b.last * b.factor].
  const Wide low = std::max<Wide>(ceil_div(target - b.factor * b.last, a.factor), 0);
  const Wide high = std::min(floor_div(target, a.factor), a.last);
  const Wide first = i + ceil_div(low - i, step) * step;
  return first <= high;
}

class Search {
 public:
  explicit Search(const LinearTerms& terms) noexcept : count_(terms.count()) {
    for (int k = count_ - 1; k >= 0; --k) {
      const std::size_t at = static_cast<std::size_t>(k);
      terms_[at] = terms.by_falling_factor(k);
      largest_[at] = largest_[at + 1] + terms_[at].factor * terms_[at].last;
      divisor_[at] = gcd(terms_[at].factor, divisor_[at + 1]);
    }
  }

  /// Whether the terms from k on reach `target`.
  bool reaches(int k, Wide target) noexcept {
    const std::size_t at = static_cast<std::size_t>(k);
    if (target < 0 || target > largest_[at]) return false;
    if (target == 0) return true;
    if (target % divisor_[at] != 0) return false;
    if (k == count_ - 1) return true;  // a multiple of the only factor, and not too large
    if (k == count_ - 2) return pair_reaches(terms_[at], terms_[at + 1], target);
    const LinearTerm& term = terms_[at];
    const Wide least = std::max<Wide>(ceil_div(target - largest_[at + 1], term.factor), 0);
    for (Wide i = std::min(target / term.factor, term.last); i >= least; --i) {
      if (++work_ > work_limit) return true;
      if (reaches(k + 1, target - i * term.factor)) return true;
    }
    return false;
  }

 private:
  static constexpr int work_limit = 200'000;  // a few milliseconds

  int count_;
  int work_ = 0;
  std::array<LinearTerm, LinearTerms::max_terms> terms_{};
  std::array<Wide, LinearTerms::max_terms + 1> largest_{};  // of the terms from k on
  std::array<Wide, LinearTerms::max_terms + 1> divisor_{};
};

}  // namespace

bool LinearTerms::add(Wide factor, Wide last) noexcept {
  if (factor == 0 || last == 0) return false;
  const auto begin = terms_.begin(), end = begin + count_;
  const auto at = std::find_if(begin, end, [factor](const LinearTerm& term) { return term.factor <= factor; });
  if (at != end && at->factor == factor) {
    at->last += last;
    return true;
  }
  std::move_backward(at, end, end + 1);
  *at = {factor, last};
  ++count_;
  return false;
}

Wide LinearTerms::largest() const noexcept {
  Wide sum = 0;
  for (int k = 0; k < count_; ++k) sum += by_falling_factor(k).factor * by_falling_factor(k).last;
  return sum;
}

bool LinearTerms::reaches(Wide target) const noexcept {
  if (count_ == 0) return target == 0;
  return Search(*this).reaches(0, target);
}

}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Which numbers a sum of bounded multiples can reach: the question behind every overlap of strided tensors.
#pragma once

#include <array>
#include <cstdint>

namespace convoke {

/// Sums of products of int64 and a few bits more.
__extension__ using Wide = __int128;

/// factor * i for i of [0, last]; factor and last are positive.
struct LinearTerm {
  Wide factor = 0, last = 0;
};

/// Sum of factor[k] * i[k] with each i[k] of [0, last[k]]. Terms of one factor become one term, so that two tensors of
/// the same strides count once.
class LinearTerms {
 public:
  static constexpr int max_terms = 16;

  /// Adds a term; nothing where factor or last is 0. True if there was a term of this factor.
  bool add(Wide factor, Wide last) noexcept;
  int count() const noexcept { return count_; }
  LinearTerm by_falling_factor(int k) const noexcept { return terms_[static_cast<std::size_t>(k)]; }
  /// The largest sum.
  Wide largest() const noexcept;
  /// Whether some choice of the i makes the sum `target`. Where the search would take longer than a few milliseconds
  /// the answer is true.
  bool reaches(Wide target) const noexcept;

 private:
  std::array<LinearTerm, max_terms> terms_{};
  int count_ = 0;
};

}  // namespace convoke

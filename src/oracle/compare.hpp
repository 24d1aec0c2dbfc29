// SPDX-License-Identifier: Apache-2.0 OR MIT
// Whole outputs against the oracles: all elements or a seeded sample.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "oracle/exact.hpp"
#include "oracle/request.hpp"

namespace convoke::oracle {

/// Which outputs are compared: all of them if there are at most `limit` (or limit is 0); else `limit` drawn by the
/// seed, the corners of the output always among them.
struct Sampling {
  std::int64_t limit = 0;
  std::uint64_t seed = 0;
};

struct Mismatch {
  At at;
  std::uint64_t got = 0, want = 0;  ///< bits in the dtype, NaNs canonical
  std::string text;                 ///< `out[0,1,2,3] is 0x3f800001 (1.00000012), want 0x3f800000 (1)` and why
};

struct Comparison {
  std::int64_t compared = 0;          ///< outputs looked at
  std::int64_t by_class = 0;          ///< of these, judged by class only (see Verifiable); 0 against the law
  std::int64_t wrong = 0;             ///< outputs that failed
  std::optional<Mismatch> first;      ///< the first of those in row-major order
  double worst_error_over_bound = 0;  ///< exact oracle only

  bool passed() const noexcept { return wrong == 0; }
};

/// Bit by bit against the law oracle, NaNs made canonical.
Comparison compare_law(const Request& request, const ConstTensor& out, const Sampling& sampling = {});

/// Within the bound of the exact oracle. Where only the class can be compared it must be that of the law oracle's
/// result, whose chain runs in f64 where the claim's accumulator is that.
Comparison compare_bound(const Request& request, const ConstTensor& out, const BoundClaim& claim = {},
                         const Sampling& sampling = {});

/// Bit by bit against the exact sum rounded once: for data whose sums are exact in the accumulator, such as small
/// integers. Outputs with an operand that is not finite are judged by class as in compare_bound.
Comparison compare_exact(const Request& request, const ConstTensor& out, const Sampling& sampling = {});

}  // namespace convoke::oracle

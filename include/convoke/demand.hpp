// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "convoke/error.hpp"
#include "convoke/export.hpp"

namespace convoke {

/// What the caller demands of the result, before any kernel is compared by price. The first three admit a kernel only
/// by claims that are relied on (docs/planning.md).
struct Demand {
  enum class Kind {
    reproducible,  ///< the law of the sum (docs/law.md): the same bits everywhere
    order,         ///< the order of the sum of that name, bit for bit
    accurate,      ///< an error bound of at most `factor` times the law's own at that shape
    fast,          ///< a sum kept in at least f32, and in at least the operands' type
    any,           ///< whatever an admissible kernel returns
  };
  Kind kind = Kind::reproducible;
  std::string name;    ///< of Kind::order
  double factor = 1;   ///< of Kind::accurate; positive
  bool plane = false;  ///< of Kind::accurate: a bound relative to the largest sum of the output plane will do

  static Demand reproducible() { return {}; }
  static Demand order(std::string name) { return {Kind::order, std::move(name)}; }
  static Demand accurate(double factor, bool plane = false) { return {Kind::accurate, {}, factor, plane}; }
  static Demand fast() { return {Kind::fast, {}}; }
  static Demand any() { return {Kind::any, {}}; }
  friend bool operator==(const Demand&, const Demand&) = default;
};

/// `reproducible`, `order(law)`, `accurate(2)`, `accurate(2,plane)`, `fast` or `any`.
[[nodiscard]] CONVOKE_API std::string text_of(const Demand& demand);
/// Reads what text_of() writes. Errors: invalid_argument, rule `demand`.
[[nodiscard]] CONVOKE_API Result<Demand> parse_demand(std::string_view text);

}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Random small problems whose sizes always fit, drawn so that every relation between sizes and parameters, every
// layout, alignment and special value comes up often; and the names of those relations, for tables that count them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/geometry.hpp"
#include "problem/problem.hpp"

namespace convoke::problem {

/// Multiplications of the dense formula that a random problem stays below.
inline constexpr std::int64_t random_max_macs = 200'000;

/// Problem `index` of the sequence that `seed` names: a pure function, the same on every platform.
Problem random_problem(Op op, std::uint64_t seed, std::uint64_t index);

/// Every relation that random problems of this operation show, in the order of a table.
std::span<const std::string_view> relation_names(Op op) noexcept;

/// The relations that a problem shows, a part of relation_names in the same order. The special values are looked up in
/// the data. Requires a problem whose sizes fit.
std::vector<std::string_view> relations(const Problem& problem);

}  // namespace convoke::problem

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Every way to carry out a request, with its price or the clause that refused it, and which of them is taken.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "bind/binding_table.hpp"
#include "convoke/error.hpp"
#include "convoke/plan.hpp"
#include "plan/route.hpp"

namespace convoke::planner {

struct Candidate {
  const bind::Binding* binding = nullptr;
  Variant variant;
  tl::expected<Route, Clause> route;
};

/// Errors: invalid_argument (negative threads, a factor of the demand that is not positive and finite).
Result<void> check_options(const PlanOptions& options);

/// The demand that the options make, forcing included.
Demand demand_of(const PlanOptions& options);

/// How the copies of a route are found and priced under these options; keeps a reference to them.
Workshop::Options workshop_options(const PlanOptions& options);

/// How the binding's key can serve the request's: as it is, or through casts that lose no operand's value. Refused by
/// the clause `key` where it cannot.
tl::expected<Variant, Clause> approach(const bind::Binding& binding, const Request& request);

/// One candidate a variant of every binding of the operation, in registration order. A binding is asked, in this order:
/// kernel (forced), key, forbid, backend, demand, alias, and then its contract.
std::vector<Candidate> candidates(const bind::BindingTable& table, const Request& request, const PlanOptions& options);

/// The admitted candidate of the lowest price; among equal prices the more stable bits, then fewer steps, then
/// registration order. Absent: none is admitted.
std::optional<std::size_t> cheapest(const std::vector<Candidate>& candidates);

/// The weakest determinism among the steps.
contract::Determinism determinism_of(const Route& route) noexcept;

/// The route by name; of a refused one, the kernel and how it would have been approached.
std::string name_of(const Candidate& candidate);

}  // namespace convoke::planner

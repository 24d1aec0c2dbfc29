// SPDX-License-Identifier: Apache-2.0 OR MIT
// A route: the steps from the caller's operands to the caller's output, copies included.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bind/binding_table.hpp"
#include "plan/admit.hpp"
#include "plan/request.hpp"

namespace convoke::planner {

/// Where an operand of a step lies.
enum class Place { x, weight, bias, out, scratch };

struct Slot {
  Place place = Place::x;
  std::size_t scratch_offset = 0;  ///< bytes from the aligned start of the scratch; only for Place::scratch
  std::size_t bytes = 0;           ///< only for Place::scratch
  TensorSpec spec;
};

/// One kernel call.
struct Step {
  const bind::Binding* binding = nullptr;  ///< owned by the catalog's table
  std::vector<Slot> inputs, outputs;
  std::size_t workspace_offset = 0, workspace_bytes = 0;  ///< the kernel's own scratch
};

struct Route {
  std::vector<Step> steps;
  std::size_t main_step = 0;      ///< index of the step that convolves
  std::size_t scratch_bytes = 0;  ///< of all slots and workspaces together, from an aligned start
};

/// Alignment of the start of a route's scratch.
inline constexpr std::size_t scratch_alignment = 4096;

/// The route through `binding`: a Contiguize for every awkward input, the kernel, a CopyOut for an awkward output.
/// Copies are never by a kernel that a glob of `forbid` matches.
tl::expected<Route, Clause> build_route(const bind::BindingTable& table, const bind::Binding& binding,
                                        const Request& request, const std::vector<std::string>& forbid);

/// Whether any glob matches the ImplId.
bool is_forbidden(const std::vector<std::string>& forbid, std::string_view id) noexcept;

}  // namespace convoke::planner

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Whether a kernel's contract admits a request: hard filters only, each refusal naming its clause.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "bind/binding_table.hpp"
#include "plan/request.hpp"

namespace convoke::planner {

/// The clause that refused, what it wanted and what it found.
struct Clause {
  std::string clause, wanted, found;
};

/// What a kernel would be handed, had every awkward operand been copied.
struct Fit {
  std::vector<TensorSpec> operands;  ///< inputs, then outputs, as the kernel sees them
  std::vector<bool> copied;          ///< one an operand: it does not lie as the contract wants, so it needs a copy
};

/// Alignment in bytes of element (0, 0, ...), given that of the data pointer.
std::size_t element_alignment(const TensorSpec& spec) noexcept;

/// Applies, in this order: key, backend, requires.isa, operand ranks, op_params constraints, shape constraints,
/// layouts. `operands` are the tensors as they lie: inputs of the key, then outputs.
tl::expected<Fit, Clause> admit(const bind::Binding& binding, const Request& request,
                                const std::vector<TensorSpec>& operands);

}  // namespace convoke::planner

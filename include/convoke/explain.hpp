// SPDX-License-Identifier: Apache-2.0 OR MIT
// Why a plan is what it is: every candidate with its price, or the clause that refused it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convoke/error.hpp"
#include "convoke/export.hpp"
#include "convoke/params.hpp"
#include "convoke/plan.hpp"
#include "convoke/tensor.hpp"

namespace convoke {

/// One step of a candidate: a kernel, and the work that its contract counts for it.
struct StepReport {
  std::string kernel;              ///< ImplId
  std::string role;                ///< the operand that a copy, cast or transfer works for; empty for the convolution
  std::vector<std::string> reads;  ///< `x`, `weight`, `bias`: the operands that come together here; `out` on its way
  double price_ns = 0;
  double flops = 0, bytes = 0, overhead_ns = 0;
  std::string cost_class;
  bool once = false;    ///< it works on the weight alone, which is packed once: its price is no part of the route's
  bool filled = false;  ///< the contract leaves an expression out, and the operator's default stands in for it
};

/// One way to carry out the request, admitted or not.
struct CandidateReport {
  std::string route;  ///< its steps by name, unique among the candidates
  std::string id;     ///< ImplId of the kernel that convolves
  bool admitted = false;
  std::optional<Refusal> refused;  ///< present where it is not admitted

  std::vector<StepReport> steps;      ///< empty where it is not admitted
  double price_ns = 0;                ///< sum of the steps', but for those that are done once
  std::optional<double> measured_ns;  ///< absent: never measured here
  std::size_t workspace_bytes = 0;    ///< scratch in host memory, as Plan::workspace_bytes() counts it
  std::size_t device_bytes = 0;

  std::string determinism;                ///< the weakest word among its steps
  std::string order;                      ///< of the sum; `unknown` where the contract names none
  std::vector<std::string> invariant_to;  ///< what changes no bit of any step
  std::optional<double> bound_over_law;   ///< its error bound over the law's; absent: it states none
  std::string evidence;                   ///< state of the claims: `declared` (docs/planning.md)
  bool relied_on = false;                 ///< whether they may meet a demand: false for foreign documents
  std::string alias_of;                   ///< ImplId of the kernel that is the same function; empty for others
};

struct Explanation {
  std::optional<std::size_t> chosen;  ///< index of the candidate that plan() takes; absent: every one was refused
  std::vector<CandidateReport> candidates;
};

/// Everything that plan() considers for these arguments, in the order it does. Errors: those of plan(), but no_kernel,
/// which is an explanation without a choice.
[[nodiscard]] CONVOKE_API Result<Explanation> explain(const TensorSpec& x, const TensorSpec& weight,
                                                      const std::optional<TensorSpec>& bias, const TensorSpec& out,
                                                      const Conv2dParams& params = {}, const PlanOptions& options = {});
/// The same for conv_transpose2d.
[[nodiscard]] CONVOKE_API Result<Explanation> explain(const TensorSpec& x, const TensorSpec& weight,
                                                      const std::optional<TensorSpec>& bias, const TensorSpec& out,
                                                      const ConvTranspose2dParams& params,
                                                      const PlanOptions& options = {});

/// The routes as one directed graph in the DOT language of Graphviz; a step that several routes share is one node.
[[nodiscard]] CONVOKE_API std::string to_dot(const Explanation& explanation);

}  // namespace convoke

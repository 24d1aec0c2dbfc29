// SPDX-License-Identifier: Apache-2.0 OR MIT
// The public ways to run a plan.
#include <optional>

#include "base/guard.hpp"
#include "base/layout.hpp"
#include "convoke/plan.hpp"
#include "plan/plan_impl.hpp"
#include "run/check_operands.hpp"
#include "run/packed_weight.hpp"
#include "run/steps.hpp"

namespace convoke {
namespace {

// `packed`: stands in for the weight; null: the weight is among the operands.
Result<void> run_plan(const Plan::Impl& plan, const executor::Operands& operands, const PackedWeight::Impl* packed,
                      const RunOptions& options) {
  if (packed != nullptr)
    if (auto ok = executor::check_fit(*packed, plan); !ok) return ok;
  if (auto ok = executor::check_operands(operands, plan.request, packed != nullptr); !ok) return ok;
  if (auto ok = executor::check_scratch(operands, options); !ok) return ok;
  if (packed == nullptr) return executor::run_steps(plan, executor::Part::whole, operands, nullptr, options);
  const convoke_operand weight = packed->operand();
  return executor::run_steps(plan, executor::Part::rest, operands, &weight, options);
}

// A spec whose alignment is what the pointer really has.
TensorSpec measured(const ConstTensor& tensor) {
  TensorSpec spec = tensor.spec;
  spec.align = planned_alignment_of(tensor.data);
  return spec;
}

template <class Params>
Result<void> plan_and_run(const ConstTensor& x, const ConstTensor& weight, const std::optional<ConstTensor>& bias,
                          const Tensor& out, const Params& params, const PlanOptions& options, const RunOptions& run) {
  const std::optional<TensorSpec> bias_spec = bias ? std::optional(measured(*bias)) : std::nullopt;
  const auto planned = plan(measured(x), measured(weight), bias_spec, measured(out), params, options);
  if (!planned) return tl::unexpected(planned.error());
  return planned->run(x, weight, bias, out, run);
}

}  // namespace

Result<void> Plan::run(const ConstTensor& x, const ConstTensor& weight, const std::optional<ConstTensor>& bias,
                       const Tensor& out, const RunOptions& options) const {
  return guarded([&] { return run_plan(*impl_, {x, weight, bias, out}, nullptr, options); });
}

Result<void> Plan::run(const ConstTensor& x, const PackedWeight& weight, const std::optional<ConstTensor>& bias,
                       const Tensor& out, const RunOptions& options) const {
  return guarded([&] { return run_plan(*impl_, {x, {}, bias, out}, &weight.impl(), options); });
}

Result<PackedWeight> Plan::pack(const ConstTensor& weight, const RunOptions& options) const {
  return guarded([&] { return executor::pack(*impl_, weight, options); });
}

Result<void> conv2d(const ConstTensor& x, const ConstTensor& weight, const std::optional<ConstTensor>& bias,
                    const Tensor& out, const Conv2dParams& params, const PlanOptions& options, const RunOptions& run) {
  return plan_and_run(x, weight, bias, out, params, options, run);
}

Result<void> conv_transpose2d(const ConstTensor& x, const ConstTensor& weight, const std::optional<ConstTensor>& bias,
                              const Tensor& out, const ConvTranspose2dParams& params, const PlanOptions& options,
                              const RunOptions& run) {
  return plan_and_run(x, weight, bias, out, params, options, run);
}

}  // namespace convoke

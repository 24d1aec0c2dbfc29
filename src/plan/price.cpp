// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/price.hpp"

#include <optional>

#include "base/layout.hpp"
#include "plan/scope.hpp"

namespace convoke::planner {
namespace {

using contract::CostExpression;

// Every operand touched once: what a kernel moves at least.
double touched_bytes(const std::vector<TensorSpec>& operands) {
  double bytes = 0;
  for (const TensorSpec& spec : operands)
    bytes += static_cast<double>(element_count(spec.shape).value_or(0)) * static_cast<double>(size_of(spec.dtype));
  return bytes;
}

std::string_view class_of(const contract::Contract& contract, const RequestScope& scope) {
  for (const contract::FastPath& path : contract.caps.fast_paths)
    if (path.cost_class && path.when && path.when->judge(scope) == contract::Verdict::holds) return *path.cost_class;
  return contract.cost.cost_class;
}

}  // namespace

Price price_of(const bind::Binding& binding, const Request& request, const std::vector<TensorSpec>& operands,
               const Rates& rates, int threads) {
  const contract::Contract& contract = *binding.contract;
  const contract::Cost& cost = contract.cost;
  const RequestScope scope(request, contract, operands, binding.input_count(), Use::cost, threads);
  const auto value = [&](const std::optional<CostExpression>& expression) {
    return expression ? expression->evaluate(scope) : std::nullopt;
  };
  Price price{{}, class_of(contract, scope), 0};
  Work& work = price.work;
  const std::optional<double> flops = value(cost.flops), bytes = value(cost.bytes_moved);
  work.filled = !flops || !bytes;
  work.flops = flops ? *flops : bind::convolves(binding.op) ? request.geometry.flops() : 0;
  work.bytes = bytes ? *bytes : touched_bytes(operands);
  work.device_bytes = value(cost.device_bytes).value_or(0);
  work.host_bytes = value(cost.host_bytes).value_or(0);
  work.disk_bytes = value(cost.disk_bytes).value_or(0);
  const Rate& rate = rates.find(bind::name_of(contract.backend), contract.kernel_source, bind::token_of(binding.op),
                                price.cost_class, operands.back().dtype);
  work.overhead_ns = value(cost.overhead_ns).value_or(rate.overhead_ns);
  const double speed = binding.device == nullptr ? 1 + (threads - 1) * rates.thread_gain() : 1;
  price.ns = work.overhead_ns + (work.flops / rate.flops_per_ns + work.bytes / rate.bytes_per_ns) / speed;
  return price;
}

}  // namespace convoke::planner

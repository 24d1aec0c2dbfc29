// SPDX-License-Identifier: Apache-2.0 OR MIT
// Copies: found once for a request, the cheapest that the demand allows.
#include <algorithm>

#include "base/glob.hpp"
#include "plan/route.hpp"

namespace convoke::planner {
namespace {

bool same(const TensorSpec& a, const TensorSpec& b) noexcept {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.offset == b.offset &&
         a.align == b.align;
}

// Whether `packer` is what the contract calls its Pack kernel.
bool names(const contract::Contract& contract, const contract::Contract& packer) noexcept {
  return contract.packing && packer.kernel == contract.packing->kernel &&
         packer.kernel_source == contract.kernel_source && packer.backend == contract.backend;
}

}  // namespace

bool is_forbidden(const std::vector<std::string>& forbid, std::string_view id) noexcept {
  return std::ranges::any_of(forbid, [&](const std::string& glob) { return glob_match(glob, id); });
}

Price Workshop::price(const bind::Binding& binding, const std::vector<TensorSpec>& operands) const {
  static const Rates defaults;
  return price_of(binding, request_, operands, options_.rates == nullptr ? defaults : *options_.rates,
                  options_.threads);
}

bool Workshop::may_copy(const bind::Binding& binding, std::size_t step, bind::Operator op, const convoke_device* device,
                        const bind::Binding* packed_for) const noexcept {
  if (binding.op != op || binding.alias_of || binding.device != device) return false;
  if (packed_for != nullptr && !names(*packed_for->contract, *binding.contract)) return false;
  if (options_.forbid != nullptr && is_forbidden(*options_.forbid, binding.id)) return false;
  if (options_.steps != nullptr && (step >= options_.steps->size() || (*options_.steps)[step] != binding.id))
    return false;
  return options_.any_copies || (!binding.foreign && binding.contract->determinism == contract::Determinism::bitwise);
}

Workshop::Copy Workshop::find(std::size_t step, bind::Operator op, const TensorSpec& from, const TensorSpec& to,
                              const convoke_device* device, const bind::Binding* packed_for, bool copied_first) const {
  Copy best;
  for (const bind::Binding& binding : table_.all()) {
    if (!may_copy(binding, step + (copied_first ? 1 : 0), op, device, packed_for)) continue;
    const auto fit = admit(binding, request_, {from, to});
    if (!fit || fit->copied[0] != copied_first || fit->copied[1]) continue;
    const Price price = this->price(binding, fit->operands);
    if (best.binding != nullptr && price.ns >= best.price.ns) continue;
    best = {&binding, price, copied_first ? std::optional(fit->operands[0]) : std::nullopt};
  }
  // What is on its way between kernels of ours is dense already, and what lies on a device cannot be copied there.
  const bool copies_first =
      op == bind::Operator::cast || op == bind::Operator::upload || (op == bind::Operator::pack && device == nullptr);
  if (best.binding != nullptr || copied_first || !copies_first) return best;
  return find(step, op, from, to, device, packed_for, true);
}

Workshop::Copy Workshop::copy(std::size_t step, bind::Operator op, const TensorSpec& from, const TensorSpec& to,
                              const convoke_device* device, const bind::Binding* packed_for) {
  // Where steps are given, what is found depends on the step.
  if (options_.steps != nullptr) return find(step, op, from, to, device, packed_for, false);
  for (const Found& found : found_)
    if (found.op == op && found.device == device && found.packed_for == packed_for && same(found.from, from) &&
        same(found.to, to))
      return found.copy;
  found_.push_back({op, from, to, device, packed_for, find(step, op, from, to, device, packed_for, false)});
  return found_.back().copy;
}

}  // namespace convoke::planner

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The names of a contract's expressions, bound to one request (docs/format.md, Names).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "contract/contract.hpp"
#include "plan/request.hpp"

namespace convoke::planner {

/// What an expression is for. `n` is the number of elements that the kernel writes in a cost; in a constraint it is a
/// symbol of the contract's own, which has no value here.
enum class Use { constraint, cost };

/// Values for one kernel's expressions: roles are the names of its contract's operands, in the contract's order.
class RequestScope final : public contract::Scope {
 public:
  /// `operands`: one spec an input of the key and one an output, as the kernel would see them; `dtype_bytes` is that of
  /// the last. `threads`: those that the plan is made for, where the text may depend on them. Keeps references.
  RequestScope(const Request& request, const contract::Contract& contract, const std::vector<TensorSpec>& operands,
               std::size_t inputs, Use use, std::optional<int> threads = {}) noexcept
      : request_(request),
        contract_(contract),
        operands_(operands),
        inputs_(inputs),
        use_(use),
        threads_(use == Use::cost ? threads : std::nullopt) {}

  std::optional<std::int64_t> dim(std::string_view role, std::int64_t axis) const override;
  std::optional<std::int64_t> rank(std::string_view role) const override;
  std::optional<std::int64_t> scalar(std::string_view name) const override;
  std::optional<std::vector<std::int64_t>> tuple(std::string_view name) const override;
  std::optional<std::int64_t> element(std::string_view name, std::int64_t index) const override;
  std::optional<std::int64_t> layout(std::string_view role, std::string_view what, std::int64_t axis) const override;
  std::optional<bool> word(std::string_view name) const override;

 private:
  const TensorSpec* operand(std::string_view role) const noexcept;

  const Request& request_;
  const contract::Contract& contract_;
  const std::vector<TensorSpec>& operands_;
  std::size_t inputs_;
  Use use_;
  std::optional<int> threads_;
};

}  // namespace convoke::planner

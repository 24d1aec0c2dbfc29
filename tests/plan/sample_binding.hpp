// SPDX-License-Identifier: Apache-2.0 OR MIT
// The small document of the contract's tests, bound to a kernel of ours, and a request that it admits: what a test
// changes in the contract is then what the planner answers to.
#pragma once

#include <functional>
#include <memory>

#include "base/host.hpp"
#include "bind/binding_table.hpp"
#include "plan/request.hpp"
#include "tests/contract/sample.hpp"

namespace convoke::planner {

using Change = std::function<void(contract::Contract&)>;

/// conv2d_f32 without bias: x dense and aligned to 64 bytes, weight of any strides, out dense.
inline bind::Binding sample_binding(const Change& change = nullptr) {
  using contract::testing::plant;
  const std::string text = plant(plant(contract::testing::sample(), "sample::TABLE", "convoke"), "\"sample::conv\"",
                                 "\"convoke::portable::conv2d_f32\"");
  bind::BindingTable table;
  const auto added = table.add(contract::parse_document(text, "sample.fkc.md"), false, host().isa);
  EXPECT_TRUE(added) << added.error().message;
  for (const bind::Binding& binding : table.all()) {
    if (binding.optional_present) continue;
    bind::Binding changed = binding;
    contract::Contract contract = *binding.contract;
    if (change) change(contract);
    changed.contract = std::make_shared<const contract::Contract>(std::move(contract));
    return changed;
  }
  ADD_FAILURE() << "the sample has no key without bias";
  return {};
}

inline TensorSpec aligned(const Dims& shape, std::size_t align = 64) {
  TensorSpec spec = TensorSpec::dense(DType::f32, shape);
  spec.align = align;
  return spec;
}

/// x 1x4x8x8, weight 8x4x3x3, out 1x8x6x6; `change` sees the three specs first.
inline Request sample_request(
    const std::function<void(TensorSpec& x, TensorSpec& weight, TensorSpec& out)>& change = nullptr) {
  TensorSpec x = aligned({1, 4, 8, 8}), weight = aligned({8, 4, 3, 3}), out = aligned({1, 8, 6, 6});
  if (change) change(x, weight, out);
  return make_request(Op::conv2d, x, weight, std::nullopt, out, {}).value();
}

}  // namespace convoke::planner

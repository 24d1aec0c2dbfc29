// SPDX-License-Identifier: Apache-2.0 OR MIT
// Tables of small kernels whose contracts a test writes, so that candidates differ in just what the test is about.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/host.hpp"
#include "bind/binding_table.hpp"
#include "bind/builtin_documents.hpp"
#include "convoke/catalog.hpp"
#include "tests/plan/sample_binding.hpp"

namespace convoke::planner {

/// The sample's kernel under a kernel_source and in a type of its own. Its claim is the law, bitwise, unless changed.
struct SampleKernel {
  std::string name;
  Change change = nullptr;
  std::string dtype = "F32";
  bool foreign = false;
  int function = -1;  ///< which of the functions it stands for; -1: one that no other kernel of the table has
};

template <int I>
std::int32_t sample_function(const convoke_call*) {
  return I < 0 ? CONVOKE_RUNTIME_FAILURE : CONVOKE_OK;
}

/// Eight functions in four types, by the symbols `sample::F32::0` to `sample::F16::7`.
inline const std::vector<convoke_entry>& sample_entries() {
  static std::deque<std::string> symbols;
  static const std::vector<convoke_entry> entries = [] {
    constexpr std::array<convoke_host_kernel, 8> functions = {
        sample_function<0>, sample_function<1>, sample_function<2>, sample_function<3>,
        sample_function<4>, sample_function<5>, sample_function<6>, sample_function<7>};
    std::vector<convoke_entry> rows;
    for (const auto& [name, dtype] :
         {std::pair{"F32", CONVOKE_F32}, {"F64", CONVOKE_F64}, {"BF16", CONVOKE_BF16}, {"F16", CONVOKE_F16}})
      for (std::size_t i = 0; i < functions.size(); ++i) {
        symbols.push_back(std::string("sample::") + name + "::" + std::to_string(i));
        rows.push_back({symbols.back().c_str(), CONVOKE_CONV2D, dtype, dtype, CONVOKE_ISA_BASELINE, functions[i]});
      }
    return rows;
  }();
  return entries;
}

/// A change that makes one call of the kernel cost `ns`, whatever it is handed.
inline Change costs(int ns) {
  return [ns](contract::Contract& c) {
    const auto number = [](int value) { return contract::CostExpression::parse(std::to_string(value)).value(); };
    c.cost.flops = c.cost.bytes_moved = number(0);
    c.cost.overhead_ns = number(ns);
  };
}

/// One change after the other.
inline Change both(const Change& first, const Change& second) {
  return [first, second](contract::Contract& c) {
    first(c);
    second(c);
  };
}

inline contract::ParsedDocument sample_document(const SampleKernel& kernel, std::size_t function) {
  contract::ParsedDocument document = contract::parse_document(contract::testing::sample(), kernel.name + ".fkc.md");
  EXPECT_EQ(document.contracts.size(), 1u) << contract::testing::rendered(document.diagnostics);
  contract::Contract& contract = document.contracts.at(0);
  contract.kernel_source = kernel.name;
  contract.determinism = contract::Determinism::bitwise;
  for (contract::Operand& input : contract.inputs) input.dtypes = {kernel.dtype};
  contract.entry_point = "sample::" + kernel.dtype + "::" + std::to_string(function);
  if (kernel.change) kernel.change(contract);
  return document;
}

/// `kernels` in this order, behind the copies and casts of the library where `with_copies` asks for them.
inline std::shared_ptr<const bind::BindingTable> sample_table(const std::vector<SampleKernel>& kernels,
                                                              bool with_copies = true) {
  auto table = std::make_shared<bind::BindingTable>();
  table->provide({.link_registry = "sample::TABLE", .backend = contract::Backend::cpu, .entries = sample_entries()});
  for (const bind::BuiltinDocument& builtin : bind::builtin_documents()) {
    if (!with_copies || !builtin.path.ends_with("layout.fkc.md")) continue;
    const auto added = table->add(contract::parse_document(builtin.text, builtin.path), false, host().isa);
    EXPECT_TRUE(added) << added.error().message;
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::size_t function = kernels[i].function < 0 ? i : static_cast<std::size_t>(kernels[i].function);
    const auto added = table->add(sample_document(kernels[i], function), kernels[i].foreign, host().isa);
    EXPECT_TRUE(added) << added.error().message;
  }
  return table;
}

inline Catalog sample_catalog(const std::vector<SampleKernel>& kernels, bool with_copies = true) {
  return Catalog(sample_table(kernels, with_copies));
}

/// Leaves a gap behind every element, which the sample takes of its weight only.
inline void spread(TensorSpec& spec) {
  for (int axis = 0; axis < spec.strides.rank(); ++axis) spec.strides[axis] *= 2;
}

}  // namespace convoke::planner

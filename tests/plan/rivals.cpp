// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/plan/rivals.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include "bind/binding_table.hpp"
#include "problem/problem.hpp"
#include "tests/device/operand_facts.hpp"

namespace convoke::rivals {
namespace {

struct Notes {
  std::mutex mutex;
  std::vector<std::string> calls;
  convoke_conv_params params{};
  int threads = 0;
};
Notes& notes() {
  static Notes all;
  return all;
}

void note(const char* name, int threads) {
  const std::scoped_lock lock(notes().mutex);
  notes().calls.emplace_back(name);
  notes().threads = threads;
}

std::int32_t convolve(const convoke_call& call, const char* name) noexcept {
  note(name, call.threads);
  const std::array<convoke_operand, 2> inputs{*call.inputs[0], *call.inputs[1]};
  return fake::call_portable("conv2d_f32", call, inputs, *call.outputs[0]);
}

std::int32_t strided(const convoke_call* call) noexcept { return convolve(*call, "strided"); }

std::int32_t dense(const convoke_call* call) noexcept {
  for (int i = 0; i < 2; ++i)
    if (!fake::is_dense(*call->inputs[i])) return CONVOKE_RUNTIME_FAILURE;
  return convolve(*call, "dense");
}

// The packed weight: its size in elements, then the elements from the last to the first.
std::int32_t pack(const convoke_call* call) noexcept {
  note("pack", call->threads);
  const auto* params = static_cast<const convoke_conv_params*>(call->params);
  const convoke_operand &from = *call->inputs[0], &to = *call->outputs[0];
  if (params == nullptr) return CONVOKE_RUNTIME_FAILURE;
  {
    const std::scoped_lock lock(notes().mutex);
    notes().params = *params;
  }
  const auto count = static_cast<std::size_t>(fake::elements(from));
  if (!fake::is_dense(from) || to.bytes != 8 + 4 * count || call->output_count != 1) return CONVOKE_RUNTIME_FAILURE;
  const std::uint64_t size = count;
  std::memcpy(to.data, &size, sizeof size);
  const auto* const values = static_cast<const float*>(from.data) + from.offset;
  auto* const packed = static_cast<std::byte*>(to.data) + sizeof size;
  for (std::size_t i = 0; i < count; ++i) std::memcpy(packed + 4 * i, values + (count - 1 - i), 4);
  return CONVOKE_OK;
}

std::int32_t packed(const convoke_call* call) noexcept {
  const convoke_operand& weight = *call->inputs[1];
  std::uint64_t size = 0;
  std::memcpy(&size, weight.data, sizeof size);
  if (size != static_cast<std::uint64_t>(fake::elements(weight))) return CONVOKE_RUNTIME_FAILURE;
  if (call->scratch_bytes != 4 * size) return CONVOKE_RUNTIME_FAILURE;
  auto* const values = static_cast<float*>(call->scratch);
  for (std::size_t i = 0; i < size; ++i)
    std::memcpy(values + i, static_cast<const std::byte*>(weight.data) + 8 + 4 * (size - 1 - i), 4);
  std::array<convoke_operand, 2> inputs{*call->inputs[0], weight};
  inputs[1].data = values;
  note("packed", call->threads);
  return fake::call_portable("conv2d_f32", *call, inputs, *call->outputs[0]);
}

std::int32_t copy(const convoke_call* call) noexcept {
  note("copy", call->threads);
  return fake::call_portable("contiguize_f32", *call, std::span(call->inputs[0], 1), *call->outputs[0]);
}

constexpr auto entries = std::to_array<convoke_entry>({
    {"rivals::strided", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, 0, strided},
    {"rivals::dense", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, 0, dense},
    {"rivals::packed", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, 0, packed},
    {"rivals::pack", CONVOKE_PACK, CONVOKE_F32, CONVOKE_F32, 0, pack},
    {"rivals::copy", CONVOKE_CONTIGUIZE, CONVOKE_F32, CONVOKE_F32, 0, copy},
});

std::string front() {
  return "---\nfkc_version: 1\nprovider:\n  name: rivals\n  backend: Cpu\n  kernel_source: rivals\n"
         "  link_registry: rivals\n---\n# Rivals\n\n";
}

std::string tail(const std::string& cost) {
  const std::string traffic = cost.find("bytes_moved") == std::string::npos ? ", bytes_moved: \"0\"" : "";
  return "cost: { provenance: declared, class: conv, " + cost + traffic +
         " }\nprecision: { bit_stable_on_same_hardware: true, audited: true, notes: none }\n"
         "determinism: bitwise\n";
}

}  // namespace

std::vector<std::string> take_calls() {
  const std::scoped_lock lock(notes().mutex);
  return std::exchange(notes().calls, {});
}

convoke_conv_params packed_for() {
  const std::scoped_lock lock(notes().mutex);
  return notes().params;
}

int threads_given() {
  const std::scoped_lock lock(notes().mutex);
  return notes().threads;
}

std::string convolution(const char* name, const char* layout, const std::string& cost, const std::string& more) {
  return fmt::format(
      "## {0}\nText.\n\n```fkc\nkernel: {0}\nop_kind: Conv2D\nblurb: \"Text.\"\nentry_point: \"rivals::{0}\"\n"
      "kernel_revision_hash: auto\naccept:\n  inputs:\n"
      "    - {{ name: x, dtypes: [F32], rank: 4, layout: {1} }}\n"
      "    - {{ name: weight, dtypes: [F32], rank: 4, layout: {1} }}\n"
      "return:\n  outputs:\n    - {{ name: out, dtype_rule: passthrough(x), shape_rule: conv2d(params), "
      "layout_guarantee: contiguous, aliasing: none }}\n{2}{3}```\n\n",
      name, layout, tail(cost), more);
}

// A kernel that takes one operand.
std::string copying(const char* name, const char* op, const char* layout, const std::string& cost,
                    const std::string& more) {
  return fmt::format(
      "## {0}\nText.\n\n```fkc\nkernel: {0}\nop_kind: {1}\nblurb: \"Text.\"\nentry_point: \"rivals::{0}\"\n"
      "kernel_revision_hash: auto\naccept:\n  inputs:\n    - {{ name: w, dtypes: [F32], rank: 4, layout: {2} }}\n"
      "return:\n  outputs:\n    - {{ name: out, dtype_rule: passthrough(w), shape_rule: same_as(w), "
      "layout_guarantee: contiguous, aliasing: none }}\n{3}{4}```\n\n",
      name, op, layout, tail(cost), more);
}

std::string pack_kernel(const std::string& cost) { return copying("pack", "Pack", dense_only, cost); }

std::string packing_convolution(const std::string& cost, const std::string& more) {
  return convolution("packed", dense_only, cost,
                     "packing: { operand: weight, kernel: pack, bytes: \"8 + product(w_shape) * dtype_bytes\" }\n"
                     "workspace_bytes: \"product(w_shape) * dtype_bytes\"\n" +
                         more);
}

Catalog catalog_of(const std::string& sections) {
  const bind::Provider provider{"rivals", contract::Backend::cpu, entries, nullptr};
  auto catalog = bind::make_catalog({{"rivals.fkc.md", front() + sections}}, {provider});
  EXPECT_TRUE(catalog) << catalog.error().message;
  return catalog.value_or(Catalog::builtin());
}

Contest::Contest(const std::string& sections) : catalog(catalog_of(sections)) {
  EXPECT_TRUE(rates.set({"cpu", "rivals", "conv", std::nullopt, {1, 1e6, 0}}));
  EXPECT_TRUE(rates.set({"cpu", "", "Contiguize", std::nullopt, {1, 0.1, 0}}));
}

PlanOptions Contest::options() const {
  PlanOptions made;
  made.demand = Demand::any();
  made.forbid = {"cpu/portable/conv*", "cpu/simd/*"};
  made.threads = 1;
  made.rates = &rates;
  made.catalog = &catalog;
  return made;
}

problem::Workload workload_of(const std::string& line) {
  return problem::make_workload(problem::parse_problem(line).value()).value();
}

}  // namespace convoke::rivals

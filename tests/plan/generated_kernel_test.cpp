// SPDX-License-Identifier: Apache-2.0 OR MIT
// The sweep proves something only if its kernels see what their contracts exclude.
#include "tests/plan/generated_kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/device/fake_device.hpp"
#include "tests/plan/random_contract.hpp"

namespace convoke::sweep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Contiguize of a 2 x 4 f32 tensor that a kernel takes; a test breaks one clause.
struct Call {
  Kernel kernel;
  alignas(64) std::array<float, 64> from{}, to{};
  convoke_operand x{}, out{};
  convoke_call call{};
  alignas(64) std::array<std::byte, 64> scratch{};

  Call() {
    kernel.op = bind::Operator::contiguize;
    kernel.name = "k";
    kernel.inputs = {OperandClauses{"x", {}, nullptr, nullptr, 0, 6}};
    kernel.output = OperandClauses{"out", {}, nullptr, nullptr, 0, 6};
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
    x = operand(from.data());
    out = operand(to.data());
    call.size = sizeof call;
    call.version = CONVOKE_KERNEL_VERSION;
    call.input_count = call.output_count = call.threads = 1;
  }
  static convoke_operand operand(float* data) {
    convoke_operand made{};
    made.size = sizeof made;
    made.rank = 2;
    made.data = data;
    made.bytes = 64 * sizeof(float);
    made.shape[0] = 2, made.shape[1] = 4;
    made.stride[0] = 4, made.stride[1] = 1;
    return made;
  }
  std::int32_t run() {
    bound()[0] = {&kernel, DType::f32};
    const convoke_operand* const in = &x;
    const convoke_operand* const result = &out;
    call.inputs = &in;
    call.outputs = &result;
    return function_of(0)(&call);
  }
};

TEST(GeneratedKernel, RunsWhereEveryClauseHolds) {
  Call call;
  EXPECT_EQ(call.run(), CONVOKE_OK);
  EXPECT_THAT(take_broken(), IsEmpty());
  EXPECT_EQ(call.to[7], 7);
}

void strided(Call& call) {
  Flags flags;
  flags.contiguous = Flags::Contiguous::accepted;
  flags.strided = true;
  call.kernel.inputs[0].flags = flags;
  call.x.stride[0] = 8;
}

TEST(GeneratedKernel, SaysWhichClauseACallBreaks) {
  static const Rule never{"never", [](const Seen&) { return false; }};
  static const Amount much{"99", [](const Sizes&) { return std::optional<std::int64_t>(99); }};
  static const Amount unknown{"k", [](const Sizes&) -> std::optional<std::int64_t> { return std::nullopt; }};
  const std::vector<std::pair<const char*, std::function<void(Call&)>>> breaks = {
      {"x.contiguous", [](Call& c) { c.x.stride[0] = 5; }},
      {"x.start_offset", [](Call& c) { c.x.offset = 1; }},
      {"x.broadcast_stride0", [](Call& c) { strided(c), c.x.stride[0] = 0; }},
      {"x.reverse_strides",
       [](Call& c) {
         strided(c), c.x.offset = 0, c.x.stride[1] = -1, c.x.offset = 3, c.kernel.inputs[0].flags->offset = true;
       }},
      {"x.broadcast_axes", [](Call& c) { strided(c), c.kernel.inputs[0].flags->broadcast_axis = 0; }},
      {"out.contiguous", [](Call& c) { c.out.stride[0] = 5; }},
      {"x.alignment_bytes", [](Call& c) { c.kernel.alignment = 16, c.x.data = c.from.data() + 1; }},
      {"x.bytes", [](Call& c) { c.x.bytes = 31; }},
      {"x.rank", [](Call& c) { c.kernel.inputs[0].min_rank = 3; }},
      {"x.never", [](Call& c) { c.kernel.inputs[0].layout = &never; }},
      {"x.never", [](Call& c) { c.kernel.inputs[0].shape = &never; }},
      {"op_params.stride never", [](Call& c) { c.kernel.fields = {{"stride", &never}}; }},
      {"workspace_bytes", [](Call& c) { c.kernel.workspace = &much; }},
      {"workspace_bytes without a value", [](Call& c) { c.kernel.workspace = &unknown; }},
      {"alignment of the scratch", [](Call& c) { c.call.scratch = c.scratch.data() + 1, c.call.scratch_bytes = 8; }},
      {"in_place", [](Call& c) { c.kernel.never = "in_place"; }},
      {"dtype of an input", [](Call& c) { c.x.dtype = CONVOKE_F64; }},
      {"threads", [](Call& c) { c.call.threads = 0; }},
      {"params", [](Call& c) { c.call.params = &c; }},
      {"memory of an input", [](Call& c) { c.kernel.op = bind::Operator::download; }},
      {"memory of the output", [](Call& c) { c.kernel.op = bind::Operator::upload; }},
  };
  for (const auto& [clause, change] : breaks) {
    Call call;
    change(call);
    EXPECT_EQ(call.run(), CONVOKE_RUNTIME_FAILURE) << clause;
    EXPECT_THAT(take_broken(), ElementsAre(HasSubstr(clause)));
    EXPECT_EQ(call.to[7], 0) << clause << ": out was written";
  }
}

TEST(RandomCatalog, HoldsEveryKindOfKernel) {
  std::set<bind::Operator> ops;
  std::size_t on_device = 0, packing = 0, foreign = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const RandomCatalog random(seed);
    for (const bind::Binding& binding : random.catalog().table().all()) {
      if (!binding.foreign) continue;
      ++foreign;
      ops.insert(binding.op);
      on_device += binding.device != nullptr ? 1 : 0;
      packing += binding.contract->packing ? 1 : 0;
      EXPECT_FALSE(binding.alias_of) << binding.id;
    }
  }
  EXPECT_EQ(ops.size(), 8u);
  EXPECT_GT(foreign, 600u);
  EXPECT_GT(on_device, 200u);
  EXPECT_GT(packing, 40u);
}

}  // namespace
}  // namespace convoke::sweep

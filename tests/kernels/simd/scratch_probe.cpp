// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/kernels/simd/scratch_probe.hpp"

#include "kernels/simd/channels.h"
#include "kernels/simd/pixels.h"

namespace convoke::kernel_tests {
namespace {

namespace isa = simd::CONVOKE_SIMD_ISA;

alignas(64) unsigned char scratch[isa::worker_bytes];

template <class UnitOf, class E>
std::int64_t take_units(const isa::Operands<E>& operands, const isa::UnitPlan& plan, std::int64_t most) {
  std::int64_t taken = 0;
  const std::int64_t wanted = isa::min_of(most, plan.units);
  for (std::int64_t i = 0; i < wanted; ++i) {
    const std::int64_t index = wanted == 1 ? 0 : i * ((plan.units - 1) / (wanted - 1));
    const isa::Unit unit = plan.unit(operands, i + 1 == wanted ? plan.units - 1 : index);
    if (unit.empty()) continue;
    UnitOf(operands, plan, unit, scratch);
    ++taken;
  }
  return taken;
}

template <class E>
std::int64_t take_scratch_as(isa::Operation operation, const convoke_call& call, std::int64_t most) {
  isa::Operands<E> operands(operation, call);
  const std::int64_t of_channels =
      take_units<isa::ChannelsUnit<E>>(operands, isa::plan_of_channels(operands, call.threads), most);
  isa::join_rows(operands);
  return of_channels + take_units<isa::PixelsUnit<E>>(operands, isa::plan_of_pixels(operands, call.threads), most);
}

}  // namespace

std::int64_t take_scratch(const convoke_call& call, bool transposed, int dtype, std::int64_t most) {
  const isa::Operation operation = transposed ? isa::Operation::conv_transpose2d : isa::Operation::conv2d;
  if (dtype == CONVOKE_F64) return take_scratch_as<isa::F64>(operation, call, most);
  if (dtype == CONVOKE_F16) return take_scratch_as<isa::F16>(operation, call, most);
  return take_scratch_as<isa::F32>(operation, call, most);
}

PhasesTogether phases_together(const convoke_call& call) {
  const isa::Operands<isa::F32> operands(isa::Operation::conv_transpose2d, call);
  return {isa::plan_of_channels(operands, call.threads).together, isa::plan_of_pixels(operands, call.threads).together};
}

}  // namespace convoke::kernel_tests

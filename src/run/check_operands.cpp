// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "run/check_operands.hpp"

#include <cstdint>
#include <functional>
#include <utility>

#include "base/fail.hpp"
#include "base/layout.hpp"

namespace convoke::executor {
namespace {

bool same_layout(const TensorSpec& a, const TensorSpec& b) noexcept {
  return a.dtype == b.dtype && a.shape == b.shape && a.strides == b.strides && a.offset == b.offset;
}

}  // namespace

Result<void> check_tensor(const ConstTensor& tensor, const TensorSpec& planned, const char* role) {
  if (!same_layout(tensor.spec, planned))
    return fail(ErrorCode::invalid_argument, role,
                {named("planned", planned.shape), named("planned strides", planned.strides),
                 named("shape", tensor.spec.shape), named("strides", tensor.spec.strides)},
                "{} differs from what was planned: {} {} strides {} offset {}, planned {} {} strides {} offset {}",
                role, name_of(tensor.spec.dtype), text_of(tensor.spec.shape), text_of(tensor.spec.strides),
                tensor.spec.offset, name_of(planned.dtype), text_of(planned.shape), text_of(planned.strides),
                planned.offset);
  if (auto ok = check_layout(tensor.spec, tensor.bytes, role); !ok) return ok;
  if (element_count(planned.shape).value_or(0) == 0) return {};
  if (tensor.data == nullptr)
    return fail(ErrorCode::invalid_argument, role, {}, "{} has no data: its pointer is null", role);
  if (reinterpret_cast<std::uintptr_t>(tensor.data) % planned.align != 0)
    return fail(ErrorCode::invalid_argument, role, {named("align", planned.align)},
                "{} is not aligned to the {} bytes that were planned", role, planned.align);
  return {};
}

Result<void> check_operands(const Operands& operands, const planner::Request& request, bool packed) {
  if (operands.bias.has_value() != request.bias.has_value())
    return fail(ErrorCode::invalid_argument, "bias", {}, "the plan was made {} a bias, and run was called {} one",
                request.bias ? "with" : "without", operands.bias ? "with" : "without");
  if (auto ok = check_tensor(operands.x, request.x, "x"); !ok) return ok;
  if (!packed)
    if (auto ok = check_tensor(operands.weight, request.weight, "weight"); !ok) return ok;
  if (operands.bias)
    if (auto ok = check_tensor(*operands.bias, *request.bias, "bias"); !ok) return ok;
  if (auto ok = check_tensor(operands.out, request.out, "out"); !ok) return ok;
  const auto meets_out = [&](const ConstTensor& input) { return overlap(input, operands.out); };
  for (const auto& [input, role] : {std::pair{&operands.x, "x"}, std::pair{&operands.weight, "weight"}})
    if (!(packed && input == &operands.weight) && meets_out(*input))
      return fail(ErrorCode::overlap, "out", {named("input", role)}, "out shares memory with {}", role);
  if (operands.bias && meets_out(*operands.bias))
    return fail(ErrorCode::overlap, "out", {named("input", "bias")}, "out shares memory with bias");
  return {};
}

Result<void> check_scratch(const Operands& operands, const RunOptions& options) {
  const auto meets = [&](const void* data, std::size_t bytes) {
    const auto* const a = static_cast<const std::byte*>(options.scratch);
    const auto* const b = static_cast<const std::byte*>(data);
    return std::less<>()(a, b + bytes) && std::less<>()(b, a + options.scratch_bytes);
  };
  if (options.scratch == nullptr) return {};
  const bool overlaps = meets(operands.x.data, operands.x.bytes) ||
                        meets(operands.weight.data, operands.weight.bytes) ||
                        (operands.bias && meets(operands.bias->data, operands.bias->bytes)) ||
                        meets(operands.out.data, operands.out.bytes);
  if (!overlaps) return {};
  return fail(ErrorCode::overlap, "scratch", {named("scratch_bytes", options.scratch_bytes)},
              "scratch shares memory with an operand");
}

}  // namespace convoke::executor

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "run/packed_weight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/layout.hpp"
#include "cpu/call.hpp"
#include "run/check_operands.hpp"
#include "run/steps.hpp"

namespace convoke {
namespace executor {
namespace {

using planner::Route;
using planner::Slot;

// The weight as the convolution takes it.
const Slot& taken_by(const Route& route) { return route.steps[route.main_step].inputs[planner::weight_operand]; }

bool is_as_it_lies(const Route& route) noexcept { return route.weight_begin == route.weight_end; }

const bind::Binding* packer_of(const Route& route) noexcept {
  if (is_as_it_lies(route)) return nullptr;
  const bind::Binding* last = route.steps[route.weight_end - 1].binding;
  return last->op == bind::Operator::pack ? last : nullptr;
}

// Bytes from the tensor's pointer to the end of its last element.
std::size_t reach_of(const TensorSpec& spec) noexcept {
  const auto range = touched(spec);
  return range ? (static_cast<std::size_t>(range->last) + 1) * size_of(spec.dtype) : 0;
}

Result<void> reserve(PackedWeight::Impl& packed, std::size_t bytes) {
  packed.bytes = bytes;
  if (packed.device != nullptr) {
    auto memory = DeviceMemory::acquire(packed.device, {bytes}, {true});
    if (!memory) return tl::unexpected(memory.error());
    packed.on_device = *std::move(memory);
    return {};
  }
  const std::size_t align = std::max(planner::scratch_alignment, packed.form.align);
  packed.form.align = align;
  if (bytes <= SIZE_MAX - align) packed.host.reset(std::aligned_alloc(align, (bytes / align + 1) * align));
  if (packed.host) return {};
  return fail(ErrorCode::out_of_memory, "packed_weight", {named("bytes", bytes)},
              "cannot allocate {} bytes for a packed weight", bytes);
}

// What lies before the first element is no part of the tensor, but keeps its place: contracts speak of offsets.
void copy_as_it_lies(const ConstTensor& weight, void* to) {
  const auto range = touched(weight.spec);
  if (!range) return;
  const std::size_t first = static_cast<std::size_t>(range->first) * size_of(weight.spec.dtype);
  std::memcpy(static_cast<std::byte*>(to) + first, static_cast<const std::byte*>(weight.data) + first,
              reach_of(weight.spec) - first);
}

// Collects what differs.
class Differences {
 public:
  template <class T>
  void compare(std::string_view what, const T& packed, const T& planned) {
    if (packed == planned) return;
    const auto text = [](const T& value) {
      if constexpr (std::is_same_v<T, Dims>)
        return text_of(value);
      else
        return fmt::format("{}", value);
    };
    text_ += fmt::format("{}{} is {}, the plan wants {}", text_.empty() ? "" : "; ", what, text(packed), text(planned));
    values_.emplace_back(fmt::format("packed {}", what), text(packed));
    values_.emplace_back(fmt::format("planned {}", what), text(planned));
  }
  bool any() const noexcept { return !text_.empty(); }
  Result<void> result() {
    if (!any()) return {};
    return tl::unexpected(Error{ErrorCode::invalid_argument, "packed_weight",
                                "the packed weight does not fit this plan: " + text_, std::move(values_)});
  }

 private:
  std::string text_;
  Values values_;
};

std::string_view id_of(const bind::Binding* packer) {
  return packer == nullptr ? "none" : std::string_view(packer->id);
}

std::string_view digest_of(const bind::Binding* packer) {
  return packer == nullptr ? std::string_view() : std::string_view(packer->contract->block_digest);
}

Dims pair_of(const std::int64_t (&values)[2]) { return {values[0], values[1]}; }

}  // namespace

Result<void> check_fit(const PackedWeight::Impl& packed, const Plan::Impl& plan) {
  const Slot& taken = taken_by(plan.route);
  const bind::Binding* packer = packer_of(plan.route);
  Differences differences;
  differences.compare("operation", name_of(packed.op), name_of(plan.request.geometry.op));
  differences.compare("weight dtype", name_of(packed.weight.dtype), name_of(plan.request.weight.dtype));
  differences.compare("weight shape", packed.weight.shape, plan.request.weight.shape);
  differences.compare("stride", pair_of(packed.params.stride), pair_of(plan.params.stride));
  differences.compare("padding", pair_of(packed.params.padding), pair_of(plan.params.padding));
  differences.compare("dilation", pair_of(packed.params.dilation), pair_of(plan.params.dilation));
  differences.compare("groups", packed.params.groups, plan.params.groups);
  // What follows from any of these would only hide it.
  if (differences.any()) return differences.result();
  differences.compare("Pack kernel", id_of(packed.packer), id_of(packer));
  differences.compare("digest of the Pack kernel", digest_of(packed.packer), digest_of(packer));
  if (differences.any()) return differences.result();
  differences.compare("dtype taken", name_of(packed.form.dtype), name_of(taken.spec.dtype));
  differences.compare("shape taken", packed.form.shape, taken.spec.shape);
  differences.compare("strides taken", packed.form.strides, taken.spec.strides);
  differences.compare("offset taken", packed.form.offset, taken.spec.offset);
  if (packer != nullptr) differences.compare("size in bytes", packed.bytes, taken.bytes);
  differences.compare("alignment", packed.form.align, std::max(packed.form.align, taken.spec.align));
  const auto place = [](const convoke_device* device) { return std::string_view(device ? device->name : "host"); };
  differences.compare("memory", place(packed.device), place(plan.route.device));
  return differences.result();
}

Result<PackedWeight> pack(const Plan::Impl& plan, const ConstTensor& weight, const RunOptions& options) {
  const Operands operands{{}, weight, {}, {}};
  if (auto ok = check_tensor(weight, plan.request.weight, "weight"); !ok) return tl::unexpected(ok.error());
  if (auto ok = check_scratch(operands, options); !ok) return tl::unexpected(ok.error());
  const Route& route = plan.route;
  auto packed = std::make_shared<PackedWeight::Impl>();
  packed->table = plan.table;
  packed->op = plan.request.geometry.op;
  packed->params = plan.params;
  packed->weight = plan.request.weight;
  packed->form = taken_by(route).spec;
  packed->packer = packer_of(route);
  packed->device = route.device;
  for (std::size_t i = route.weight_begin; i < route.weight_end; ++i) {
    packed->kernels.push_back(route.steps[i].binding->id);
    packed->digests.push_back(route.steps[i].binding->contract->block_digest);
  }
  const bool as_it_lies = is_as_it_lies(route);
  if (auto ok = reserve(*packed, as_it_lies ? reach_of(weight.spec) : taken_by(route).bytes); !ok)
    return tl::unexpected(ok.error());
  if (as_it_lies) {
    copy_as_it_lies(weight, packed->host.get());
  } else {
    const convoke_operand to = packed->operand();
    if (auto ok = run_steps(plan, Part::weight, operands, &to, options); !ok) return tl::unexpected(ok.error());
  }
  return PackedWeight(std::move(packed));
}

}  // namespace executor

convoke_operand PackedWeight::Impl::operand() const noexcept {
  return cpu::to_operand(form, device != nullptr ? on_device.at(0) : host.get(), bytes);
}

const std::vector<std::string>& PackedWeight::kernels() const noexcept { return impl_->kernels; }
const std::vector<std::string>& PackedWeight::digests() const noexcept { return impl_->digests; }
const TensorSpec& PackedWeight::weight() const noexcept { return impl_->weight; }
std::size_t PackedWeight::bytes() const noexcept { return impl_->bytes; }

}  // namespace convoke

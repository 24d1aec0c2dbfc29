// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/route.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/layout.hpp"
#include "plan/scope.hpp"

namespace convoke::planner {
namespace {

using bind::Operator;

// What scratch is aligned to where nobody asks for more: a cache line.
constexpr std::size_t scratch_align = 64;

TensorSpec dense(DType dtype, const Dims& shape, std::size_t align = scratch_align) {
  TensorSpec spec = TensorSpec::dense(dtype, shape);
  spec.align = align;
  return spec;
}

// The next multiple of a power of two.
std::size_t aligned(std::size_t bytes, std::size_t align) noexcept {
  const std::size_t mask = std::max<std::size_t>(align, 1) - 1;
  return (bytes + mask) & ~mask;
}

// An operand of the request, before anything was done to it.
struct Lying {
  Place place;
  std::string_view role;
  TensorSpec spec;
};

std::vector<Lying> operands_of(const Request& request) {
  std::vector<Lying> operands{{Place::x, "x", request.x}, {Place::weight, "weight", request.weight}};
  if (request.bias) operands.push_back({Place::bias, "bias", *request.bias});
  operands.push_back({Place::out, "out", request.out});
  return operands;
}

Clause no_copy(Operator op, const TensorSpec& from, const TensorSpec& to) {
  const std::string_view token = bind::token_of(op);
  return {std::string(token), fmt::format("a {} kernel for this layout", token),
          from.dtype == to.dtype ? fmt::format("none for {} of rank {}", name_of(from.dtype), from.shape.rank())
                                 : fmt::format("none from {} to {}", name_of(from.dtype), name_of(to.dtype))};
}

Clause too_large(std::string clause) { return {std::move(clause), "a size that fits the address space", "more"}; }

class Builder {
 public:
  Builder(Workshop& workshop, const bind::Binding& binding, const Variant& variant)
      : workshop_(workshop), binding_(binding), variant_(variant), lying_(operands_of(workshop.request())) {}

  tl::expected<Route, Clause> build();

 private:
  using Outcome = tl::expected<Slot, Clause>;

  bool is_packed(std::size_t operand) const noexcept;
  bool is_moved(std::size_t operand) const noexcept;
  tl::expected<Fit, Clause> fit() const;
  Outcome prepare(std::size_t input, const Fit& fit);
  Outcome convert(Operator op, const Slot& from, TensorSpec to, std::string_view role);
  Outcome pack(const Slot& from, const TensorSpec& to, std::string_view role);
  tl::expected<void, Clause> deliver(Slot result);
  Outcome reserve(const TensorSpec& spec, bool on_device, std::optional<double> bytes = std::nullopt);
  Workshop::Copy copy(Operator op, const TensorSpec& from, const TensorSpec& to, const convoke_device* device = nullptr,
                      const bind::Binding* packed_for = nullptr) {
    return workshop_.copy(route_.steps.size(), op, from, to, device, packed_for);
  }
  void add(const Workshop::Copy& copy, const Slot& from, const Slot& to, std::string_view role);
  tl::expected<void, Clause> add_workspace(Step& step, const std::vector<TensorSpec>& operands);
  tl::expected<void, Clause> add_main(const Fit& fit, std::vector<Slot> inputs);
  tl::expected<void, Clause> add_workspaces();
  void settle_scratch();

  Workshop& workshop_;
  const bind::Binding& binding_;
  Variant variant_;
  std::vector<Lying> lying_;
  Route route_;
  // Host scratch, while offsets in it are still counted from the start of either part.
  struct Region {
    std::size_t bytes = 0, align = 1;
  } main_, of_weight_;
  bool on_weight_ = false;  ///< what is reserved is for the weight's steps
};

bool Builder::is_packed(std::size_t operand) const noexcept {
  const auto& packing = binding_.contract->packing;
  return packing && operand < binding_.input_count() && binding_.contract->inputs[operand].name == packing->operand;
}

// Whether the kernel is handed the operand in memory of the route's own, whatever its contract says of layouts.
bool Builder::is_moved(std::size_t operand) const noexcept {
  return variant_.through || binding_.device != nullptr || is_packed(operand) ||
         (variant_.dense && !is_contiguous(lying_[operand].spec));
}

tl::expected<Fit, Clause> Builder::fit() const {
  std::vector<TensorSpec> offered;
  for (std::size_t i = 0; i < lying_.size(); ++i) {
    const TensorSpec& spec = lying_[i].spec;
    offered.push_back(is_moved(i) ? dense(variant_.through.value_or(spec.dtype), spec.shape) : spec);
    if (is_moved(i) && binding_.device != nullptr) offered.back().align = binding_.device->alignment;
  }
  return admit(binding_, workshop_.request(), offered);
}

// Regions of host scratch lie one after another, each at its own alignment; the device makes one allocation for each.
Builder::Outcome Builder::reserve(const TensorSpec& spec, bool on_device, std::optional<double> bytes) {
  const double wanted =
      bytes ? std::ceil(*bytes)
            : static_cast<double>(*element_count(spec.shape)) * static_cast<double>(size_of(spec.dtype));
  if (!(wanted <= 0x1p53)) return tl::unexpected(too_large("workspace"));
  const auto size = static_cast<std::size_t>(wanted);
  if (on_device) {
    route_.device_bytes.push_back(size);
    return Slot{Place::device, route_.device_bytes.size() - 1, size, spec};
  }
  Region& region = on_weight_ ? of_weight_ : main_;
  if (region.bytes > SIZE_MAX / 8) return tl::unexpected(too_large("workspace"));
  const std::size_t offset = aligned(region.bytes, spec.align);
  region = {offset + size, std::max(region.align, spec.align)};
  return Slot{Place::scratch, offset, size, spec};
}

void Builder::add(const Workshop::Copy& copy, const Slot& from, const Slot& to, std::string_view role) {
  route_.steps.push_back(
      {.binding = copy.binding, .inputs = {from}, .outputs = {to}, .price = copy.price, .role = role});
}

// One copying step into memory of the route's own, and a copy before it where its kernel wants one.
Builder::Outcome Builder::convert(Operator op, const Slot& from, TensorSpec to, std::string_view role) {
  const convoke_device* device = op == Operator::upload || op == Operator::download ? binding_.device : nullptr;
  const Workshop::Copy found = copy(op, from.spec, to, device);
  if (found.binding == nullptr) return tl::unexpected(no_copy(op, from.spec, to));
  const Outcome source = found.first ? convert(Operator::contiguize, from, *found.first, role) : Outcome(from);
  if (!source) return source;
  auto slot = reserve(to, op == Operator::upload);
  if (slot) add(found, *source, *slot, role);
  return slot;
}

Builder::Outcome Builder::pack(const Slot& from, const TensorSpec& to, std::string_view role) {
  const contract::Packing& packing = *binding_.contract->packing;
  const Workshop::Copy found = copy(Operator::pack, from.spec, to, binding_.device, &binding_);
  if (found.binding == nullptr)
    return tl::unexpected(Clause{"packing", "the Pack kernel " + packing.kernel, "none that takes this weight"});
  const Outcome source = found.first ? convert(Operator::contiguize, from, *found.first, role) : Outcome(from);
  if (!source) return source;
  std::vector<TensorSpec> operands;
  for (const Lying& operand : lying_)
    operands.push_back(dense(variant_.through.value_or(operand.spec.dtype), operand.spec.shape));
  const RequestScope scope(workshop_.request(), *binding_.contract, operands, binding_.input_count(), Use::cost);
  const std::optional<double> bytes = packing.bytes.evaluate(scope);
  if (!bytes) return tl::unexpected(Clause{"packing", packing.bytes.text(), "no usable value here"});
  auto slot = reserve(to, binding_.device != nullptr, bytes);
  if (slot) add(found, *source, *slot, role);
  return slot;
}

// What the kernel is handed for an input: the caller's tensor, or what becomes of it on the way.
Builder::Outcome Builder::prepare(std::size_t input, const Fit& fit) {
  const Lying& operand = lying_[input];
  const TensorSpec& wanted = fit.operands[input];
  const bool on_device = binding_.device != nullptr, packed = is_packed(input);
  Slot slot{operand.place, 0, 0, operand.spec};
  if (!is_moved(input) && !fit.copied[input]) return slot;
  if (operand.spec.dtype != wanted.dtype) {
    const TensorSpec cast = on_device || packed ? dense(wanted.dtype, wanted.shape) : wanted;
    auto made = convert(Operator::cast, slot, cast, operand.role);
    if (!made) return made;
    slot = *made;
  } else if (!on_device && !packed) {
    return convert(Operator::contiguize, slot, wanted, operand.role);
  }
  if (on_device) {
    auto made = convert(Operator::upload, slot, wanted, operand.role);
    if (!made) return made;
    slot = *made;
  }
  return packed ? pack(slot, wanted, operand.role) : Outcome(slot);
}

// From where the kernel wrote to the caller's `out`: the last step that can writes there itself.
tl::expected<void, Clause> Builder::deliver(Slot result) {
  const Slot out{Place::out, 0, 0, lying_.back().spec};
  if (result.place == Place::out) return {};
  std::vector<Operator> stages;
  if (binding_.device != nullptr) stages.push_back(Operator::download);
  if (variant_.through) stages.push_back(Operator::cast);
  for (const Operator stage : stages) {
    if (stage == stages.back()) {
      const convoke_device* device = stage == Operator::download ? binding_.device : nullptr;
      const Workshop::Copy last = copy(stage, result.spec, out.spec, device);
      if (last.binding != nullptr && !last.first) return add(last, result, out, "out"), tl::expected<void, Clause>();
    }
    const DType dtype = stage == Operator::cast ? out.spec.dtype : result.spec.dtype;
    auto made = convert(stage, result, dense(dtype, out.spec.shape), "out");
    if (!made) return tl::unexpected(made.error());
    result = *made;
  }
  const Workshop::Copy found = copy(Operator::copy_out, result.spec, out.spec);
  if (found.binding == nullptr) return tl::unexpected(no_copy(Operator::copy_out, result.spec, out.spec));
  add(found, result, out, "out");
  return {};
}

// Reserves what the kernel wants as workspace_bytes; a formula that cannot be evaluated refuses.
tl::expected<void, Clause> Builder::add_workspace(Step& step, const std::vector<TensorSpec>& operands) {
  const contract::Contract& contract = *step.binding->contract;
  if (!contract.workspace_bytes) return {};
  const RequestScope scope(workshop_.request(), contract, operands, step.binding->input_count(), Use::cost,
                           workshop_.options().threads);
  const std::optional<double> bytes = contract.workspace_bytes->evaluate(scope);
  if (!bytes || *bytes > 0x1p53)
    return tl::unexpected(Clause{"workspace_bytes", contract.workspace_bytes->text(), "no usable value here"});
  if (*bytes == 0) return {};
  TensorSpec spec;
  spec.align = scratch_align;
  const bool transfers = step.binding->op == Operator::upload || step.binding->op == Operator::download;
  auto slot = reserve(spec, step.binding->device != nullptr && !transfers, bytes);
  if (!slot) return tl::unexpected(slot.error());
  step.workspace = *slot;
  if (contract.workspace_bytes->mentions("threads")) step.most_threads = workshop_.options().threads;
  return {};
}

tl::expected<void, Clause> Builder::add_main(const Fit& fit, std::vector<Slot> inputs) {
  const std::size_t out = lying_.size() - 1;
  Slot result{Place::out, 0, 0, lying_[out].spec};
  if (is_moved(out) || fit.copied[out]) {
    auto made = reserve(fit.operands[out], binding_.device != nullptr);
    if (!made) return tl::unexpected(made.error());
    result = *made;
  }
  Step step{.binding = &binding_, .inputs = std::move(inputs), .outputs = {result}};
  if (auto ok = add_workspace(step, fit.operands); !ok) return ok;
  step.price = workshop_.price(binding_, fit.operands);
  route_.main_step = route_.steps.size();
  route_.steps.push_back(std::move(step));
  return deliver(result);
}

// Copies have scratch of their own where their contracts ask for it; the main step has it already.
tl::expected<void, Clause> Builder::add_workspaces() {
  for (std::size_t i = 0; i < route_.steps.size(); ++i) {
    if (i == route_.main_step) continue;
    Step& step = route_.steps[i];
    std::vector<TensorSpec> ends;
    for (const Slot& slot : step.inputs) ends.push_back(slot.spec);
    for (const Slot& slot : step.outputs) ends.push_back(slot.spec);
    on_weight_ = is_of_weight(route_, i);
    if (auto ok = add_workspace(step, ends); !ok) return ok;
  }
  return {};
}

// Puts what the weight's steps need behind the rest: a run whose weight is packed needs only what comes before.
void Builder::settle_scratch() {
  route_.weight_scratch = main_.bytes;
  route_.scratch_bytes = main_.bytes;
  if (route_.weight_begin == route_.weight_end) return;  // an empty weight's steps have a place too
  const std::size_t start = aligned(main_.bytes, of_weight_.align);
  route_.scratch_bytes = start + of_weight_.bytes;
  const auto move = [start](Slot& slot) {
    if (slot.place == Place::scratch) slot.scratch_offset += start;
  };
  for (std::size_t i = route_.weight_begin; i < route_.weight_end; ++i) {
    Step& step = route_.steps[i];
    move(step.inputs.front());
    move(step.outputs.front());
    if (step.workspace) move(*step.workspace);
  }
  move(route_.steps[route_.main_step].inputs[weight_operand]);
}

tl::expected<Route, Clause> Builder::build() {
  const auto fit = this->fit();
  if (!fit) return tl::unexpected(fit.error());
  route_.device = binding_.device;
  route_.threads = workshop_.options().threads;
  route_.packed_weight = workshop_.options().packed_weight;
  std::vector<Slot> inputs;
  for (std::size_t i = 0; i + 1 < lying_.size(); ++i) {
    on_weight_ = i == weight_operand;
    if (on_weight_) route_.weight_begin = route_.steps.size();
    auto slot = prepare(i, *fit);
    if (!slot) return tl::unexpected(std::move(slot.error()));
    if (on_weight_) route_.weight_end = route_.steps.size();
    inputs.push_back(*slot);
  }
  on_weight_ = false;
  if (auto ok = add_main(*fit, std::move(inputs)); !ok) return tl::unexpected(std::move(ok.error()));
  if (auto ok = add_workspaces(); !ok) return tl::unexpected(std::move(ok.error()));
  settle_scratch();
  for (std::size_t i = 0; i < route_.steps.size(); ++i)
    if (!route_.packed_weight || !is_of_weight(route_, i)) route_.ns += route_.steps[i].price.ns;
  const auto& cap = workshop_.options().workspace_cap;
  if (const std::size_t wanted = workspace_bytes(route_); cap && wanted > *cap)
    return tl::unexpected(Clause{"workspace", fmt::format("at most {} bytes", *cap), fmt::to_string(wanted)});
  return std::move(route_);
}

}  // namespace

tl::expected<Route, Clause> build_route(Workshop& workshop, const bind::Binding& binding, const Variant& variant) {
  return Builder(workshop, binding, variant).build();
}

std::string text_of(const Route& route) {
  std::string text;
  for (const Step& step : route.steps) {
    if (!text.empty()) text += " > ";
    text += bind::convolves(step.binding->op) ? step.binding->id
                                              : fmt::format("{}({})", bind::token_of(step.binding->op), step.role);
  }
  return text;
}

}  // namespace convoke::planner

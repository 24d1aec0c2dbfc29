// SPDX-License-Identifier: Apache-2.0 OR MIT
// The kernels that the Vulkan seed document names, and transfers, on the fake device.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/host.hpp"
#include "bind/link_registry.hpp"
#include "kernels/portable/entries.hpp"
#include "tests/device/fake_device.hpp"
#include "tests/device/operand_facts.hpp"

namespace convoke::fake {

std::int32_t call_portable(std::string_view name, const convoke_call& call, std::span<const convoke_operand> inputs,
                           const convoke_operand& output) noexcept {
  const std::string symbol = "convoke::portable::" + std::string(name);
  const bind::Resolution found = bind::resolve_in(portable::entries(), symbol, host().isa);
  if (found.function() == nullptr || inputs.size() > 3) return CONVOKE_RUNTIME_FAILURE;
  std::array<const convoke_operand*, 3> in{};
  for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = &inputs[i];
  const convoke_operand* const out = &output;
  convoke_call changed = call;
  changed.inputs = in.data();
  changed.outputs = &out;
  changed.input_count = static_cast<std::int32_t>(inputs.size());
  return found.function()(&changed);
}

namespace {

std::int32_t broken(std::string clause) {
  FakeDevice::get().fault("a kernel was handed what its contract excludes: " + clause);
  return CONVOKE_RUNTIME_FAILURE;
}

// The operand with host memory for its handle; data is null where the handle is none.
convoke_operand on_host(const convoke_operand& operand) {
  convoke_operand changed = operand;
  changed.data = FakeDevice::get().memory(operand.data, operand.bytes);
  return changed;
}

bool is_plain(const convoke_operand& operand) noexcept {
  return is_dense(operand) && operand.offset == 0 && lies_inside(operand);
}

enum class Way { up, down };

template <Way way>
std::int32_t transfer(const convoke_call* call) noexcept {
  if (call->input_count != 1 || call->output_count != 1 || call->params != nullptr) return broken("transfer: operands");
  const convoke_operand &from = *call->inputs[0], &to = *call->outputs[0];
  if (!is_plain(from) || !is_plain(to)) return broken("transfer: layout");
  if (from.dtype != to.dtype || elements(from) != elements(to)) return broken("transfer: shape");
  if (FakeDevice::is_handle(from.data) != (way == Way::down)) return broken("transfer: source");
  if (FakeDevice::is_handle(to.data) != (way == Way::up)) return broken("transfer: target");
  const convoke_operand source = way == Way::down ? on_host(from) : from, target = way == Way::up ? on_host(to) : to;
  if (source.data == nullptr || target.data == nullptr) return elements(from) == 0 ? CONVOKE_OK : broken("no memory");
  std::memcpy(target.data, source.data, static_cast<std::size_t>(elements(from) * element_size(from)));
  return CONVOKE_OK;
}

// What the document says of conv2d, clause by clause; empty: all of it holds.
std::string_view broken_clause(const convoke_call& call, bool cooperative) noexcept {
  if (call.input_count != 2 || call.output_count != 1) return "x and weight, no bias";
  const convoke_operand &x = *call.inputs[0], &weight = *call.inputs[1], &out = *call.outputs[0];
  for (const convoke_operand* operand : {&x, &weight, &out}) {
    if (operand->rank != 4) return "rank";
    if (!is_plain(*operand)) return "layout";
    if (!FakeDevice::is_handle(operand->data)) return "device memory";
  }
  const auto& p = *static_cast<const convoke_conv_params*>(call.params);
  if (p.dilation[0] != 1 || p.dilation[1] != 1) return "dilation == (1, 1)";
  if (p.groups == 0 || x.shape[1] % p.groups != 0 || out.shape[1] % p.groups != 0) return "groups";
  if (weight.shape[1] == 0 || x.shape[1] % weight.shape[1] != 0) return "divisible(x.dim[1], weight.dim[1])";
  if (weight.shape[1] != x.shape[1] / p.groups) return "weight.dim[1] == x.dim[1] / groups";
  if (cooperative && out.shape[1] % 16 != 0) return "Cout % 16 == 0";
  if (cooperative && out.shape[2] * out.shape[3] % 16 != 0) return "Ho * Wo % 16 == 0";
  return {};
}

std::int32_t conv2d(const convoke_call& call, std::string_view name, bool cooperative) noexcept {
  if (const std::string_view clause = broken_clause(call, cooperative); !clause.empty())
    return broken(fmt::format("{}: {}", name, clause));
  const std::array<convoke_operand, 2> inputs{on_host(*call.inputs[0]), on_host(*call.inputs[1])};
  const convoke_operand out = on_host(*call.outputs[0]);
  if (inputs[0].data == nullptr || inputs[1].data == nullptr || out.data == nullptr) return broken("no memory");
  return call_portable(name, call, inputs, out);
}

#define SEED "fuel_vulkan_backend::fkc::"
constexpr auto seed_entries = std::to_array<convoke_entry>({
    {SEED "conv2d_f32", CONVOKE_CONV2D, CONVOKE_F32, CONVOKE_F32, 0,
     [](const convoke_call* call) { return conv2d(*call, "conv2d_f32", false); }},
    {SEED "conv2d_bf16", CONVOKE_CONV2D, CONVOKE_BF16, CONVOKE_BF16, 0,
     [](const convoke_call* call) { return conv2d(*call, "conv2d_bf16", true); }},
    {SEED "conv2d_f16", CONVOKE_CONV2D, CONVOKE_F16, CONVOKE_F16, 0,
     [](const convoke_call* call) { return conv2d(*call, "conv2d_f16", true); }},
    {SEED "upload_f32", CONVOKE_UPLOAD, CONVOKE_F32, CONVOKE_F32, 0, transfer<Way::up>},
    {SEED "upload_f64", CONVOKE_UPLOAD, CONVOKE_F64, CONVOKE_F64, 0, transfer<Way::up>},
    {SEED "upload_bf16", CONVOKE_UPLOAD, CONVOKE_BF16, CONVOKE_BF16, 0, transfer<Way::up>},
    {SEED "upload_f16", CONVOKE_UPLOAD, CONVOKE_F16, CONVOKE_F16, 0, transfer<Way::up>},
    {SEED "download_f32", CONVOKE_DOWNLOAD, CONVOKE_F32, CONVOKE_F32, 0, transfer<Way::down>},
    {SEED "download_f64", CONVOKE_DOWNLOAD, CONVOKE_F64, CONVOKE_F64, 0, transfer<Way::down>},
    {SEED "download_bf16", CONVOKE_DOWNLOAD, CONVOKE_BF16, CONVOKE_BF16, 0, transfer<Way::down>},
    {SEED "download_f16", CONVOKE_DOWNLOAD, CONVOKE_F16, CONVOKE_F16, 0, transfer<Way::down>},
});
#undef SEED

Document document(const std::string& path) {
  return {path, read_file(std::string(CONVOKE_SOURCE_DIR "/") + path).value()};
}

}  // namespace

bind::Provider seed_provider() {
  return {"fuel_vulkan_backend::fkc::ENTRY_POINTS", contract::Backend::vulkan, seed_entries, FakeDevice::get().face()};
}

Document transfers() { return document("tests/device/transfers.fkc.md"); }

const Catalog& seed_catalog() {
  static const Catalog catalog =
      bind::make_catalog({document("suites/contracts/vulkan-conv.fkc.md"), transfers()}, {seed_provider()}).value();
  return catalog;
}

}  // namespace convoke::fake

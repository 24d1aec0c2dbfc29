// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bind/link_registry.hpp"

#include <array>
#include <span>
#include <string>

#include "kernels/portable/entries.hpp"
#include "kernels/simd/entries.hpp"

namespace convoke::bind {
namespace {

Resolution resolve_own(std::string_view symbol, std::uint32_t host_isa) {
  for (const auto table : {portable::entries(), simd::entries()}) {
    if (const Resolution found = resolve_in(table, symbol, host_isa); found.known) return found;
  }
  return {};
}

// The CPU seed's names: its eight kernels are ours of the same name.
Resolution resolve_seed_cpu(std::string_view symbol, std::uint32_t host_isa) {
  constexpr std::string_view prefix = "fuel_cpu_backend::byte_kernels::conv";
  if (!symbol.starts_with(prefix)) return {};
  return resolve_own("convoke::portable::conv" + std::string(symbol.substr(prefix.size())), host_isa);
}

// The Vulkan seed's names are known, and have no function until a Vulkan backend is built in.
Resolution resolve_seed_vulkan(std::string_view symbol, std::uint32_t) {
  constexpr std::array<std::string_view, 3> symbols = {"fuel_vulkan_backend::fkc::conv2d_f32",
                                                       "fuel_vulkan_backend::fkc::conv2d_bf16",
                                                       "fuel_vulkan_backend::fkc::conv2d_f16"};
  Resolution found;
  for (std::string_view name : symbols) found.known = found.known || name == symbol;
  return found;
}

constexpr std::array<LinkRegistry, 3> registries = {{
    {"convoke", resolve_own},
    {"fuel_cpu_backend::byte_kernels::ENTRY_POINTS", resolve_seed_cpu},
    {"fuel_vulkan_backend::fkc::ENTRY_POINTS", resolve_seed_vulkan},
}};

}  // namespace

Resolution resolve_in(std::span<const convoke_entry> table, std::string_view symbol, std::uint32_t host_isa) {
  Resolution found;
  for (const convoke_entry& row : table) {
    if (row.symbol != symbol) continue;
    found = {true, &row, row.isa & ~host_isa};
    if (found.missing_isa == 0) break;
  }
  return found;
}

const LinkRegistry* find_registry(std::string_view name) noexcept {
  for (const LinkRegistry& registry : registries)
    if (registry.name == name) return &registry;
  return nullptr;
}

std::string_view registry_names() noexcept {
  return "convoke, fuel_cpu_backend::byte_kernels::ENTRY_POINTS, fuel_vulkan_backend::fkc::ENTRY_POINTS";
}

}  // namespace convoke::bind

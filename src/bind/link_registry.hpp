// SPDX-License-Identifier: Apache-2.0 OR MIT
// From the symbol in a contract's entry_point to the function that this build has for it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/common/kernel.h"

namespace convoke::bind {

/// What a symbol stands for. `known` without an entry: the registry names the symbol, but its backend is not built in.
/// An entry with `missing_isa`: the host cannot run it.
struct Resolution {
  bool known = false;
  const convoke_entry* entry = nullptr;
  std::uint32_t missing_isa = 0;

  convoke_host_kernel function() const noexcept {
    return entry == nullptr || missing_isa != 0 ? nullptr : entry->function;
  }
};

/// A named symbol table. Documents name the one they are bound through in `provider.link_registry`.
struct LinkRegistry {
  std::string_view name;
  Resolution (*resolve)(std::string_view symbol, std::uint32_t host_isa);
};

/// Looks `symbol` up in a table whose rows of one symbol stand in order of preference: the first that the host can run
/// is the one.
Resolution resolve_in(std::span<const convoke_entry> table, std::string_view symbol, std::uint32_t host_isa);

/// The registry of that name, or null. A document that names none is bound through `convoke`.
const LinkRegistry* find_registry(std::string_view name) noexcept;

/// Names of all registries, for messages.
std::string_view registry_names() noexcept;

}  // namespace convoke::bind

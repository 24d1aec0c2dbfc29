// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/version_text.hpp"

#include <fmt/format.h>

#include "base/host.hpp"
#include "bind/builtin_documents.hpp"
#include "bind/link_registry.hpp"
#include "contract/contract.hpp"
#include "convoke/version.hpp"

namespace convoke::cli {
namespace {

// Instruction sets that some built-in kernel has code of its own for: a richer host gets another function.
std::uint32_t built_isa() {
  std::uint32_t built = 0;
  for (const bind::BuiltinDocument& builtin : bind::builtin_documents()) {
    const auto document = contract::parse_document(builtin.text, builtin.path);
    if (!document.provider) continue;
    const auto* registry = bind::find_registry(document.provider->link_registry.value_or("convoke"));
    for (const contract::Contract& contract : document.contracts)
      for (const contract::Key& key : contract::keys(contract)) {
        std::uint32_t host_isa = 0;
        for (const std::uint32_t bit : {isa_of_name("fma"), isa_of_name("avx512")}) {
          const auto poorer = registry == nullptr ? bind::Resolution{} : registry->resolve(key.symbol, host_isa);
          host_isa |= bit;
          const auto richer = registry == nullptr ? bind::Resolution{} : registry->resolve(key.symbol, host_isa);
          if (richer.function() != poorer.function()) built |= bit;
        }
      }
  }
  return built;
}

std::string isa_text(std::uint32_t isa) {
  std::string text = "baseline";
  for (const std::string& name : isa_names(isa)) text += " " + name;
  return text;
}

}  // namespace

std::string version_text() {
  const BuildInfo& build = build_info();
  return fmt::format(
      "convoke {}\n"
      "  commit    {}\n"
      "  compiler  {} ({})\n"
      "  isa       kernels for {}; this {} host has {}\n",
      build.version, build.commit, build.compiler, build.build_type, isa_text(built_isa()), host().arch,
      isa_text(host().isa));
}

}  // namespace convoke::cli

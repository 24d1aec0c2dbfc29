// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "contract/contract.hpp"
#include "contract/report.hpp"
#include "contract/yaml.hpp"

namespace convoke::contract {

/// The newest fkc_version that we read.
inline constexpr std::uint64_t newest_version = 1;

/// Front matter as it stands in one file; anything may be absent.
struct FrontMatter {
  Position at;  ///< of the `provider` mapping
  std::optional<std::uint64_t> fkc_version;
  Position version_at;
  std::optional<std::string> name, kernel_source, link_registry, revision_base;
  std::optional<Backend> backend;
  std::set<std::string, std::less<>> faulty;  ///< fields that stand there, were not understood, and are reported
  std::map<std::string, Place, std::less<>> places;
};

/// Reads the keys; reports what is malformed, nothing that is missing.
FrontMatter read_front_matter(const YamlNode& root, Report& report);

/// `own`, with what it lacks from `inherited`.
FrontMatter inherit(FrontMatter own, const FrontMatter& inherited);

/// The provider, or nullopt with every missing field reported.
std::optional<Provider> complete(const FrontMatter& front, Report& report);

}  // namespace convoke::contract

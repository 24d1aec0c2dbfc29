// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "contract/yaml.hpp"

namespace convoke::contract {

/// The format's revision hash of a block (docs/format.md, A block): FNV-1a over its interface, not over its code.
std::uint64_t revision_hash(const YamlNode& block, std::string_view revision_base);

/// Contract::block_digest of the lines between the fences.
std::string block_digest(const std::vector<std::string_view>& lines);

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// From the YAML of one section to a Contract, rule by rule (docs/format.md, A block and Findings).
#pragma once

#include <string_view>

#include "contract/contract.hpp"
#include "contract/report.hpp"
#include "contract/yaml.hpp"

namespace convoke::contract {

/// Reads and validates a block; every finding goes to `report`. The result counts only when no error was reported.
/// `provider` may be nullptr (the front matter was broken): what would be inherited then stays at its default.
/// Heading, digest and line are the caller's to fill in.
Contract read_block(const YamlNode& root, const Provider* provider, Report& report);

}  // namespace convoke::contract

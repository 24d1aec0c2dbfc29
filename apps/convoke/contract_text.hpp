// SPDX-License-Identifier: Apache-2.0 OR MIT
// A contract as text for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "contract/contract.hpp"

namespace convoke::cli {

/// The revision hash, 16 digits.
std::string hash_text(const contract::Contract& contract);

/// Everything the contract says, one fact a line, in at most `width` columns where it can be broken.
std::string contract_text(const contract::Contract& contract, const std::string& path,
                          const std::vector<std::string>& ids, int width);

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string>
#include <vector>

#include "apps/convoke/output.hpp"

namespace convoke::cli {

/// Whether every key has a bit-stable CPU kernel whose claims are relied on, in the built-in contracts and those at
/// `paths`. Exit 1 where one has none.
Result<Report> contract_coverage(const std::vector<std::string>& paths, bool json);

}  // namespace convoke::cli

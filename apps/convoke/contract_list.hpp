// SPDX-License-Identifier: Apache-2.0 OR MIT
// What contracts say, for people who choose among kernels.
#pragma once

#include <string>
#include <vector>

#include "apps/convoke/output.hpp"

namespace convoke::cli {

/// Kernels and keys of the documents at `paths`, or the built-in ones where there are none. Nothing is linked.
/// A document with errors is left out and named on standard error: exit 1; 2 where a path cannot be read.
Result<Report> list_contracts(const std::vector<std::string>& paths, bool json);

/// Every contract with a key or kernel name that `name` is or matches. Errors: not_found.
Result<Report> show_contract(const std::string& name, const std::vector<std::string>& paths);

}  // namespace convoke::cli

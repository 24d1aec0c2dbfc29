// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reading contract documents for their author: findings, and the document written out afresh.
#pragma once

#include <string>
#include <vector>

#include "apps/convoke/output.hpp"

namespace convoke::cli {

/// Findings of all documents, then what each holds. Exit 1 where there is an error; warnings alone are well.
/// Exit 2 where a path cannot be read: it counts as a document with that one finding, and the others are checked.
Result<Report> check_contracts(const std::vector<std::string>& paths, bool json);

enum class FormatMode { print, write, check };

/// The documents written out. A document with errors: its findings, exit 1, and no file is changed.
Result<Report> format_contracts(const std::vector<std::string>& paths, FormatMode mode);

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
// `convoke suite --regret`: every admitted route of each layer, run and timed, against the one that its price chose.
#pragma once

#include <string>
#include <vector>

#include "apps/convoke/output.hpp"
#include "apps/convoke/suite_cases.hpp"
#include "convoke/catalog.hpp"
#include "convoke/error.hpp"

namespace convoke::cli {

/// Runs the layers of these lists with a dense x and with x in channels_last, under the demand `any`, priced by the
/// table at `rates` (empty: the one that `convoke calibrate` wrote). Errors: io, invalid_file.
Result<Report> regret_report(const std::vector<std::string>& files, const Catalog& catalog, const SuiteOptions& options,
                             const std::string& rates, bool json);

}  // namespace convoke::cli

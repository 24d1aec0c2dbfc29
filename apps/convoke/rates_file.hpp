// SPDX-License-Identifier: Apache-2.0 OR MIT
// The rates of this machine, where a calibration left them.
#pragma once

#include <string>

#include "convoke/error.hpp"
#include "convoke/rates.hpp"

namespace convoke::cli {

/// Where `convoke calibrate` keeps its table: $CONVOKE_RATES, else convoke/rates.json below $XDG_DATA_HOME or
/// ~/.local/share. Empty where none of these is set.
std::string rates_path();

/// The table at `path`; an empty path means rates_path(), and the defaults where there is no file. Errors: io,
/// invalid_file.
Result<Rates> load_rates(const std::string& path);

}  // namespace convoke::cli

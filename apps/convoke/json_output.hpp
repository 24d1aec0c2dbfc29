// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string>

#include "base/json.hpp"

namespace convoke::cli {

/// The one JSON document of a `--json` report, with an end of line. Bytes that are not UTF-8 become U+FFFD.
inline std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace convoke::cli

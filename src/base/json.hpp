// SPDX-License-Identifier: Apache-2.0 OR MIT
// The one door to the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "convoke/error.hpp"

namespace convoke {

/// Keeps keys in the order they were written.
using Json = nlohmann::ordered_json;

/// Deepest nesting of arrays and objects that parse_json takes.
inline constexpr int max_json_depth = 64;

/// Reads one JSON document. Errors: invalid_file, rule `json`, text `PATH:LINE:COLUMN: ...`; line and column, from 1
/// and in bytes, stand in the values too. Nesting beyond max_json_depth and a key given twice are errors.
Result<Json> parse_json(std::string_view text, std::string_view path);

}  // namespace convoke

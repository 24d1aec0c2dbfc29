// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string_view>

namespace convoke {

/// Whether all of `text` matches `pattern`: `*` is any run of bytes (`/` too), `?` one byte, the rest itself. Time is
/// at most the product of both lengths.
bool glob_match(std::string_view pattern, std::string_view text) noexcept;

}  // namespace convoke

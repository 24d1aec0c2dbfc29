// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace convoke {

/// Nanoseconds for people, in up to four digits: `850 ns`, `1.25 us`, `16.4 ms`, `2.5 s`.
inline std::string duration_text(double ns) {
  constexpr std::array<std::pair<double, std::string_view>, 3> units = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  for (const auto& [size, unit] : units)
    if (ns >= size) return fmt::format("{:.4g} {}", ns / size, unit);
  return fmt::format("{:.4g} ns", ns);
}

}  // namespace convoke

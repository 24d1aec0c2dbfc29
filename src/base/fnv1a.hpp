// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstdint>
#include <string_view>

namespace convoke {

inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325u;

/// FNV-1a of `bytes`, 64 bits; pass an earlier result as `hash` to go on from there.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = fnv1a_start) noexcept {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return hash;
}

}  // namespace convoke

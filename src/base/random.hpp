// SPDX-License-Identifier: Apache-2.0 OR MIT
// The one source of chance: integers only, so every platform draws the same numbers.
#pragma once

#include <cstdint>

namespace convoke {

/// One step of splitmix64: spreads a counter or a seed over 64 bits.
constexpr std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// xoshiro256** seeded by splitmix64. Not for secrets.
class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) noexcept {
    for (std::uint64_t& word : state_) word = splitmix64(seed);
  }

  /// 64 random bits.
  constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = rotated(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotated(state_[3], 45);
    return result;
  }

  /// A number of [0, n), each as likely; n >= 1.
  constexpr std::uint64_t below(std::uint64_t n) noexcept {
    // The first 2^64 mod n values would make the low residues likelier: draw again.
    const std::uint64_t skipped = (0 - n) % n;
    std::uint64_t drawn = next();
    while (drawn < skipped) drawn = next();
    return drawn % n;
  }

  /// A number of [low, high], each as likely; low <= high, and not the whole of int64.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) noexcept {
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + below(span + 1));
  }

 private:
  static constexpr std::uint64_t rotated(std::uint64_t x, int by) noexcept { return (x << by) | (x >> (64 - by)); }
  std::uint64_t state_[4] = {};
};

}  // namespace convoke

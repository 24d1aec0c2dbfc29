// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/words.hpp"

namespace convoke::contract {
namespace {

template <class E, std::size_t N>
std::string_view spelled(const std::array<Meaning<E>, N>& table, E value) noexcept {
  for (const Meaning<E>& row : table)
    if (row.value == value) return row.word;
  return "?";
}

}  // namespace

std::string_view word_of(AwkwardStrategy strategy) noexcept { return spelled(strategy_words, strategy); }
std::string_view word_of(Determinism determinism) noexcept { return spelled(determinism_words, determinism); }

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Closed vocabularies as tables: a word and what it means.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/contract.hpp"
#include "contract/text.hpp"

namespace convoke::contract {

template <class E>
struct Meaning {
  std::string_view word;
  E value;
};

template <class E, std::size_t N>
std::optional<E> look_up(const std::array<Meaning<E>, N>& table, std::string_view word) noexcept {
  for (const Meaning<E>& row : table)
    if (row.word == word) return row.value;
  return std::nullopt;
}

/// `a, b or c`: the words of a table.
template <class E, std::size_t N>
std::string words_of(const std::array<Meaning<E>, N>& table) {
  std::vector<std::string_view> words;
  for (const Meaning<E>& row : table) words.push_back(row.word);
  return one_of(words);
}

inline constexpr std::array backend_words = {
    Meaning<Backend>{"Cpu", Backend::cpu},
    Meaning<Backend>{"Cuda", Backend::cuda},
    Meaning<Backend>{"Vulkan", Backend::vulkan},
    Meaning<Backend>{"Metal", Backend::metal},
};

inline constexpr std::array strategy_words = {
    Meaning<AwkwardStrategy>{"requires_contiguous", AwkwardStrategy::requires_contiguous},
    Meaning<AwkwardStrategy>{"handles_strided", AwkwardStrategy::handles_strided},
    Meaning<AwkwardStrategy>{"contiguize_internally", AwkwardStrategy::contiguize_internally},
};

inline constexpr std::array determinism_words = {
    Meaning<Determinism>{"bitwise", Determinism::bitwise},
    Meaning<Determinism>{"same_hardware_bitwise", Determinism::same_hardware_bitwise},
    Meaning<Determinism>{"nondeterministic", Determinism::nondeterministic},
};

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Small helpers of the readers in this folder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace convoke::problem {

/// A decimal number with an optional minus sign and nothing else; nullopt also where it does not fit.
std::optional<std::int64_t> parse_integer(std::string_view text) noexcept;

/// The pieces between separators; one empty piece for an empty text.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The text without spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text) noexcept;

/// What a message may repeat of a text: cut after 60 bytes, unprintable bytes as `?`.
std::string clipped(std::string_view text);
/// The same in backticks.
std::string ticked(std::string_view text);

/// `; did you mean `stride`?` where a candidate is close to the word, else nothing.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

/// What is wrong, as the readers of a file's values return it.
inline tl::unexpected<std::string> refuse(std::string text) { return tl::unexpected(std::move(text)); }

}  // namespace convoke::problem

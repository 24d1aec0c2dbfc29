// SPDX-License-Identifier: Apache-2.0 OR MIT
// Text as the importer sees it: lines without their ends, places in them, and what is fit to be shown.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::contract {

/// A place in a file; line 0 is the file as a whole. Both count from 1, columns in bytes.
struct Position {
  int line = 0;
  int column = 0;
};

/// The lines of `text`, split at LF; a CR before it belongs to the line end. Views into `text`.
std::vector<std::string_view> split_lines(std::string_view text);

/// Without blanks (space, tab, CR) at either end.
std::string_view trim(std::string_view text) noexcept;
std::string_view trim_left(std::string_view text) noexcept;
std::string_view trim_right(std::string_view text) noexcept;

/// Offset of the first byte that is not well-formed UTF-8 or is a control character other than tab, LF and a CR before
/// LF; nullopt: all is text.
std::optional<std::size_t> find_bad_byte(std::string_view text) noexcept;

/// A copy that any terminal and any JSON writer can take: control characters and broken UTF-8 become `?`.
std::string printable(std::string_view text);

/// A window of a line.
struct Excerpt {
  std::string text;
  int column = 0;  ///< where `column` of the whole line lies in `text`
};

/// At most about `width` bytes of `line` around `column`, with `...` where something was cut off; never cuts a
/// character. A line that is short enough comes back whole.
Excerpt excerpt(std::string_view line, int column, std::size_t width);

/// Offset of the first control character (those of Unicode too), line separator or character that turns the direction
/// of a text; nullopt: all of it shows as it stands.
std::optional<std::size_t> find_unprintable(std::string_view text) noexcept;

/// Those of `known` that `word` is most likely a misspelling of, at most three; none: it resembles none of them.
std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known);
/// `; did you mean `a`?`, or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);
/// The nearest words, for a note; `otherwise` where there are none.
std::string nearest_or(std::string_view word, std::span<const std::string_view> known, std::string_view otherwise);

/// `a, b or c`, for notes that list what is accepted.
std::string one_of(const std::vector<std::string_view>& words);

}  // namespace convoke::contract

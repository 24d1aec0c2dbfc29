// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/text.hpp"

#include <algorithm>

namespace convoke::contract {
namespace {

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; }

/// Bytes of the UTF-8 character at `at`; 0 where it is malformed (overlong, surrogate, beyond U+10FFFF, cut off).
std::size_t character_length(std::string_view text, std::size_t at) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[at + i]); };
  const std::size_t left = text.size() - at;
  const auto follows = [&](std::size_t count) {
    if (left <= count) return false;
    for (std::size_t i = 1; i <= count; ++i)
      if (!is_continuation(text[at + i])) return false;
    return true;
  };
  const unsigned lead = byte(0);
  if (lead < 0x80u) return 1;
  if (lead >= 0xC2u && lead <= 0xDFu) return follows(1) ? 2 : 0;
  if (lead >= 0xE0u && lead <= 0xEFu) {
    if (!follows(2) || (lead == 0xE0u && byte(1) < 0xA0u) || (lead == 0xEDu && byte(1) > 0x9Fu)) return 0;
    return 3;
  }
  if (lead >= 0xF0u && lead <= 0xF4u) {
    if (!follows(3) || (lead == 0xF0u && byte(1) < 0x90u) || (lead == 0xF4u && byte(1) > 0x8Fu)) return 0;
    return 4;
  }
  return 0;
}

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20u || byte == 0x7Fu;
}

/// Insertions, deletions, substitutions and swaps of neighbours between two short words; case does not count.
std::size_t edits(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    next[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      next[j] = std::min({row[j] + 1, next[j - 1] + 1, row[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) next[j] = std::min(next[j], before[j - 2] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row[b.size()];
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (end != std::string_view::npos && line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::string_view trim_left(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  return text;
}

std::string_view trim_right(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view trim(std::string_view text) noexcept { return trim_left(trim_right(text)); }

std::optional<std::size_t> find_bad_byte(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (is_control(c) && c != '\t' && c != '\n') {
      const bool line_end = c == '\r' && at + 1 < text.size() && text[at + 1] == '\n';
      if (!line_end) return at;
    }
    const std::size_t length = character_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0 || (is_control(text[at]) && text[at] != '\t')) {
      out.push_back('?');
      ++at;
    } else {
      out.append(text.substr(at, length));
      at += length;
    }
  }
  return out;
}

Excerpt excerpt(std::string_view line, int column, std::size_t width) {
  if (line.size() <= width) return {std::string(line), column};
  constexpr std::string_view dots = "...";
  const std::size_t here = std::min(line.size(), column > 0 ? static_cast<std::size_t>(column - 1) : 0);
  std::size_t begin = here > width / 2 ? here - width / 2 : 0;
  begin = std::min(begin, line.size() - width);
  std::size_t end = begin + width;
  while (begin < here && is_continuation(line[begin])) ++begin;
  while (end > here && end < line.size() && is_continuation(line[end])) --end;
  Excerpt out;
  if (begin > 0) out.text += dots;
  out.column = column > 0 ? static_cast<int>(out.text.size() + here - begin) + 1 : 0;
  out.text += line.substr(begin, end - begin);
  if (end < line.size()) out.text += dots;
  return out;
}

std::optional<std::size_t> find_unprintable(std::string_view text) noexcept {
  // U+0080 to U+009F, U+061C, U+200E and U+200F, U+2028 to U+202E, U+2066 to U+2069, as UTF-8.
  const auto turns = [&](std::size_t at) {
    const auto byte = [&](std::size_t i) {
      return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
    };
    if (byte(0) == 0xC2) return byte(1) >= 0x80 && byte(1) <= 0x9F;
    if (byte(0) == 0xD8) return byte(1) == 0x9C;
    if (byte(0) != 0xE2) return false;
    if (byte(1) == 0x80) return byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE);
    return byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  };
  for (std::size_t at = 0; at < text.size(); ++at)
    if (is_control(text[at]) || turns(at)) return at;
  return std::nullopt;
}

std::vector<std::string_view> nearest(std::string_view word, std::span<const std::string_view> known) {
  constexpr std::size_t longest = 64;  // no word of the format is longer
  std::vector<std::string_view> best;
  if (word.empty() || word.size() > longest) return best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3);
  for (const std::string_view candidate : known) {
    if (candidate.empty() || candidate.size() > longest) continue;
    const std::size_t distance = edits(word, candidate);
    // A word of which nothing stays is another word.
    if (distance > least || distance >= std::max(word.size(), candidate.size())) continue;
    if (distance < least) best.clear();
    least = distance;
    if (std::ranges::find(best, candidate) == best.end()) best.push_back(candidate);
  }
  if (best.size() > 3) best.resize(3);
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::vector<std::string_view> near = nearest(word, known);
  return near.empty() ? std::string() : "; did you mean `" + std::string(near.front()) + "`?";
}

std::string nearest_or(std::string_view word, std::span<const std::string_view> known, std::string_view otherwise) {
  const std::vector<std::string_view> near = nearest(word, known);
  return near.empty() ? std::string(otherwise) : one_of(near);
}

std::string one_of(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace convoke::contract

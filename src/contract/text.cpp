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

std::string one_of(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace convoke::contract

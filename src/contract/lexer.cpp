// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/lexer.hpp"

#include <fmt/core.h>

#include <array>

namespace convoke::contract {
namespace {

// Byte classes by hand: those of <cctype> depend on the locale.
bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
bool is_letter(char byte) { return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_'; }

// Longest first, so that the first that fits is the longest that fits.
constexpr std::array<std::string_view, 24> symbols = {"..=", "..", "&&", "==", "!=", "<=", ">=", "<",
                                                      ">",   "=",  "+",  "-",  "*",  "/",  "%",  "(",
                                                      ")",   "[",  "]",  "{",  "}",  ",",  ".",  ";"};

std::size_t name_length(std::string_view rest) {
  std::size_t length = 1;
  while (length < rest.size() && (is_letter(rest[length]) || is_digit(rest[length]))) ++length;
  return length;
}

std::size_t number_length(std::string_view rest) {
  std::size_t length = 0;
  while (length < rest.size() && is_digit(rest[length])) ++length;
  if (length + 1 < rest.size() && rest[length] == '.' && is_digit(rest[length + 1])) {
    ++length;
    while (length < rest.size() && is_digit(rest[length])) ++length;
  }
  return length;
}

// Bytes of the well-formed UTF-8 sequence at the front, or 1: a stray byte stands alone.
std::size_t code_point_length(std::string_view rest) {
  const auto lead = static_cast<unsigned char>(rest.front());
  const std::size_t length = lead >= 0xF0 && lead <= 0xF4   ? 4
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xC2 && lead <= 0xDF ? 2
                                                            : 1;
  if (length > rest.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(rest[i]) & 0xC0U) != 0x80U) return 1;
  return length;
}

std::string_view symbol_at(std::string_view rest) {
  for (const std::string_view symbol : symbols)
    if (rest.substr(0, symbol.size()) == symbol) return symbol;
  return {};
}

}  // namespace

Lexer::Lexer(std::string_view text, std::size_t begin, std::size_t end) noexcept
    : text_(text), position_(begin), end_(end) {
  advance();
  token_.after_blank = true;
}

Token Lexer::take() noexcept {
  const Token current = token_;
  advance();
  return current;
}

void Lexer::advance() noexcept {
  const std::size_t before = position_;
  while (position_ < end_ && is_blank(text_[position_])) ++position_;
  token_ = {TokenKind::end, {}, position_, position_ > before};
  if (position_ == end_) return;
  const std::string_view rest = text_.substr(position_, end_ - position_);
  std::size_t length = 0;
  if (is_letter(rest.front())) {
    token_.kind = TokenKind::name;
    length = name_length(rest);
  } else if (is_digit(rest.front())) {
    token_.kind = TokenKind::number;
    length = number_length(rest);
  } else if (const std::string_view symbol = symbol_at(rest); !symbol.empty()) {
    token_.kind = TokenKind::symbol;
    length = symbol.size();
  } else {
    token_.kind = TokenKind::other;
    length = code_point_length(rest);
  }
  token_.text = rest.substr(0, length);
  position_ += length;
}

std::string describe(const Token& token) {
  if (token.kind == TokenKind::end) return "end of text";
  const auto first = static_cast<unsigned char>(token.text.front());
  const bool printable = token.text.size() > 1 || (first >= 0x20 && first < 0x7F);
  return printable ? fmt::format("`{}`", token.text) : fmt::format("byte 0x{:02X}", first);
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Tokens of the contract's three small languages. Every byte sequence lexes: what no rule knows becomes `other`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace convoke::contract {

enum class TokenKind : std::uint8_t {
  end,
  name,    ///< letter or `_`, then letters, digits, `_`
  number,  ///< digits, or digits `.` digits; never a sign, an exponent or a leading point
  symbol,  ///< an operator or a bracket, the longest that fits: `..=` before `..`, `==` before `=`
  other,   ///< one code point (or one stray byte) with no meaning in the grammar
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text{};
  std::size_t offset = 0;    ///< of its first byte, in the text given to the lexer
  bool after_blank = false;  ///< whether a blank, or the start of the text, precedes it

  bool is(std::string_view symbol) const noexcept { return kind == TokenKind::symbol && text == symbol; }
  bool is_name(std::string_view name) const noexcept { return kind == TokenKind::name && text == name; }
};

/// Walks bytes [begin, end) of a text, one token of look-ahead. Copying it is cheap and is how a parser looks further.
class Lexer {
 public:
  Lexer(std::string_view text, std::size_t begin, std::size_t end) noexcept;

  const Token& peek() const noexcept { return token_; }
  /// The current token; the next becomes current.
  Token take() noexcept;

 private:
  void advance() noexcept;

  std::string_view text_;
  std::size_t position_, end_;
  Token token_;
};

/// How a message names a token: its text in backquotes, `end of text`, or the value of a byte that is not UTF-8 text.
std::string describe(const Token& token);

/// Space, tab, carriage return or line feed.
constexpr bool is_blank(char byte) noexcept { return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'; }

}  // namespace convoke::contract

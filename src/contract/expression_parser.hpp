// SPDX-License-Identifier: Apache-2.0 OR MIT
// The part that all three languages share (docs/format.md, Expressions), compiled to a Program as it is read.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "contract/expression_program.hpp"
#include "contract/lexer.hpp"

namespace convoke::contract {

enum class Language : std::uint8_t { shape, field, layout, predicate, cost };

/// A parse function returns whether it matched; the first failure is kept. A failure is either a mismatch, after which
/// another production may be tried from a mark, or fatal (a limit was passed), after which nothing may.
class ExpressionParser {
 public:
  ExpressionParser(Program& program, Language language) noexcept;

  /// Starts at bytes [begin, end) of the program's text.
  void enter(std::size_t begin, std::size_t end);
  bool expression();
  bool at_end() const noexcept { return lexer_.peek().kind == TokenKind::end; }
  const Token& peek() const noexcept { return lexer_.peek(); }
  bool fail(const Token& at, std::string message);
  bool fatal() const noexcept { return fatal_; }
  const std::optional<SyntaxError>& error() const noexcept { return error_; }

 protected:
  struct Mark {
    Lexer lexer;
    std::size_t consumed = 0, code = 0, operands = 0, clauses = 0, pending = 0;
  };
  Mark mark() const;
  void restore(const Mark& mark);

  Token take() noexcept;
  Token second() const noexcept;  ///< the token after the current one
  bool expect(std::string_view symbol);
  bool refuse(std::size_t offset, std::string message);
  std::string_view since(std::size_t begin) const noexcept;  ///< text from `begin` to the last token taken
  bool emit(const Instruction& instruction, std::size_t pops, std::size_t pushes);
  void settle() noexcept { pending_ = 0; }  ///< the values so far belong to an operand that is complete

  Program& program_;
  const Language language_;

 private:
  struct Path {
    std::size_t begin = 0;
    std::string_view full, prefix, last;  ///< `x.dim`: all, `x`, `dim`
  };

  bool term();
  bool factor();
  bool primary();
  bool literal();
  bool parentheses();
  bool path();
  bool dotted(Path& path);
  bool call(const Path& path);
  bool arguments(std::size_t& count);
  bool bare(const Path& path);
  bool subscript(const Path& path);
  bool index(Instruction& target);
  bool chained(std::size_t begin);
  bool nest(const Token& opener);

  Lexer lexer_;
  std::size_t consumed_ = 0;  ///< end of the last token taken
  std::size_t pending_ = 0;   ///< values on the stack machine's stack here
  std::size_t depth_ = 0;
  std::optional<SyntaxError> error_;
  bool fatal_ = false;
};

}  // namespace convoke::contract

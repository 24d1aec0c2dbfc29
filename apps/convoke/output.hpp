// SPDX-License-Identifier: Apache-2.0 OR MIT
// What a command hands back, how it reaches the user, and the words that every command shares.
#pragma once

#include <string>
#include <string_view>

#include "convoke/error.hpp"

namespace convoke::cli {

/// Exit codes of the program.
inline constexpr int exit_ok = 0;
inline constexpr int exit_found_wrong = 1;  ///< it ran and found something wrong
inline constexpr int exit_could_not_run = 2;

/// What a command that ran has to say: the whole of standard output, the exit code, and, for standard error, what it
/// found wrong where that is one thing.
struct Report {
  std::string text;
  int exit = exit_ok;
  std::string wrong = {};
};

/// Keeps the numbers of the standard streams from being given to a file that a command opens, where the caller closed
/// them; writing to a closed standard output stays an error. Broken pipes become errors instead of killing the program.
void claim_standard_streams() noexcept;

/// Writes all of `text` to standard output; where its reader is gone, ends the program by SIGPIPE. Errors: io.
Result<void> write_stdout(std::string_view text);
/// Writes to standard error and ignores failure: there is nobody left to tell.
void write_stderr(std::string_view text) noexcept;

/// Colours a terminal can show. None where the stream is no terminal, NO_COLOR is set or TERM is `dumb`.
enum class Style { plain, bold, dim, red, green, yellow };
bool stdout_has_colour();
bool stderr_has_colour();
/// `text` in that style; as it is where `colour` is false.
std::string styled(std::string_view text, Style style, bool colour);

/// Columns to print in: those of the terminal, 100 where standard output is none.
int output_width();

/// `convoke: error: message`, the one form of every failure, with an end of line.
std::string error_line(std::string_view message);
/// The same error with `; next step` added to the first line of its message.
Error with_hint(Error error, std::string_view next_step);
/// What is wrong with a value that must not be empty; empty where nothing is. For options to check.
std::string never_empty(const std::string& text);
/// An invalid_argument error of the command line itself.
Error usage_error(std::string rule, std::string message);

/// `text` without control characters, which a file could use to play tricks on a terminal: each becomes `\xNN`, only
/// line ends and tabs stay.
std::string escaped(std::string_view text);
/// `1 kernel`, `8 kernels`.
std::string counted(std::size_t count, std::string_view noun);
/// A word as a POSIX shell reads it back: quoted only where it must be.
std::string shell_word(std::string_view word);
/// The same for every word of a line that blanks separate.
std::string shell_words(std::string_view words);

}  // namespace convoke::cli

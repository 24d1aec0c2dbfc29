// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/output.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace convoke::cli {
namespace {

// 0 when all was written, else errno.
int write_all(int stream, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(stream, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

bool stream_has_colour(int stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return ::isatty(stream) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::string_view code_of(Style style) {
  switch (style) {
    case Style::bold:
      return "1";
    case Style::dim:
      return "2";
    case Style::red:
      return "31";
    case Style::green:
      return "32";
    case Style::yellow:
      return "33";
    case Style::plain:
      break;
  }
  return "0";
}

}  // namespace

void claim_standard_streams() noexcept {
  for (int stream = 0; stream <= 2; ++stream) {
    if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is `stream` itself. Read-only for standard output, so that a write to it still fails.
    const int opened = ::open("/dev/null", stream == 2 ? O_WRONLY : O_RDONLY);
    static_cast<void>(opened);
  }
  std::signal(SIGPIPE, SIG_IGN);
}

Result<void> write_stdout(std::string_view text) {
  const int code = write_all(STDOUT_FILENO, text);
  if (code == 0) return {};
  if (code == EPIPE) {
    // The reader has seen enough: end as every filter does, without a word.
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  return tl::unexpected(Error{ErrorCode::io,
                              "stdout",
                              fmt::format("cannot write standard output: {}; the result is incomplete, so redirect it "
                                          "to a place that can take it and run again",
                                          std::strerror(code)),
                              {}});
}

void write_stderr(std::string_view text) noexcept { static_cast<void>(write_all(STDERR_FILENO, text)); }

bool stdout_has_colour() { return stream_has_colour(STDOUT_FILENO); }
bool stderr_has_colour() { return stream_has_colour(STDERR_FILENO); }

std::string styled(std::string_view text, Style style, bool colour) {
  if (!colour || style == Style::plain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(style), text);
}

int output_width() {
  constexpr int without_terminal = 100;
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return without_terminal;
  return std::max<int>(size.ws_col, 60);
}

std::string error_line(std::string_view message) {
  return fmt::format("{} {}\n", styled("convoke: error:", Style::red, stderr_has_colour()), escaped(message));
}

Error with_hint(Error error, std::string_view next_step) {
  error.message.insert(std::min(error.message.find('\n'), error.message.size()), fmt::format("; {}", next_step));
  return error;
}

std::string never_empty(const std::string& text) { return text.empty() ? "must not be empty" : std::string(); }

Error usage_error(std::string rule, std::string message) {
  return {ErrorCode::invalid_argument, std::move(rule), std::move(message), {}};
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool control = (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f;
    out += control ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return out;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string shell_words(std::string_view words) {
  std::string quoted;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    quoted += (quoted.empty() ? "" : " ") + shell_word(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return quoted;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-=.,:/+@%";
  if (!word.empty() && word.find_first_not_of(safe) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace convoke::cli

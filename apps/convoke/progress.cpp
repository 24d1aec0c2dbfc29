// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "apps/convoke/output.hpp"

namespace convoke::cli {
namespace {

// Often enough to look alive, seldom enough to cost nothing.
constexpr std::chrono::milliseconds redraw{100};

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : std::size_t{80};
}

}  // namespace

std::string progress_line(std::string_view label, std::size_t done, std::size_t total, double seconds,
                          std::string_view what, std::size_t width) {
  constexpr std::size_t cells = 24;
  const double share = total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<std::size_t>(share * cells);
  std::string line = fmt::format("{} [{}{}] {:3.0f}%  {}/{}", label, std::string(filled, '#'),
                                 std::string(cells - filled, '.'), share * 100, done, total);
  if (done > 0 && done < total) {
    const auto left = static_cast<long>(seconds / static_cast<double>(done) * static_cast<double>(total - done) + 0.5);
    line += fmt::format("  eta {}:{:02}", left / 60, left % 60);
  }
  if (!what.empty()) line += fmt::format("  {}", what);
  if (line.size() > width) line.resize(width);
  return line;
}

Progress::Progress(std::string label, std::size_t total)
    : label_(std::move(label)),
      total_(total),
      visible_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_ - redraw) {}

Progress::~Progress() {
  if (visible_) write_stderr("\r\x1b[K");
}

void Progress::doing(std::string_view what) {
  if (!visible_) return;
  doing_ = what;
  draw();
}

void Progress::advance(std::size_t steps) {
  done_ += steps;
  if (visible_) draw();
}

void Progress::draw() {
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < redraw) return;
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  write_stderr("\r\x1b[K" + progress_line(label_, done_, total_, seconds, doing_, terminal_width() - 1));
}

}  // namespace convoke::cli

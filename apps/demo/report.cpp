// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/demo/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

namespace convoke::demo {

void Report::clear_bar() const {
  if (bar_) fmt::print("\r\033[K");
}

void Report::line(const std::string& text) {
  clear_bar();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Report::section(const std::string& title) {
  line("");
  line(title);
  line(fmt::format("{:<24} {:<5} {:>9} {:>8}  {:<12} {:<14} {}", "what", "dtype", "ms", "GFLOP/s", "law", "exact",
                   "kernel, why"));
}

void Report::announce(const std::string& what) {
  if (!bar_) return;
  constexpr int width = 30;
  const int done = expected_ > 0 ? std::min(width, rows_ * width / expected_) : 0;
  clear_bar();
  fmt::print("[{:#<{}}{:.<{}}] {}/{} {}", "", done, "", width - done, rows_, expected_, what);
  std::fflush(stdout);
}

std::size_t Report::note_of(const std::string& why) {
  const auto found = std::ranges::find(notes_, why);
  const auto number = static_cast<std::size_t>(found - notes_.begin()) + 1;
  if (found == notes_.end()) notes_.push_back(why);
  return number;
}

void Report::row(const Trial& trial) {
  ++rows_;
  const judge::Check& check = trial.check;
  if (!check.passed) {
    ++wrong_;
    line(fmt::format("{:<24} {:<5} WRONG: {} {}", trial.what, name_of(trial.dtype), check.reason, trial.kernel));
    return;
  }
  compared_ += (check.law ? check.law->compared : 0) + (check.exact ? check.exact->compared : 0);
  const std::string law = check.law ? fmt::format("{} same", check.law->compared) : "not claimed";
  const std::string exact =
      check.exact ? fmt::format("{}, {:.2f} B", check.exact->compared, check.exact->worst_error_over_bound) : "";
  line(fmt::format("{:<24} {:<5} {:>9.3f} {:>8.2f}  {:<12} {:<14} {} [{}]", trial.what, name_of(trial.dtype), trial.ms,
                   trial.gflops, law, exact, trial.kernel, note_of(trial.why)));
}

void Report::notes() {
  for (std::size_t i = 0; i < notes_.size(); ++i) line(fmt::format("[{}] {}", i + 1, notes_[i]));
  notes_.clear();
}

}  // namespace convoke::demo

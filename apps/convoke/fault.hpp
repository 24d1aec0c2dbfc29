// SPDX-License-Identifier: Apache-2.0 OR MIT
// A kernel that touches a guard page ends the program: these say at least which problem it was working on.
#pragma once

#include <cstddef>
#include <string>

namespace convoke::cli {

/// Most problems that can be announced at a time.
inline constexpr std::size_t most_workers = 64;

/// From now on a memory fault prints the announced problem lines and ends with exit code 1. Does nothing where someone
/// else, such as a sanitizer, handles faults already.
void report_faults();

/// Announces what a worker is about to run, until it is destroyed. `line` must outlive it.
class Running {
 public:
  Running(std::size_t worker, const std::string& line) noexcept;
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::size_t worker_;
};

}  // namespace convoke::cli

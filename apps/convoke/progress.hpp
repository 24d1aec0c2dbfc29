// SPDX-License-Identifier: Apache-2.0 OR MIT
// A progress bar on standard error while it is a terminal; silent where it is not.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace convoke::cli {

class Progress {
 public:
  /// `total` steps of what `label` names.
  Progress(std::string label, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Says what is being done now; shown after the bar.
  void doing(std::string_view what);
  void advance(std::size_t steps = 1);

 private:
  void draw();

  std::string label_, doing_;
  std::size_t done_ = 0, total_;
  bool visible_;
  std::chrono::steady_clock::time_point start_, drawn_;
};

/// The bar itself, without moving the cursor: `label [####....]  42%  123/300  eta 0:07  what`, at most `width`
/// columns.
std::string progress_line(std::string_view label, std::size_t done, std::size_t total, double seconds,
                          std::string_view what, std::size_t width);

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Pictures as planes of doubles, the one the demo draws, and PNG files.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convoke/error.hpp"

namespace convoke::demo {

/// Red, green and blue planes, row-major, one after the other; 0 is dark, 1 is bright.
struct Picture {
  int width = 0, height = 0;
  std::vector<double> planes;

  Picture() = default;
  Picture(int w, int h)
      : width(w), height(h), planes(3 * static_cast<std::size_t>(w) * static_cast<std::size_t>(h), 0.0) {}

  double& at(int channel, int y, int x) { return planes[index(channel, y, x)]; }
  double at(int channel, int y, int x) const { return planes[index(channel, y, x)]; }

 private:
  std::size_t index(int channel, int y, int x) const {
    return (static_cast<std::size_t>(channel) * static_cast<std::size_t>(height) + static_cast<std::size_t>(y)) *
               static_cast<std::size_t>(width) +
           static_cast<std::size_t>(x);
  }
};

/// Evening over a lake: smooth skies, hard ridges, fine ripples, so that every filter has something to do.
Picture draw_evening(int size);

/// All pictures side by side on shelves of at most `width` pixels, in their order.
Picture contact_sheet(const std::vector<Picture>& pictures, int width);

/// Writes an 8-bit RGB file, whole or not at all; values outside [0, 1] are clamped. Errors: io, out_of_memory.
[[nodiscard]] Result<void> write_png(const std::string& path, const Picture& picture);

}  // namespace convoke::demo

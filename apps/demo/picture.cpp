// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/demo/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace convoke::demo {
namespace {

using Colour = std::array<double, 3>;

constexpr double horizon = 0.62;  // fraction of the height
constexpr double sun_x = 0.68, sun_y = 0.40, sun_radius = 0.075;

Colour mix(const Colour& a, const Colour& b, double t) {
  const double s = std::clamp(t, 0.0, 1.0);
  Colour result{};
  for (std::size_t c = 0; c < 3; ++c) result[c] = a[c] + (b[c] - a[c]) * s;
  return result;
}

// A fixed pseudo-random number in [0, 1) for each cell of a grid.
double speckle(int x, int y) {
  std::uint32_t h = static_cast<std::uint32_t>(x) * 0x9e3779b1U ^ static_cast<std::uint32_t>(y) * 0x85ebca77U;
  h = (h ^ (h >> 15)) * 0x2c1b3c6dU;
  h = (h ^ (h >> 12)) * 0x297a2d39U;
  return static_cast<double>((h ^ (h >> 15)) >> 8) * 0x1p-24;
}

// Height of the ridge line of range `layer`, measured down from the top; nearer ranges are lower and rougher.
double ridge(int layer, double u) {
  const double shift = 1.7 * layer;
  const double swell = 0.055 * std::sin(4.1 * u + shift) + 0.030 * std::sin(9.7 * u + 2.3 * shift);
  const double rocks = 0.012 * std::fabs(std::sin(31.0 * u + shift)) * (1 + layer);
  return 0.46 + 0.055 * layer + swell - rocks;
}

Colour sky(double u, double v) {
  static constexpr Colour night{0.09, 0.10, 0.30}, rose{0.86, 0.42, 0.45}, gold{0.99, 0.80, 0.47};
  const double height = v / horizon;
  Colour colour = height < 0.6 ? mix(night, rose, height / 0.6) : mix(rose, gold, (height - 0.6) / 0.4);
  const double distance = std::hypot(u - sun_x, v - sun_y);
  colour = mix(colour, {1.0, 0.93, 0.75}, 0.75 * std::exp(-distance * distance / 0.022));
  return distance < sun_radius ? Colour{1.0, 0.97, 0.86} : colour;
}

Colour land(double u, double v) {
  static constexpr std::array<Colour, 3> ranges{{{0.42, 0.30, 0.47}, {0.26, 0.20, 0.37}, {0.12, 0.11, 0.22}}};
  Colour colour = sky(u, v);
  for (int layer = 0; layer < 3; ++layer)
    if (v > ridge(layer, u)) colour = ranges[static_cast<std::size_t>(layer)];
  return colour;
}

Colour scene(double u, double v) {
  if (v < horizon) return land(u, v);
  // The lake mirrors what is above it, pushed aside by ripples that grow towards the viewer.
  const double depth = (v - horizon) / (1 - horizon);
  const double ripple = std::sin(38.0 / (0.12 + depth)) * std::sin(23.0 * u + 5.0 * depth);
  const double mirrored = std::max(0.02, horizon - 0.9 * (v - horizon) + 0.014 * ripple);
  const Colour reflection = land(u + 0.012 * ripple, mirrored);
  return mix(reflection, {0.08, 0.12, 0.27}, 0.30 + 0.35 * depth);
}

}  // namespace

Picture draw_evening(int size) {
  constexpr int samples = 3;  // a side: 9 points a pixel smooth the edges
  Picture picture(size, size);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x) {
      Colour sum{};
      for (int i = 0; i < samples * samples; ++i) {
        const double u = (x + (i % samples + 0.5) / samples) / size;
        const int row = i / samples;
        const double v = (y + (row + 0.5) / samples) / size;
        const Colour colour = scene(u, v);
        for (std::size_t c = 0; c < 3; ++c) sum[c] += colour[c];
      }
      const bool star = y < size / 4 && speckle(x, y) > 0.9965;
      for (int c = 0; c < 3; ++c)
        picture.at(c, y, x) = star ? 0.95 : sum[static_cast<std::size_t>(c)] / (samples * samples);
    }
  return picture;
}

Picture contact_sheet(const std::vector<Picture>& pictures, int width) {
  constexpr int gap = 8;
  struct Place {
    int left, top;
  };
  std::vector<Place> places;
  int left = gap, top = gap, shelf = 0, right = 0;
  for (const Picture& picture : pictures) {
    if (left > gap && left + picture.width + gap > width) {  // the next shelf
      left = gap;
      top += shelf + gap;
      shelf = 0;
    }
    places.push_back({left, top});
    left += picture.width + gap;
    right = std::max(right, left);
    shelf = std::max(shelf, picture.height);
  }
  Picture sheet(right, top + shelf + gap);
  std::ranges::fill(sheet.planes, 0.13);
  for (std::size_t i = 0; i < pictures.size(); ++i)
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < pictures[i].height; ++y)
        for (int x = 0; x < pictures[i].width; ++x)
          sheet.at(c, places[i].top + y, places[i].left + x) = pictures[i].at(c, y, x);
  return sheet;
}

}  // namespace convoke::demo

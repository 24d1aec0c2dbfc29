// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/demo/filters.hpp"

#include <cmath>
#include <cstddef>
#include <utility>

#include "base/dtype.hpp"
#include "problem/case_file.hpp"

namespace convoke::demo {
namespace {

constexpr int planes = 3;

// The same taps for every plane.
std::vector<double> thrice(const std::vector<double>& taps) {
  std::vector<double> weight;
  for (int i = 0; i < planes; ++i) weight.insert(weight.end(), taps.begin(), taps.end());
  return weight;
}

// column[i] * row[j] / scale: filters that fall apart into two one-dimensional ones.
std::vector<double> outer(const std::vector<double>& line, double scale) {
  std::vector<double> taps;
  for (double a : line)
    for (double b : line) taps.push_back(a * b / scale);
  return taps;
}

Filter per_plane(std::string name, std::string about, std::int64_t side, const std::vector<double>& taps) {
  Filter filter;
  filter.name = std::move(name);
  filter.about = std::move(about);
  filter.params.groups = planes;
  filter.params.padding = side / 2;
  filter.weight_shape = {planes, 1, side, side};
  filter.weight = thrice(taps);
  return filter;
}

}  // namespace

std::vector<Filter> picture_filters() {
  std::vector<Filter> filters;
  filters.push_back(per_plane("blur", "7x7 binomial", 7, outer({1, 6, 15, 20, 15, 6, 1}, 4096)));

  Filter edges = per_plane("edges", "Sobel, along x and y", 3, {});
  edges.weight_shape = {2 * planes, 1, 3, 3};
  edges.weight = thrice({-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1});
  edges.gradient = true;
  filters.push_back(edges);

  filters.push_back(per_plane("sharpen", "3x3", 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}));

  Filter half = per_plane("half", "5x5 binomial, stride 2", 5, outer({1, 4, 6, 4, 1}, 256));
  half.params.stride = 2;
  filters.push_back(half);

  Filter emboss = per_plane("emboss", "3x3, dilation 2", 3, {-2, -1, 0, -1, 1, 1, 0, 1, 2});
  emboss.params.dilation = 2;
  emboss.params.padding = 2;
  filters.push_back(emboss);

  Filter twice = per_plane("upscale", "transposed, 4x4, stride 2: bilinear", 4, outer({1, 3, 3, 1}, 16));
  twice.op = Op::conv_transpose2d;
  twice.params.stride = 2;
  twice.params.padding = 1;
  filters.push_back(twice);
  return filters;
}

Result<problem::Workload> make_operands(const Filter& filter, const Picture& picture, DType dtype) {
  problem::Case operands;
  operands.id = filter.name;
  operands.op = filter.op;
  operands.dtypes = {dtype};
  operands.x.tensor = {{1, planes, picture.height, picture.width}, picture.planes};
  operands.weight.tensor = {filter.weight_shape, filter.weight};
  operands.params = filter.params;
  return problem::make_workload(operands, dtype);
}

Picture show(const Filter& filter, const ConstTensor& out) {
  const DType dtype = out.spec.dtype;
  const auto* bytes = static_cast<const std::byte*>(out.data);
  const auto value = [&](std::size_t i) { return value_of_bits(dtype, load_bits(bytes + i * size_of(dtype), dtype)); };
  Picture picture(static_cast<int>(out.spec.shape[3]), static_cast<int>(out.spec.shape[2]));
  const std::size_t plane = picture.planes.size() / planes;
  for (std::size_t c = 0; c < planes; ++c)
    for (std::size_t i = 0; i < plane; ++i)
      picture.planes[c * plane + i] =
          filter.gradient ? std::hypot(value(2 * c * plane + i), value((2 * c + 1) * plane + i)) : value(c * plane + i);
  return picture;
}

}  // namespace convoke::demo

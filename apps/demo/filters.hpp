// SPDX-License-Identifier: Apache-2.0 OR MIT
// The filters that the demo runs over its picture, and the way from pictures to tensors and back.
#pragma once

#include <string>
#include <vector>

#include "apps/demo/picture.hpp"
#include "base/geometry.hpp"
#include "convoke/error.hpp"
#include "convoke/tensor.hpp"
#include "problem/workload.hpp"

namespace convoke::demo {

/// A filter over a picture: a grouped convolution of its three planes.
struct Filter {
  std::string name, about;
  Op op = Op::conv2d;
  ConvParams params;
  Dims weight_shape;
  std::vector<double> weight;
  /// Two outputs a plane, along x and y: the picture shows their length.
  bool gradient = false;
};

/// Blur, edges, sharpen, a strided, a dilated and an upscaling one.
std::vector<Filter> picture_filters();

/// The filter and the picture as operands of one dtype. Errors: those of make_workload.
[[nodiscard]] Result<problem::Workload> make_operands(const Filter& filter, const Picture& picture, DType dtype);

/// What a filter's output, dense, looks like.
Picture show(const Filter& filter, const ConstTensor& out);

}  // namespace convoke::demo

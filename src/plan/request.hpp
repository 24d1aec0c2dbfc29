// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <optional>

#include "base/geometry.hpp"
#include "convoke/error.hpp"
#include "convoke/tensor.hpp"

namespace convoke::planner {

/// A convolution that was judged and found well-formed: only make_request makes one.
struct Request {
  Geometry geometry;
  TensorSpec x, weight, out;
  std::optional<TensorSpec> bias;
  DType dtype() const noexcept { return x.dtype; }
};

/// Judges, in this order: shapes and parameters (make_geometry), dtypes, each operand's layout, the shape of `out`,
/// and that `out` does not overlap itself.
Result<Request> make_request(Op op, const TensorSpec& x, const TensorSpec& weight,
                             const std::optional<TensorSpec>& bias, const TensorSpec& out, const ConvParams& params);

}  // namespace convoke::planner

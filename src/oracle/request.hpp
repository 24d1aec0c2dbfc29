// SPDX-License-Identifier: Apache-2.0 OR MIT
// One convolution as the oracles see it: proven sizes over tensors of any layout.
#pragma once

#include <cstdint>
#include <optional>

#include "base/geometry.hpp"
#include "convoke/tensor.hpp"

namespace convoke::oracle {

/// All tensors have x's dtype, the shapes of `geometry`, and passed check_layout against their bytes. Data need not be
/// aligned.
struct Request {
  Geometry geometry;
  ConstTensor x, weight;
  std::optional<ConstTensor> bias;

  DType dtype() const noexcept { return x.spec.dtype; }
};

/// Where an output element is.
struct At {
  std::int64_t n = 0, co = 0, oh = 0, ow = 0;
  friend bool operator==(const At&, const At&) = default;
};

/// The element with this row-major number.
constexpr At at_index(const Geometry& g, std::int64_t index) noexcept {
  return {index / (g.Cout * g.Ho * g.Wo), index / (g.Ho * g.Wo) % g.Cout, index / g.Wo % g.Ho, index % g.Wo};
}

/// Elements of the output.
constexpr std::int64_t output_count(const Geometry& g) noexcept { return g.N * g.Cout * g.Ho * g.Wo; }

}  // namespace convoke::oracle

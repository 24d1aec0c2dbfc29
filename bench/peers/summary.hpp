// SPDX-License-Identifier: Apache-2.0 OR MIT
// What many rows say together: one summary for each dtype and number of threads, in the order they first appear.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/peers/row.hpp"

namespace convoke::peers {

/// Of one kind of ratio over the rows that have it.
struct RatioSummary {
  std::size_t rows = 0;
  double mean = 0;         ///< geometric
  double dense_mean = 0;   ///< over rows that are not grouped; 0: there is none
  double worst = 0;        ///< the smallest
  std::string worst_name;  ///< of the layer
};

struct Summary {
  DType dtype = DType::f32;
  int threads = 1;
  std::size_t rows = 0;  ///< good ones
  std::optional<RatioSummary> plain, best, f32;
  std::optional<RatioSummary> transposed_plain;
  std::optional<double> square3_peak;  ///< the median percentage of the loop's rate over dense layers of 3x3 taps
  std::size_t disturbed = 0, wrong = 0;
};

std::vector<Summary> summaries_of(const std::vector<Row>& rows);

}  // namespace convoke::peers

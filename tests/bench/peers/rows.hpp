// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <optional>
#include <string>

#include "bench/peers/row.hpp"

namespace convoke::peers {

/// A good dense row that took 100 us, where oneDNN took so long.
inline Row row_of(const std::string& name, std::optional<double> plain_us, std::optional<double> best_us) {
  Row row;
  row.name = name;
  row.dense = true;
  row.kernel = "cpu/portable/conv2d_f32/f32,f32,f32#00000000";
  row.ours_us = 100;
  row.gflops = 50;
  row.fma_gflops = 200;
  row.plain_us = plain_us;
  row.best_us = best_us;
  return row;
}

}  // namespace convoke::peers

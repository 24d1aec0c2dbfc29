// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoke/error.hpp"
#include "problem/problem.hpp"

namespace convoke::peers {

/// The layers of a list whose names match `only` (empty: all), as problems in f32 with integer data, of which both
/// sides compute the same sums. `batch` above 0 replaces each one's own.
/// Errors: those of read_layer_list(); invalid_argument where none matches, or a batch does not fit.
[[nodiscard]] Result<std::vector<problem::Problem>> read_layers(const std::string& path, const std::string& only,
                                                                std::int64_t batch);

}  // namespace convoke::peers

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Layer lists: CSV tables of named convolutions, one a line, such as suites/layers.csv.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convoke/error.hpp"
#include "problem/problem.hpp"

namespace convoke::problem {

struct Layer {
  Problem problem;  ///< name, op, shapes and parameters; everything else at its default
  std::string network;
  int line = 0;
};

/// Reads a table whose header names its columns, in any order: op, name, n, cin, h, w, cout, kh, kw are required;
/// network, sh, sw, ph, pw, dh, dw, groups, oph, opw have the defaults of a plain convolution. Names are unique, and
/// the sizes of every row fit each other.
/// Errors: invalid_file; the message begins with `path:line:column-name:`, `rule` is the column's name, or the rule
/// that the sizes break.
[[nodiscard]] Result<std::vector<Layer>> parse_layer_list(std::string_view text, std::string_view path);
/// The same from a file. Errors: io besides.
[[nodiscard]] Result<std::vector<Layer>> read_layer_list(const std::string& path);

}  // namespace convoke::problem

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The header of a `.npy` file: a Python dict literal, of which only what NumPy writes is read.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "convoke/tensor.hpp"

namespace convoke::problem {

struct NpyHeader {
  std::string_view descr;  // points into the text
  bool fortran_order = false;
  Dims shape;
};

/// What is wrong, and under which key (`header` where it is the literal itself).
struct NpyHeaderError {
  std::string_view key;
  std::string text;
};

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`: exactly these keys, in any order, either kind
/// of quotes, blanks anywhere between and after. Sizes are not negative; at most six of them.
tl::expected<NpyHeader, NpyHeaderError> parse_npy_header(std::string_view text);

}  // namespace convoke::problem

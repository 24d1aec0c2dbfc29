// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string>

#include "convoke/tensor.hpp"

namespace convoke {

/// The elements in row-major order, without gaps, little-endian, every NaN made canonical. Requires a tensor that
/// passed check_layout.
std::string dense_bytes(const ConstTensor& tensor);

/// SHA-256 of dense_bytes: what `convoke run --json` calls `digest`. Equal digests mean equal results, whatever the
/// layout.
std::string digest_of(const ConstTensor& tensor);

}  // namespace convoke

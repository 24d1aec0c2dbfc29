// SPDX-License-Identifier: Apache-2.0 OR MIT
// Whether a case got what it expects.
#pragma once

#include <optional>
#include <string>

#include "convoke/error.hpp"
#include "convoke/tensor.hpp"
#include "problem/case_file.hpp"

namespace convoke::problem {

/// What is wrong with a result; nullopt where it is right: the shape expected, and every element bit for bit the
/// expected value narrowed once to the dtype of `out`, where all NaNs are equal. A case that expects an error finds any
/// result wrong.
[[nodiscard]] std::optional<std::string> mismatch(const Case& test, const ConstTensor& out);

/// The same for a refusal: right where the case expects an error and the message contains its word.
[[nodiscard]] std::optional<std::string> mismatch(const Case& test, const Error& refusal);

}  // namespace convoke::problem

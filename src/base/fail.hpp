// SPDX-License-Identifier: Apache-2.0 OR MIT
// Making an Error in one expression.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "convoke/error.hpp"
#include "convoke/tensor.hpp"

namespace convoke {

/// `[1, 3, 8, 8]`.
std::string text_of(const Dims& dims);

using Values = std::vector<std::pair<std::string, std::string>>;

/// Name and value, for Error::values.
template <class T>
std::pair<std::string, std::string> named(std::string name, const T& value) {
  return {std::move(name), fmt::format("{}", value)};
}
inline std::pair<std::string, std::string> named(std::string name, const Dims& value) {
  return {std::move(name), text_of(value)};
}

/// `return fail(ErrorCode::invalid_argument, "stride", {named("stride", s)}, "stride must be at least 1, got {}", s);`
template <class... Args>
tl::unexpected<Error> fail(ErrorCode code, std::string rule, Values values, fmt::format_string<Args...> text,
                           Args&&... args) {
  return tl::unexpected<Error>(
      Error{code, std::move(rule), fmt::format(text, std::forward<Args>(args)...), std::move(values)});
}

}  // namespace convoke

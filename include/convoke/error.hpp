// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace convoke {

/// What kind of failure an Error is. The numbers are the CONVOKE_… codes in convoke.h and never change meaning.
enum class ErrorCode : int {
  invalid_argument = 1,  ///< a parameter or an option is outside its range
  invalid_shape = 2,     ///< shapes of the operands do not fit each other or the parameters
  invalid_layout = 3,    ///< strides, offset or byte length do not describe memory inside the buffer
  overlap = 4,           ///< the output overlaps itself or an input
  unsupported = 5,       ///< a well-formed request outside the scope (docs/scope.md)
  no_kernel = 6,         ///< every candidate was refused; the message lists what each lacked
  not_found = 7,         ///< a kernel, symbol or registry that is not there
  invalid_document = 8,  ///< a contract document with errors
  invalid_file = 9,      ///< a problem line, layer list, case file or .npy that cannot be read
  io = 10,               ///< the operating system refused
  out_of_memory = 11,    ///< scratch or an intermediate could not be allocated
  kernel_failure = 12,   ///< a kernel reported a failure at run time
};

/// A failure: its kind, the rule that was broken, and a text that names the rule and the values. `rule` is a short
/// stable word, most often the name of the argument (`stride`, `groups`, `bias`); tests and programs may compare it.
struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string rule;
  std::string message;
  std::vector<std::pair<std::string, std::string>> values;  ///< name and value of everything the rule looked at
};

/// A value or the Error that prevented it.
template <class T>
using Result = tl::expected<T, Error>;

}  // namespace convoke

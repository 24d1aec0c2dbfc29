// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <exception>
#include <new>

#include "convoke/error.hpp"

namespace convoke {

/// Runs `body`, which returns a Result, at the library's outer edge: running out of memory becomes an Error like any
/// other. Exceptions of third-party libraries end in the folders that use them; the second branch is there so that one
/// that was missed ends here and not in the caller.
template <class Body>
auto guarded(Body body) noexcept -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    // These texts fit a string's own buffer, so making the Error cannot fail again.
    return tl::unexpected<Error>(Error{ErrorCode::out_of_memory, "memory", "out of memory", {}});
  } catch (const std::exception&) {
    return tl::unexpected<Error>(Error{ErrorCode::kernel_failure, "exception", "an exception inside", {}});
  }
}

}  // namespace convoke

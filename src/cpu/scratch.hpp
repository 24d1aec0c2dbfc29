// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>

namespace convoke::cpu {

/// Scratch of this thread's own, kept between calls and freed when the thread ends: at least `bytes` bytes, aligned to
/// a page, contents undefined. Null where memory ran out. Valid until the next call on the same thread.
void* thread_scratch(std::size_t bytes) noexcept;

}  // namespace convoke::cpu

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The law oracle: every output by scalar code, one chain of software FMAs from the bias (or +0) over the present taps,
// then one narrowing. Independent of every kernel and of their helpers.
#pragma once

#include <cstdint>
#include <optional>

#include "oracle/request.hpp"

namespace convoke::oracle {

/// Bits of one output in the request's dtype; a NaN is the canonical one. With an `accumulator` of f64 the chain runs
/// in f64, of widened operands, and is narrowed once at its end: what a kernel for f64 makes of operands in another
/// dtype.
std::uint64_t law_output(const Request& request, const At& at,
                         std::optional<DType> accumulator = std::nullopt) noexcept;

/// bf16, f16 (and f32 itself) bits as the same value in f32 bits.
std::uint32_t law_widen(DType dtype, std::uint64_t bits) noexcept;
/// f32 bits rounded once to `dtype`, to nearest, ties to even; a NaN becomes the canonical one.
std::uint64_t law_narrow(DType dtype, std::uint32_t bits) noexcept;

}  // namespace convoke::oracle

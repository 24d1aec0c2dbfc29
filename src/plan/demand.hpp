// SPDX-License-Identifier: Apache-2.0 OR MIT
// Whether what a kernel promises meets a demand, which comes before any comparison of price.
#pragma once

#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "bind/binding_table.hpp"
#include "convoke/demand.hpp"
#include "plan/admit.hpp"
#include "plan/request.hpp"

namespace convoke::planner {

/// Whether a sum by the law in `through`, of widened operands and narrowed once, is the law's sum in `dtype`: true
/// where nothing is widened, and of bf16 and f16 in f32.
bool law_survives(DType dtype, std::optional<DType> through) noexcept;

/// `through`: the type that the operands are widened to before the kernel and that its result is narrowed from; absent
/// where the kernel works in the request's own type.
tl::expected<void, Clause> meets(const bind::Binding& binding, const Demand& demand, const Request& request,
                                 std::optional<DType> through = std::nullopt);

/// The order of the sum behind the request's result: the contract's own, `law in f64` where a wider type makes it
/// another sum than the same order in the request's own type; `unknown` where the contract names none.
std::string order_of(const bind::Binding& binding, const Request& request, std::optional<DType> through = std::nullopt);

/// The error bound of the kernel's result over the bound of the law at this shape; nullopt where it states none that
/// can be evaluated. Of a kernel of the law itself 1.
std::optional<double> bound_over_law(const bind::Binding& binding, const Request& request,
                                     std::optional<DType> through = std::nullopt);

}  // namespace convoke::planner

// SPDX-License-Identifier: Apache-2.0 OR MIT
// An explanation for people and for programs.
#pragma once

#include <string>

#include "convoke/explain.hpp"

namespace convoke::cli {

/// Tables: what was chosen, the admitted routes with their steps, cheapest first, and the refused ones by clause.
std::string explanation_text(const Explanation& explanation, int width, bool colour);

/// `{"problem", "demand", "chosen": route or null, "candidates": [{"route", "id", "admitted", "price_ns", "steps":
/// [{"kernel", "price_ns", ...}], ...}], "reproducer"}`; `refused` only where not admitted.
std::string explanation_json(const Explanation& explanation, const std::string& problem, const std::string& demand,
                             const std::string& reproducer);

}  // namespace convoke::cli

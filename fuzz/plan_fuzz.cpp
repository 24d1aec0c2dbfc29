// SPDX-License-Identifier: Apache-2.0 OR MIT
// Any text as a stored plan, and as a table of rates: an error, or a value that is written and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "convoke/plan.hpp"
#include "convoke/rates.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void read_plan(std::string_view text) {
  const auto plan = convoke::Plan::from_json(text);
  if (!plan) return require(!plan.error().message.empty() && !plan.error().rule.empty());
  const std::string written = plan->to_json();
  const auto again = convoke::Plan::from_json(written);
  require(again.has_value() && again->to_json() == written && again->route() == plan->route());
}

void read_rates(std::string_view text) {
  const auto rates = convoke::Rates::from_json(text, "fuzz");
  if (!rates) return require(!rates.error().message.empty() && !rates.error().rule.empty());
  const auto again = convoke::Rates::from_json(rates->to_json(), "written");
  require(again.has_value() && again->fingerprint() == rates->fingerprint());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_plan(text);
  read_rates(text);
  return 0;
}

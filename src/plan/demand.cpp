// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/demand.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "plan/scope.hpp"

namespace convoke {
namespace {

// What stands in `word(...)`; nullopt where the text is not of that form.
std::optional<std::string_view> inside(std::string_view text, std::string_view word) noexcept {
  if (!text.starts_with(word) || !text.ends_with(')')) return std::nullopt;
  text.remove_prefix(word.size());
  if (!text.starts_with('(')) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<Demand> accurate_of(std::string_view text) noexcept {
  constexpr std::string_view suffix = ",plane";
  const bool plane = text.ends_with(suffix);
  if (plane) text.remove_suffix(suffix.size());
  double factor = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (code != std::errc{} || stop != text.data() + text.size() || !std::isfinite(factor) || factor <= 0)
    return std::nullopt;
  return Demand::accurate(factor, plane);
}

}  // namespace

std::string text_of(const Demand& demand) {
  switch (demand.kind) {
    case Demand::Kind::reproducible:
      return "reproducible";
    case Demand::Kind::order:
      return fmt::format("order({})", demand.name);
    case Demand::Kind::accurate:
      return fmt::format("accurate({}{})", demand.factor, demand.plane ? ",plane" : "");
    case Demand::Kind::fast:
      return "fast";
    case Demand::Kind::any:
      break;
  }
  return "any";
}

Result<Demand> parse_demand(std::string_view text) {
  if (text == "reproducible") return Demand::reproducible();
  if (text == "fast") return Demand::fast();
  if (text == "any") return Demand::any();
  if (const auto name = inside(text, "order"); name && !name->empty()) return Demand::order(std::string(*name));
  if (const auto factor = inside(text, "accurate"))
    if (auto demand = accurate_of(*factor)) return *std::move(demand);
  return fail(
      ErrorCode::invalid_argument, "demand", {named("demand", text)},
      "demand '{}' is not one of reproducible, order(NAME), accurate(FACTOR), accurate(FACTOR,plane), fast, any", text);
}

namespace planner {
namespace {

using contract::Contract;

std::string stated_order(const Contract& contract) {
  return contract.numerics && contract.numerics->order ? *contract.numerics->order : "unknown";
}

tl::expected<void, Clause> keeps_order(const bind::Binding& binding, const std::string& wanted, const Request& request,
                                       std::optional<DType> through) {
  const std::string order = order_of(binding, request, through);
  if (order != wanted) return tl::unexpected(Clause{"numerics.order", wanted, order});
  const contract::Determinism determinism = binding.contract->determinism;
  if (determinism != contract::Determinism::bitwise)
    return tl::unexpected(Clause{"determinism", "bitwise", std::string(contract::word_of(determinism))});
  return {};
}

double roundoff(DType dtype) noexcept { return std::ldexp(1.0, precision_of(dtype).unit_exponent); }

// gamma_n of sums in `unit`, and one rounding more where the result is narrowed.
double relative_bound(double terms, DType unit, DType out) noexcept {
  const double nu = terms * roundoff(unit);
  const double narrowing = unit == out ? 0 : roundoff(out);
  return nu >= 1 ? HUGE_VAL : nu / (1 - nu) + narrowing;
}

// Absent where a sum is so long that its own bound is none: infinity is not a number of times infinity.
std::optional<double> times(double bound, double law) noexcept {
  return std::isfinite(bound) ? std::optional(bound / law) : std::nullopt;
}

// The type that sums are kept in, as the contract states or its order implies.
std::optional<DType> accumulator(const Contract& contract, DType dtype) {
  if (contract.numerics && contract.numerics->accumulator) return parse_dtype(*contract.numerics->accumulator);
  if (stated_order(contract) == "law") return accumulator_of(dtype);
  return std::nullopt;
}

tl::expected<void, Clause> accurate_enough(const bind::Binding& binding, const Demand& demand, const Request& request,
                                           std::optional<DType> through) {
  const Contract& contract = *binding.contract;
  const bool stated = contract.numerics && contract.numerics->error;
  if (stated && contract.numerics->error->scale != "output" && !demand.plane)
    return tl::unexpected(Clause{"numerics.error.scale", "output", contract.numerics->error->scale});
  const std::optional<double> ratio = bound_over_law(binding, request, through);
  const std::string wanted = fmt::format("at most {} times the law's bound", demand.factor);
  if (!ratio) return tl::unexpected(Clause{"numerics.error", wanted, stated ? "no usable value here" : "no bound"});
  if (*ratio > demand.factor)
    return tl::unexpected(Clause{"numerics.error", wanted, fmt::format("{:.4g} times", *ratio)});
  return {};
}

tl::expected<void, Clause> sums_well(const Contract& contract, const Request& request, DType dtype) {
  const std::optional<DType> sum = accumulator(contract, dtype);
  const std::size_t least = std::max(size_of(DType::f32), size_of(request.dtype()));
  if (sum && size_of(*sum) >= least) return {};
  return tl::unexpected(Clause{"numerics.accumulator", least == size_of(DType::f64) ? "f64" : "at least f32",
                               sum ? std::string(convoke::name_of(*sum)) : "not stated"});
}

}  // namespace

// Widening is exact and f32 is where the law keeps the sums of both halves, so nothing differs from their own kernels.
bool law_survives(DType dtype, std::optional<DType> through) noexcept {
  return !through || ((dtype == DType::bf16 || dtype == DType::f16) && through == DType::f32);
}

std::string order_of(const bind::Binding& binding, const Request& request, std::optional<DType> through) {
  const std::string order = stated_order(*binding.contract);
  const bool same = !through || order == "unknown" || (order == "law" && law_survives(request.dtype(), through));
  return same ? order : fmt::format("{} in {}", order, convoke::name_of(*through));
}

std::optional<double> bound_over_law(const bind::Binding& binding, const Request& request,
                                     std::optional<DType> through) {
  const Contract& contract = *binding.contract;
  const DType dtype = request.dtype(), worked_in = through.value_or(dtype);
  const double law = relative_bound(static_cast<double>(request.geometry.terms()), accumulator_of(dtype), dtype);
  if (contract.numerics && contract.numerics->error) {
    std::vector<TensorSpec> operands{request.x, request.weight};
    if (request.bias) operands.push_back(*request.bias);
    operands.push_back(request.out);
    const RequestScope scope(request, contract, operands, binding.input_count(), Use::cost);
    const std::optional<double> terms = contract.numerics->error->terms.evaluate(scope);
    const std::optional<DType> unit = parse_dtype(contract.numerics->error->unit);
    if (!terms || !unit) return std::nullopt;
    return times(relative_bound(*terms, *unit, dtype), law);
  }
  if (stated_order(contract) != "law") return std::nullopt;
  if (accumulator_of(worked_in) == accumulator_of(dtype)) return 1;
  return times(relative_bound(static_cast<double>(request.geometry.terms()), accumulator_of(worked_in), dtype), law);
}

tl::expected<void, Clause> meets(const bind::Binding& binding, const Demand& demand, const Request& request,
                                 std::optional<DType> through) {
  if (demand.kind == Demand::Kind::any) return {};
  if (binding.foreign)
    return tl::unexpected(Clause{"evidence", "a claim that was checked here", "declared by " + binding.document});
  switch (demand.kind) {
    case Demand::Kind::reproducible:
      return keeps_order(binding, "law", request, through);
    case Demand::Kind::order:
      return keeps_order(binding, demand.name, request, through);
    case Demand::Kind::accurate:
      return accurate_enough(binding, demand, request, through);
    case Demand::Kind::fast:
      return sums_well(*binding.contract, request, through.value_or(request.dtype()));
    case Demand::Kind::any:
      break;
  }
  return {};
}

}  // namespace planner
}  // namespace convoke

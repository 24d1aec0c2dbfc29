// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "tests/plan/sweep_trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/dtype.hpp"
#include "base/glob.hpp"
#include "convoke/explain.hpp"
#include "oracle/compare.hpp"
#include "plan/plan_impl.hpp"
#include "problem/random_problem.hpp"
#include "tests/device/fake_device.hpp"

namespace convoke::sweep {
namespace {

using problem::Buffer;
using problem::Guard;

constexpr std::uint64_t problems_of_a_catalog = 8;
constexpr std::uint64_t outputs_compared = 200;

std::uint64_t mixed(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t state = seed;
  state = splitmix64(state) + index;
  return splitmix64(state);
}

Demand random_demand(Drawer& draw) {
  switch (draw.below(8)) {
    case 0:
      return Demand::reproducible();
    case 1:
      return draw.chance(70) ? Demand::order("law") : Demand::order("tree");
    case 2:
      return Demand::accurate(draw.pick(std::array{0.5, 1.0, 4.0}), draw.chance(30));
    case 3:
      return Demand::fast();
    default:
      return Demand::any();
  }
}

Rates random_rates(Drawer& draw) {
  constexpr std::array<double, 3> speeds = {0.01, 1, 1000};
  constexpr std::array<double, 3> overheads = {0, 500, 100000};
  constexpr std::array<std::string_view, 8> work = {"conv",     "strided_elementwise", "Cast", "Upload",
                                                    "Download", "Contiguize",          "",     "Pack"};
  Rates rates;
  for (std::uint64_t i = 1 + draw.below(4); i > 0; --i)
    static_cast<void>(rates.set({draw.chance(50) ? "cpu" : "vulkan",
                                 "",
                                 std::string(draw.pick(work)),
                                 draw.chance(50) ? std::optional(draw.pick(all_dtypes)) : std::nullopt,
                                 {draw.pick(speeds), draw.pick(speeds), draw.pick(overheads)}}));
  return rates;
}

PlanOptions random_options(Drawer& draw) {
  constexpr std::array<std::string_view, 8> forbidden = {
      "*/contiguize/*", "*/copy_out/*", "cpu/portable/conv*", "cpu/portable/conv*",
      "*/cast_to_*",    "vulkan/*",     "cpu/gen*",           "cpu/portable/cont*"};
  constexpr std::array<std::string_view, 5> forced = {"*conv*", "*/gen*", "vulkan/*", "*portable*", "*f32*"};
  PlanOptions options;
  if (draw.chance(85)) options.demand = random_demand(draw);
  if (draw.chance(15)) options.kernel = draw.pick(forced);
  if (draw.chance(40)) options.forbid.emplace_back(draw.pick(forbidden));
  if (draw.chance(5)) options.backends = {draw.chance(50) ? "cpu" : "vulkan"};
  if (draw.chance(8)) options.workspace_cap = draw.below(20'000);
  options.threads = static_cast<int>(draw.below(4));
  options.packed_weight = draw.chance(20);
  return options;
}

// What a caller would print of them.
std::string text_of(const PlanOptions& options) {
  return fmt::format("demand={} kernel='{}' forbid={} backends={} threads={}{}{}",
                     options.demand ? convoke::text_of(*options.demand) : "-", options.kernel, options.forbid,
                     options.backends, options.threads, options.packed_weight ? " packed_weight" : "",
                     options.workspace_cap ? fmt::format(" workspace_cap={}", *options.workspace_cap) : "");
}

// Whether the result must have the law's bits, as every kernel here computes by the law of its own type.
bool keeps_the_law(const Plan& plan) {
  const Plan::Impl& impl = plan.impl();
  const DType dtype = impl.request.dtype();
  return !impl.variant.through ||
         ((dtype == DType::bf16 || dtype == DType::f16) && *impl.variant.through == DType::f32);
}

// Mostly a kernel whose key can serve the request; now and then any of the operation.
std::string drawn_kernel(Drawer& draw, const Catalog& catalog, Op op, const std::vector<DType>& key) {
  std::vector<std::string> ids;
  for (const bind::Binding& binding : catalog.table().all()) {
    if (binding.op != bind::operator_of(op)) continue;
    const bool widens = binding.dtypes.size() == key.size() && size_of(binding.dtypes[0]) > size_of(key[0]);
    const bool ours = !binding.foreign;
    if ((binding.dtypes == key && !ours) || (widens && draw.chance(40)) || draw.chance(5)) ids.push_back(binding.id);
  }
  return ids.empty() ? std::string("*") : draw.pick(ids);
}

}  // namespace

std::optional<ConstTensor> Sweep::bias() const { return bias_ ? std::optional(bias_->tensor) : std::nullopt; }

Result<Plan> Sweep::plan(const PlanOptions& options) const {
  const auto made = [&](const auto& params) { return convoke::plan(x_, weight_, bias_spec_, out_, params, options); };
  return problem_.op == Op::conv2d ? made(to_conv2d_params(problem_.params))
                                   : made(to_conv_transpose2d_params(problem_.params));
}

// A caller may know less of its pointers than is true.
void Sweep::promise_less(Drawer& draw, TensorSpec& spec) const {
  if (!draw.chance(30)) return;
  const std::size_t less = std::size_t{1} << draw.below(13);
  if (less < spec.align) spec.align = less;
  if (spec.align >= size_of(spec.dtype) && draw.chance(20)) spec.align = 0;
}

// The workload's bias is dense; here it lies in one of five ways.
void Sweep::draw_bias(Drawer& draw) {
  bias_.reset();
  const std::optional<ConstTensor> given = workload_->bias();
  if (!given) return;
  const ConstTensor& dense = *given;
  const std::int64_t count = dense.spec.shape[0];
  TensorSpec spec = dense.spec;
  constexpr std::array<std::int64_t, 5> strides = {1, 1, 2, -1, 0};
  spec.strides[0] = draw.pick(strides);
  spec.offset = spec.strides[0] < 0 ? std::max<std::int64_t>(count - 1, 0) : draw.chance(30) ? 3 : 0;
  bias_.emplace(Bias{Buffer::make(problem::bytes_of(spec), problem_.align, Guard::end).value(), {}});
  const auto size = static_cast<std::int64_t>(size_of(spec.dtype));
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(bias_->memory.data() + (spec.offset + i * spec.strides[0]) * size,
                static_cast<const std::byte*>(dense.data) + i * size, static_cast<std::size_t>(size));
  bias_->tensor = {bias_->memory.data(), bias_->memory.size(), spec};
}

void Sweep::draw_specs(Drawer& draw) {
  draw_bias(draw);
  x_ = workload_->x().spec, weight_ = workload_->weight().spec, out_ = workload_->out().spec;
  bias_spec_ = bias_ ? std::optional(bias_->tensor.spec) : std::nullopt;
  for (TensorSpec* spec : {&x_, &weight_, &out_}) promise_less(draw, *spec);
  if (bias_spec_) promise_less(draw, *bias_spec_);
}

Sweep::Outcome Sweep::check_result(const Plan& plan, const Demand& demand) {
  const oracle::Request request{*workload_->geometry(), workload_->x(), workload_->weight(), bias()};
  const oracle::Sampling sampling{outputs_compared, problem_.seed};
  const bool demanded = demand.kind == Demand::Kind::reproducible || demand == Demand::order("law");
  const bool law = demanded || keeps_the_law(plan);
  counts_.held_to_the_law += law ? 1 : 0;
  const oracle::Comparison comparison =
      law ? oracle::compare_law(request, workload_->out(), sampling)
          : oracle::compare_bound(request, workload_->out(), {*plan.impl().variant.through, {}}, sampling);
  if (!comparison.passed())
    return fmt::format("{} oracle: {}", law ? "law" : "exact", comparison.first ? comparison.first->text : "?");
  const judge::Check check = judge::check_output(plan, request, workload_->out(), {{}, sampling, false});
  if (!check.passed) return "judge: " + check.reason;
  return {};
}

// The weight is gone when the plan runs, and of the scratch no more is handed over than such a run needs.
Result<void> Sweep::run_packed(const Plan& plan, const RunOptions& options) {
  RunOptions run = options;
  const auto packed = plan.pack(workload_->weight(), run);
  if (!packed) return tl::unexpected(packed.error());
  ++counts_.packed[packed->kernels().empty() ? "as it lies" : fmt::format("{} steps", packed->kernels().size())];
  run.scratch_bytes = run.scratch == nullptr ? 0 : plan.packed_workspace_bytes();
  return plan.run(workload_->x(), *packed, bias(), workload_->out(), run);
}

Sweep::Outcome Sweep::check_run(Drawer& draw, const Plan& plan, const Demand& demand) {
  auto scratch = Buffer::make(plan.workspace_bytes(), std::size_t{1} << draw.below(13), Guard::end);
  if (!scratch) return scratch.error().message;
  RunOptions run;
  run.threads = draw.chance(95) ? 1 : 2;
  if (draw.chance(90)) {
    run.scratch = scratch->data();
    run.scratch_bytes = scratch->size();
  }
  workload_->reset_out();
  const bool packs = draw.chance(40);
  const auto ran =
      packs ? run_packed(plan, run) : plan.run(workload_->x(), workload_->weight(), bias(), workload_->out(), run);
  std::vector<std::string> faults = take_broken();
  std::ranges::move(fake::FakeDevice::get().take_faults(), std::back_inserter(faults));
  if (fake::FakeDevice::get().live() != 0) faults.emplace_back("device memory was not given back");
  if (!ran) faults.push_back(ran.error().message);
  if (const auto untouched = workload_->check_untouched(); !untouched) faults.push_back(untouched.error().message);
  if (!scratch->slack_intact()) faults.emplace_back("wrote beside the scratch");
  if (!faults.empty()) return fmt::format("{}", fmt::join(faults, "; "));
  for (const planner::Step& step : plan.impl().route.steps)
    ++counts_
          .steps[std::string(bind::token_of(step.binding->op)) + (step.binding->device != nullptr ? " (device)" : "")];
  return check_result(plan, demand);
}

// That the route keeps to what was asked of it, apart from its result.
Sweep::Outcome Sweep::check_options(const Plan& plan, const PlanOptions& options, const Demand& demand) {
  const planner::Route& route = plan.impl().route;
  double ns = 0;
  for (std::size_t i = 0; i < route.steps.size(); ++i) {
    const planner::Step& step = route.steps[i];
    const std::string& id = step.binding->id;
    for (const std::string& glob : options.forbid)
      if (glob_match(glob, id)) return id + " was forbidden";
    if (step.binding->foreign && demand.kind != Demand::Kind::any) return id + " is foreign";
    if (!options.packed_weight || step.role != "weight") ns += step.price.ns;
  }
  const bind::Binding& main = *route.steps[route.main_step].binding;
  if (!options.kernel.empty() && !glob_match(options.kernel, main.id)) return main.id + " was not asked for";
  const std::string backend(bind::name_of(main.contract->backend));
  if (!options.backends.empty() && options.backends.front() != backend) return backend + " was not asked for";
  if (options.workspace_cap && route.scratch_bytes > *options.workspace_cap) return "more scratch than was allowed";
  if (std::abs(ns - plan.price_ns()) > 1e-9 * ns) return "the price is not the sum of the steps'";
  return {};
}

// explain() chooses what plan() does, and nothing that is cheaper was admitted.
Sweep::Outcome Sweep::check_explanation(const Plan& plan, const PlanOptions& options) const {
  const auto explained = [&](const auto& params) { return explain(x_, weight_, bias_spec_, out_, params, options); };
  const auto explanation = problem_.op == Op::conv2d ? explained(to_conv2d_params(problem_.params))
                                                     : explained(to_conv_transpose2d_params(problem_.params));
  if (!explanation || !explanation->chosen) return "explain() chooses nothing";
  const CandidateReport& chosen = explanation->candidates[*explanation->chosen];
  if (chosen.route != planner::text_of(plan.impl().route)) return "explain() chooses " + chosen.route;
  for (const CandidateReport& other : explanation->candidates) {
    if (other.admitted && other.price_ns < chosen.price_ns) return other.route + " is cheaper";
    if (!other.admitted && (!other.refused || other.refused->clause.empty()))
      return other.route + ": refused without a clause";
  }
  return {};
}

// The plan from the cache and the one from its text are the same.
Sweep::Outcome Sweep::check_again(const Plan& plan, const PlanOptions& options) const {
  const auto again = this->plan(options);
  if (!again || again->shared_impl() != plan.shared_impl()) return "the same arguments made another plan";
  const auto read = Plan::from_json(plan.to_json(), options.catalog);
  if (!read) return "from_json: " + read.error().message;
  if (read->route() != plan.route()) return "from_json: another route";
  return {};
}

Sweep::Outcome Sweep::try_options(Drawer& draw, const PlanOptions& options) {
  const auto planned = plan(options);
  if (!planned) {
    if (planned.error().code != ErrorCode::no_kernel) return "plan: " + planned.error().message;
    ++counts_.refused;
    for (const auto& [id, text] : planned.error().values) ++counts_.clauses[text.substr(0, text.find(": "))];
    return {};
  }
  ++counts_.plans;
  for (const Refusal& refusal : planned->refusals()) ++counts_.clauses[refusal.clause];
  const Demand demand = options.demand.value_or(options.kernel.empty() ? Demand::reproducible() : Demand::any());
  Outcome outcome = check_options(*planned, options, demand);
  if (!outcome) outcome = check_run(draw, *planned, demand);
  if (!outcome && draw.chance(5)) outcome = check_explanation(*planned, options);
  if (!outcome && draw.chance(5)) outcome = check_again(*planned, options);
  if (!outcome) return {};
  return fmt::format("{}\n  {}\n  route {}", *outcome, text_of(options), planner::text_of(planned->impl().route));
}

Sweep::Outcome Sweep::run(std::uint64_t index) {
  const std::uint64_t place = index / problems_of_a_catalog;
  if (catalog_index_ != place) {
    catalog_.reset();
    catalog_ = std::make_unique<RandomCatalog>(mixed(seed_, place));
    catalog_index_ = place;
  }
  Drawer draw(mixed(~seed_, index));
  problem_ = problem::random_problem(draw.chance(50) ? Op::conv2d : Op::conv_transpose2d, seed_, index);
  workload_ = problem::make_workload(problem_, draw.chance(50) ? Guard::end : Guard::front).value();
  draw_specs(draw);
  ++counts_.problems;
  PlanOptions options = random_options(draw);
  options.catalog = &catalog_->catalog();
  const Rates rates = random_rates(draw);
  if (draw.chance(40)) options.rates = &rates;
  Outcome outcome = try_options(draw, options);
  // Once more through one of the drawn kernels, which the cheapest route need not take.
  PlanOptions forced;
  forced.catalog = options.catalog;
  forced.kernel =
      drawn_kernel(draw, catalog_->catalog(), problem_.op, std::vector<DType>(bias_ ? 4 : 3, problem_.dtype));
  forced.rates = options.rates;
  if (!outcome) outcome = try_options(draw, forced);
  if (outcome) ++counts_.failed;
  return outcome;
}

}  // namespace convoke::sweep

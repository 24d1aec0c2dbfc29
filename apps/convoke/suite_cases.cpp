// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/suite_cases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/convoke/execution.hpp"
#include "apps/convoke/progress.hpp"
#include "base/digest.hpp"
#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/file.hpp"
#include "base/glob.hpp"
#include "judge/check.hpp"
#include "problem/case_check.hpp"
#include "problem/case_file.hpp"
#include "problem/layer_list.hpp"

namespace convoke::cli {
namespace {

using Fate = BindingResult::Fate;
using problem::Case;
using problem::Layer;
using problem::Problem;
using problem::Workload;

constexpr double layer_box_ms = 100;

bind::Operator operator_for(Op op) noexcept { return bind::operator_of(op); }

PlanOptions only(const bind::Binding& binding, const Catalog& catalog, bool packed) {
  PlanOptions options;
  options.packed_weight = packed;
  options.kernel = binding.id;
  options.catalog = &catalog;
  return options;
}

void mark_failed(BindingResult& result, std::string reason) {
  result.fate = Fate::failed;
  result.reason = std::move(reason);
}

// Runs a planned binding in poisoned and guarded memory and judges what it gave.
void judge_binding(Forced& forced, Workload& workload, const judge::CheckOptions& options) {
  const judge::Check check = judge::check(*forced.plan, workload, options);
  if (!check.passed) mark_failed(forced.result, check.reason);
  forced.result.digest = digest_of(workload.out());
}

void time_binding(Forced& forced, Operands operands, const SuiteOptions& options, const Pace& pace) {
  if (options.packed)
    if (auto packed = pack_weight(*forced.plan, operands, options.threads); !packed)
      return mark_failed(forced.result, packed.error().message);
  const auto timing = timed_runs(*forced.plan, operands, options.threads, pace);
  if (!timing) return mark_failed(forced.result, timing.error().message);
  forced.result.ms = timing->median;
  forced.result.gflops = gflops(*forced.plan, timing->median);
}

// A refusal by this kernel's contract alone would not do: the request itself is wrong.
BindingResult expect_refusal(const bind::Binding& binding, const Operands& operands, const Catalog& catalog,
                             const Case& test, bool packed) {
  BindingResult result{.kernel = binding.id, .fate = Fate::passed, .reason = {}, .digest = {}};
  const auto plan = make_plan(operands, only(binding, catalog, packed));
  if (plan)
    mark_failed(result, fmt::format("it was accepted, and a refusal that names '{}' is due", *test.expect_error));
  else if (plan.error().code == ErrorCode::no_kernel)
    mark_failed(result, "only this kernel refuses it: " + refusal_of(plan.error(), binding.id));
  else if (auto wrong = problem::mismatch(test, plan.error()))
    mark_failed(result, *std::move(wrong));
  return result;
}

BindingResult run_binding(const bind::Binding& binding, const Case& test, Workload& workload, const Operands& operands,
                          const Catalog& catalog, const SuiteOptions& options) {
  Forced forced = force(binding, operands, catalog, options.packed);
  if (!forced.plan) return std::move(forced.result);
  judge::CheckOptions check;
  check.run.threads = options.threads;
  check.packed = options.packed;
  judge_binding(forced, workload, check);
  if (auto wrong = problem::mismatch(test, operands.out)) mark_failed(forced.result, *std::move(wrong));
  if (forced.result.fate == Fate::passed)
    time_binding(forced, operands, options, {.repeat = std::max(1, options.repeat), .warm = true});
  return std::move(forced.result);
}

std::string line_of(const Case& test, DType dtype) {
  Problem problem;
  problem.op = test.op;
  problem.x = test.x.tensor.shape;
  problem.weight = test.weight.tensor.shape;
  problem.bias = test.bias.has_value();
  problem.params = test.params;
  problem.dtype = dtype;
  return problem::to_line(problem);
}

CaseResult run_case(const Case& test, DType dtype, const std::string& path, const Catalog& catalog,
                    const SuiteOptions& options) {
  CaseResult result{
      .id = test.id, .dtype = dtype, .problem = line_of(test, dtype), .reproducer = {}, .reason = {}, .bindings = {}};
  result.reproducer = fmt::format("convoke suite {} --case {} --dtype {}{}", shell_word(path), shell_word(test.id),
                                  name_of(dtype), options.extra);
  auto workload = problem::make_workload(test, dtype);
  if (!workload) {
    result.status = Status::failed;
    result.reason = workload.error().message;
    return result;
  }
  const Operands operands = operands_of(*workload, test.op, test.params);
  for (const bind::Binding* binding : candidates(catalog, test.op, dtype, test.bias.has_value(), options.kernel))
    result.bindings.push_back(test.expect_error ? expect_refusal(*binding, operands, catalog, test, options.packed)
                                                : run_binding(*binding, test, *workload, operands, catalog, options));
  result.settle(options.kernel);
  return result;
}

CaseResult run_layer(const Layer& layer, DType dtype, const Catalog& catalog, const SuiteOptions& options) {
  Problem problem = layer.problem;
  problem.dtype = dtype;
  problem.threads = options.threads;
  CaseResult result{.id = problem.name,
                    .dtype = dtype,
                    .problem = problem::to_line(problem),
                    .reproducer = {},
                    .reason = {},
                    .bindings = {}};
  result.reproducer = fmt::format("convoke run {} --verify{}", shell_words(result.problem), options.extra);
  auto workload = problem::make_workload(problem, problem::Guard::none);
  if (!workload) {
    result.status = Status::failed;
    result.reason = workload.error().message;
    return result;
  }
  const Operands operands = operands_of(*workload, problem.op, problem.params);
  judge::CheckOptions check;
  check.run.threads = options.threads;
  check.packed = options.packed;
  check.sampling = sampling_of(*workload->geometry(), {.terms = options.verify ? verified_terms : sampled_terms});
  for (const bind::Binding* binding : candidates(catalog, problem.op, dtype, problem.bias, options.kernel)) {
    Forced forced = force(*binding, operands, catalog, options.packed);
    if (forced.plan) judge_binding(forced, *workload, check);
    if (forced.plan && forced.result.fate == Fate::passed)
      time_binding(forced, operands, options, {.repeat = options.repeat, .box_ms = layer_box_ms, .warm = true});
    result.bindings.push_back(std::move(forced.result));
  }
  result.settle(options.kernel);
  return result;
}

bool wanted(const SuiteOptions& options, const std::string& id) {
  return options.only.empty() || glob_match(options.only, id);
}

bool wanted(const SuiteOptions& options, DType dtype) {
  return options.dtypes.empty() || std::ranges::find(options.dtypes, dtype) != options.dtypes.end();
}

Result<void> run_case_file(std::string_view text, const std::string& path, const Catalog& catalog,
                           const SuiteOptions& options, SuiteResult& result) {
  const auto file = problem::parse_case_file(text, path);
  if (!file) return tl::unexpected(file.error());
  Progress progress(path, file->cases.size());
  for (const Case& test : file->cases) {
    progress.doing(test.id);
    for (DType dtype : test.dtypes)
      if (wanted(options, test.id) && wanted(options, dtype))
        result.cases.push_back(run_case(test, dtype, path, catalog, options));
    progress.advance();
  }
  return {};
}

Result<void> run_layer_list(std::string_view text, const std::string& path, const Catalog& catalog,
                            const SuiteOptions& options, SuiteResult& result) {
  const auto layers = problem::parse_layer_list(text, path);
  if (!layers) return tl::unexpected(layers.error());
  const std::vector<DType> dtypes = options.dtypes.empty() ? std::vector{DType::f32} : options.dtypes;
  Progress progress(path, layers->size() * dtypes.size());
  for (const Layer& layer : *layers)
    for (DType dtype : dtypes) {
      progress.doing(layer.problem.name);
      if (wanted(options, layer.problem.name)) result.cases.push_back(run_layer(layer, dtype, catalog, options));
      progress.advance();
    }
  return {};
}

}  // namespace

std::vector<const bind::Binding*> candidates(const Catalog& catalog, Op op, DType dtype, bool bias,
                                             const std::string& kernel) {
  std::vector<const bind::Binding*> found;
  for (const bind::Binding& binding : catalog.table().all()) {
    const bool fits = binding.op == operator_for(op) && binding.input_count() == (bias ? 3U : 2U) &&
                      std::ranges::all_of(binding.dtypes, [&](DType d) { return d == dtype; });
    if (fits && (kernel.empty() || glob_match(kernel, binding.id))) found.push_back(&binding);
  }
  return found;
}

Forced force(const bind::Binding& binding, const Operands& operands, const Catalog& catalog, bool packed) {
  Forced forced;
  forced.result.kernel = binding.id;
  auto plan = make_plan(operands, only(binding, catalog, packed));
  if (plan && plan->kernel() == binding.id) {
    forced.plan = *std::move(plan);
  } else if (plan) {
    mark_failed(forced.result, fmt::format("it was forced, and the plan runs {}", plan->kernel()));
  } else if (plan.error().code == ErrorCode::no_kernel) {
    forced.result.fate = binding.function == nullptr ? Fate::lacking : Fate::refused;
    forced.result.reason = refusal_of(plan.error(), binding.id);
  } else {
    mark_failed(forced.result, plan.error().message);
  }
  return forced;
}

Result<void> run_suite_file(const std::string& path, const Catalog& catalog, const SuiteOptions& options,
                            SuiteResult& result) {
  const auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  const std::size_t start = text->starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  const std::size_t first = std::min(text->find_first_not_of(" \t\r\n", start), text->size());
  const bool json = first < text->size() && ((*text)[first] == '{' || (*text)[first] == '[');
  if (json || path.ends_with(".json")) return run_case_file(*text, path, catalog, options, result);
  return run_layer_list(*text, path, catalog, options, result);
}

}  // namespace convoke::cli

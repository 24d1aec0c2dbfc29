// SPDX-License-Identifier: Apache-2.0 OR MIT
// Random problems: a few workers draw numbers, each problem is planned once for a binding, run once and judged whole.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "apps/convoke/fault.hpp"
#include "apps/convoke/progress.hpp"
#include "apps/convoke/suite_cases.hpp"
#include "base/host.hpp"
#include "judge/check.hpp"
#include "problem/random_problem.hpp"

namespace convoke::cli {
namespace {

using Fate = BindingResult::Fate;
using problem::Problem;
using problem::Workload;

struct Batch {
  Op op = Op::conv2d;
  std::uint64_t count = 0, seed = 0;
};

struct Drawn {
  Problem problem;
  std::uint64_t index = 0;  // with the seed, what draws it again
  std::size_t place = 0;    // among the results
};

class RandomRun {
 public:
  RandomRun(const Batch& batch, const Catalog& catalog, const SuiteOptions& options, Progress& progress)
      : batch_(batch),
        catalog_(catalog),
        options_(options),
        progress_(progress),
        names_(problem::relation_names(batch.op)) {}

  void run(std::size_t workers);
  void append_to(SuiteResult& result);

 private:
  void work(std::size_t worker);
  std::optional<Drawn> draw();
  CaseResult run_one(const Drawn& drawn, std::size_t worker) const;
  void run_bindings(const Problem& problem, Workload& workload, CaseResult& result) const;
  void count_relations(const Problem& problem, std::vector<std::uint64_t>& counts) const;

  Batch batch_;
  const Catalog& catalog_;
  const SuiteOptions& options_;
  Progress& progress_;
  std::span<const std::string_view> names_;

  std::vector<CaseResult> cases_;  // each place written by one worker
  std::mutex mutex_;               // of the rest
  std::uint64_t next_ = 0;
  std::size_t taken_ = 0;
  std::vector<std::uint64_t> counts_;
};

void RandomRun::run(std::size_t workers) {
  cases_.resize(batch_.count);
  counts_.assign(names_.size(), 0);
  std::vector<std::jthread> threads;
  for (std::size_t worker = 1; worker < workers; ++worker) threads.emplace_back([this, worker] { work(worker); });
  work(0);
}

// Under the lock, so that which problems are drawn never depends on the workers.
std::optional<Drawn> RandomRun::draw() {
  const std::scoped_lock lock(mutex_);
  if (taken_ == batch_.count) return std::nullopt;
  for (;;) {
    const std::uint64_t index = next_++;
    Problem problem = problem::random_problem(batch_.op, batch_.seed, index);
    if (options_.dtypes.empty() || std::ranges::find(options_.dtypes, problem.dtype) != options_.dtypes.end())
      return Drawn{std::move(problem), index, taken_++};
  }
}

void RandomRun::work(std::size_t worker) {
  std::vector<std::uint64_t> counts(names_.size(), 0);
  while (const auto drawn = draw()) {
    count_relations(drawn->problem, counts);
    cases_[drawn->place] = run_one(*drawn, worker);
    const std::scoped_lock lock(mutex_);
    progress_.advance();
  }
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < counts.size(); ++i) counts_[i] += counts[i];
}

void RandomRun::count_relations(const Problem& problem, std::vector<std::uint64_t>& counts) const {
  for (const std::string_view relation : problem::relations(problem)) {
    const auto at = std::ranges::find(names_, relation);
    if (at != names_.end()) ++counts[static_cast<std::size_t>(at - names_.begin())];
  }
}

CaseResult RandomRun::run_one(const Drawn& drawn, std::size_t worker) const {
  const auto& [problem, index, place] = drawn;
  CaseResult result{.id = fmt::format("{}#{}", name_of(batch_.op), index),
                    .dtype = problem.dtype,
                    .problem = problem::to_line(problem),
                    .reproducer = {},
                    .reason = {},
                    .bindings = {}};
  result.reproducer = fmt::format("convoke run {} --verify{}", shell_words(result.problem), options_.extra);
  const Running running(worker, result.problem);
  // Both ends of every operand meet a guard page, in turn.
  auto workload = problem::make_workload(problem, index % 2 == 0 ? problem::Guard::end : problem::Guard::front);
  if (!workload) {
    result.status = Status::failed;
    result.reason = workload.error().message;
    return result;
  }
  run_bindings(problem, *workload, result);
  result.settle(options_.kernel);
  return result;
}

void RandomRun::run_bindings(const Problem& problem, Workload& workload, CaseResult& result) const {
  const Operands operands = operands_of(workload, problem.op, problem.params);
  judge::CheckOptions check;
  check.run.threads = problem.threads;
  check.packed = options_.packed;
  check.sums_are_exact = problem.data == problem::DataKind::integer;
  for (const bind::Binding* binding : candidates(catalog_, problem.op, problem.dtype, problem.bias, options_.kernel)) {
    Forced forced = force(*binding, operands, catalog_, options_.packed);
    if (forced.plan) {
      judge::Check judged = judge::check(*forced.plan, workload, check);
      if (!judged.passed) forced.result.fate = Fate::failed;
      forced.result.reason = std::move(judged.reason);
    }
    result.bindings.push_back(std::move(forced.result));
  }
}

void RandomRun::append_to(SuiteResult& result) {
  std::ranges::move(cases_, std::back_inserter(result.cases));
  RelationCount relation{batch_.op, batch_.count, {}};
  for (std::size_t i = 0; i < names_.size(); ++i) relation.counts.emplace_back(names_[i], counts_[i]);
  result.relations.push_back(std::move(relation));
}

}  // namespace

void run_random_suite(std::uint64_t count, std::uint64_t seed, const Catalog& catalog, const SuiteOptions& options,
                      SuiteResult& result) {
  report_faults();
  const std::size_t workers = std::min<std::size_t>(static_cast<std::size_t>(host().cores), most_workers);
  Progress progress("random problems", 2 * count);
  for (const Op op : {Op::conv2d, Op::conv_transpose2d}) {
    progress.doing(convoke::name_of(op));
    RandomRun run({op, count, seed}, catalog, options, progress);
    run.run(workers);
    run.append_to(result);
  }
}

}  // namespace convoke::cli

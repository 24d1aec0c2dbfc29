// SPDX-License-Identifier: Apache-2.0 OR MIT
// Every binding of the table, forced by its ImplId, on every case, layout and a sweep of random problems, against both
// oracles, between guard pages, with output and scratch poisoned. Each binding is a test of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "bind/binding_table.hpp"
#include "convoke/catalog.hpp"
#include "judge/check.hpp"
#include "problem/case_check.hpp"
#include "problem/case_file.hpp"
#include "problem/problem.hpp"
#include "problem/random_problem.hpp"
#include "problem/workload.hpp"

namespace convoke {
namespace {

const std::string suites = CONVOKE_SUITES;

const Catalog& catalog() {
  static const Catalog all = [] {
    const std::string path = suites + "/contracts/cpu-conv.fkc.md";
    return Catalog::with_documents({{path, read_file(path).value()}}).value();
  }();
  return all;
}

std::vector<std::string> convolutions() {
  std::vector<std::string> ids;
  for (Op op : {Op::conv2d, Op::conv_transpose2d})
    for (const std::string& id : judge::kernels_of(catalog(), op)) ids.push_back(id);
  return ids;
}

const bind::Binding& binding(const std::string& id) {
  return *std::ranges::find(catalog().table().all(), id, &bind::Binding::id);
}

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  Op op() const { return binding(GetParam()).op == bind::Operator::conv2d ? Op::conv2d : Op::conv_transpose2d; }
  DType dtype() const { return binding(GetParam()).dtypes.front(); }
  bool has_bias() const { return binding(GetParam()).input_count() == 3; }

  // Forces the kernel, checks that it is the one that ran, and holds it to its contract. False: it refuses.
  bool run(problem::Workload& workload, bool sums_are_exact, const std::string& what) {
    PlanOptions options;
    options.kernel = GetParam();
    options.catalog = &catalog();
    const auto plan = judge::plan_for(workload, options);
    if (!plan) {
      EXPECT_EQ(plan.error().code, ErrorCode::no_kernel) << what << ": " << plan.error().message;
      return false;
    }
    EXPECT_EQ(plan->kernel(), GetParam());
    judge::CheckOptions check_options;
    check_options.sums_are_exact = sums_are_exact;
    const judge::Check check = judge::check(*plan, workload, check_options);
    EXPECT_TRUE(check.passed) << what << ": " << check.reason;
    EXPECT_TRUE(check.law) << "both documents name functions that obey the law";
    return true;
  }
};

TEST_P(Conformance, Cases) {
  const auto file = problem::read_case_file(suites + "/conv-cases.json");
  ASSERT_TRUE(file) << file.error().message;
  int ran = 0;
  for (const problem::Case& test : file->cases) {
    if (test.op != op() || test.bias.has_value() != has_bias() || test.expect_error) continue;
    if (std::ranges::find(test.dtypes, dtype()) == test.dtypes.end()) continue;
    auto workload = problem::make_workload(test, dtype());
    ASSERT_TRUE(workload) << test.id << ": " << workload.error().message;
    if (!run(*workload, false, test.id)) continue;
    ++ran;
    const auto wrong = problem::mismatch(test, workload->out());
    EXPECT_FALSE(wrong) << test.id << ": " << wrong.value_or("");
  }
  EXPECT_GT(ran, 0) << "no case reached this kernel";
}

TEST_P(Conformance, EveryLayoutGivesTheSameBits) {
  const std::string transposed = op() == Op::conv2d ? "" : " output_padding=1x0";
  const std::string base =
      std::string(name_of(op())) + " x=2x4x9x7 weight=" + (op() == Op::conv2d ? "6x2x3x2" : "4x3x3x2") +
      " stride=2x1 padding=1,0,0,1 dilation=1x2 groups=2 data=normal seed=11 dtype=" + std::string(name_of(dtype())) +
      (has_bias() ? " bias=1" : "") + transposed;
  int ran = 0;
  for (const char* x : {"dense", "channels_last", "sliced", "permuted", "flipped", "expanded", "offset"})
    for (const char* weight : {"dense", "channels_last", "sliced", "permuted", "flipped", "expanded", "offset"})
      for (const char* out : {"dense", "channels_last", "sliced", "permuted", "flipped", "offset"})
        for (const char* align : {"64", "2"}) {
          const std::string line =
              base + " x.layout=" + x + " weight.layout=" + weight + " out.layout=" + out + " align=" + align;
          auto workload = problem::make_workload(problem::parse_problem(line).value());
          ASSERT_TRUE(workload) << line << ": " << workload.error().message;
          ran += run(*workload, false, line);
        }
  EXPECT_EQ(ran, 7 * 7 * 6 * 2) << "no layout may be refused: copies are steps of the route";
}

TEST_P(Conformance, RandomProblems) {
  int ran = 0, tried = 0;
  for (std::uint64_t index = 0; tried < 250; ++index) {
    problem::Problem problem = problem::random_problem(op(), 20261130, index);
    if (problem.dtype != dtype() || problem.bias != has_bias()) continue;
    ++tried;
    const problem::Guard guard = index % 2 == 0 ? problem::Guard::end : problem::Guard::front;
    auto workload = problem::make_workload(problem, guard);
    ASSERT_TRUE(workload) << problem::to_line(problem) << ": " << workload.error().message;
    ran += run(*workload, problem.data == problem::DataKind::integer, problem::to_line(problem));
  }
  EXPECT_GT(ran, tried / 2) << "of " << tried;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, Conformance, ::testing::ValuesIn(convolutions()), test_name);

TEST(ConformanceTable, HoldsTheSeedsSixteenAndOurs) { EXPECT_EQ(convolutions().size(), 32u); }

}  // namespace
}  // namespace convoke

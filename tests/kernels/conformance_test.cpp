// SPDX-License-Identifier: Apache-2.0 OR MIT
// Every binding of the table, forced by its ImplId, on every case, layout and a sweep of random problems, against what
// its contract promises, between guard pages, with output and scratch poisoned. Each binding is a test of its own, and
// a kernel that is added needs no line here.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/host.hpp"
#include "base/sanitizer.hpp"
#include "bind/binding_table.hpp"
#include "bind/builtin_documents.hpp"
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

bool claims_the_law(const bind::Binding& kernel) {
  const auto says_so = [](const bind::Binding& one) {
    return one.contract->numerics && one.contract->numerics->order == "law";
  };
  return says_so(kernel) || (kernel.alias_of && says_so(catalog().table().all()[*kernel.alias_of]));
}

// What keeps this host from running the kernel at all.
std::optional<std::string> lacking(const bind::Binding& kernel) {
  if (kernel.missing_isa != 0) return fmt::format("{}", fmt::join(isa_names(kernel.missing_isa), ","));
  if (kernel.function == nullptr) return "a " + std::string(bind::name_of(kernel.contract->backend)) + " backend";
  for (const std::string& isa : kernel.contract->requires_isa)
    if ((isa_of_name(isa) & ~host().isa) != 0) return isa;
  if (!kernel.contract->requires_device.empty()) return kernel.contract->requires_device.front();
  return std::nullopt;
}

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const auto what = lacking(binding(GetParam()))) GTEST_SKIP() << "this host lacks " << *what;
  }
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
    EXPECT_EQ(check.law.has_value(), claims_the_law(binding(GetParam()))) << what;
    return true;
  }
};

TEST_P(Conformance, Cases) {
  const auto file = problem::read_case_file(suites + "/conv-cases.json");
  ASSERT_TRUE(file) << file.error().message;
  int reached = 0;
  for (const problem::Case& test : file->cases) {
    if (test.op != op() || test.bias.has_value() != has_bias() || test.expect_error) continue;
    if (std::ranges::find(test.dtypes, dtype()) == test.dtypes.end()) continue;
    ++reached;
    auto workload = problem::make_workload(test, dtype());
    ASSERT_TRUE(workload) << test.id << ": " << workload.error().message;
    if (!run(*workload, false, test.id) || !claims_the_law(binding(GetParam()))) continue;
    const auto wrong = problem::mismatch(test, workload->out());
    EXPECT_FALSE(wrong) << test.id << ": " << wrong.value_or("");
  }
  EXPECT_GT(reached, 0) << "no case has this key";
}

// From the most general to the plainest: the first that a kernel admits shows what layouts do to it.
std::vector<std::string> shapes(Op op) {
  if (op == Op::conv2d)
    return {"x=2x4x9x7 weight=6x2x3x2 stride=2x1 padding=1,0,0,1 dilation=1x2 groups=2", "x=2x4x9x7 weight=6x4x3x3",
            "x=2x4x9x7 weight=6x4x1x1", "x=2x4x9x7 weight=4x1x3x3 groups=4"};
  return {"x=2x4x9x7 weight=4x3x3x2 stride=2x1 padding=1,0,0,1 dilation=1x2 groups=2 output_padding=1x0",
          "x=2x4x9x7 weight=4x6x3x3", "x=2x4x9x7 weight=4x6x2x2 stride=2"};
}

TEST_P(Conformance, EveryLayoutGivesTheSameBits) {
  const auto runs = [&](const std::string& line) {
    auto workload = problem::make_workload(problem::parse_problem(line).value());
    EXPECT_TRUE(workload) << line << ": " << workload.error().message;
    return workload && run(*workload, false, line);
  };
  std::string base;
  for (const std::string& shape : shapes(op())) {
    base = fmt::format("{} {} data=normal seed=11 dtype={}{}", name_of(op()), shape, name_of(dtype()),
                       has_bias() ? " bias=1" : "");
    if (runs(base)) break;
    base.clear();
  }
  if (base.empty()) return;  // the random problems reach such a kernel
  // Each pair of layouts is met with both alignments, each three of them with one; under AddressSanitizer, where a run
  // takes ten times as long, each pair with one.
  const std::vector<std::string> outs{"dense", "channels_last", "sliced", "permuted", "flipped", "offset"};
  const std::vector<std::string> ins{"dense", "channels_last", "sliced", "permuted", "flipped", "offset", "expanded"};
  for (std::size_t x = 0; x < ins.size(); ++x)
    for (std::size_t weight = 0; weight < ins.size(); ++weight)
      for (std::size_t out = 0; out < outs.size(); ++out) {
        if (address_sanitizer && out != (x + weight) % outs.size()) continue;
        const bool aligned = (address_sanitizer ? weight : x + weight + out) % 2 == 0;
        const std::string line = fmt::format("{} x.layout={} weight.layout={} out.layout={} align={}", base, ins[x],
                                             ins[weight], outs[out], aligned ? 64 : 2);
        EXPECT_TRUE(runs(line)) << line << ": no layout may be refused, for copies are steps of the route";
      }
}

TEST_P(Conformance, RandomProblems) {
  constexpr int enough = 150, most = 10'000;  // of a narrow kernel's many refusals one must be an admission
  int ran = 0, tried = 0;
  for (std::uint64_t index = 0; tried < enough || (ran == 0 && tried < most); ++index) {
    problem::Problem problem = problem::random_problem(op(), 20261130, index);
    if (problem.dtype != dtype() || problem.bias != has_bias()) continue;
    ++tried;
    const problem::Guard guard = index % 2 == 0 ? problem::Guard::end : problem::Guard::front;
    auto workload = problem::make_workload(problem, guard);
    ASSERT_TRUE(workload) << problem::to_line(problem) << ": " << workload.error().message;
    ran += run(*workload, problem.data == problem::DataKind::integer, problem::to_line(problem));
  }
  EXPECT_GT(ran, 0) << "of " << tried;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, Conformance, ::testing::ValuesIn(convolutions()), test_name);

TEST(ConformanceTable, EveryDocumentIsBound) {
  const auto bindings_of = [](std::string_view path) {
    return std::ranges::count(catalog().table().all(), path, &bind::Binding::document);
  };
  ASSERT_FALSE(bind::builtin_documents().empty());
  for (const bind::BuiltinDocument& document : bind::builtin_documents())
    EXPECT_GT(bindings_of(document.path), 0) << document.path;
  EXPECT_EQ(bindings_of(suites + "/contracts/cpu-conv.fkc.md"), 16);
}

// Whatever the narrow kernels refuse, the library itself may refuse no problem.
TEST(ConformanceTable, SomeKernelAdmitsEveryProblem) {
  for (const Op op : {Op::conv2d, Op::conv_transpose2d})
    for (std::uint64_t index = 0; index < 500; ++index) {
      const problem::Problem problem = problem::random_problem(op, 7, index);
      const auto workload = problem::make_workload(problem);
      ASSERT_TRUE(workload) << problem::to_line(problem) << ": " << workload.error().message;
      const auto plan = judge::plan_for(*workload, {});
      EXPECT_TRUE(plan) << problem::to_line(problem) << ": " << plan.error().message;
    }
}

}  // namespace
}  // namespace convoke

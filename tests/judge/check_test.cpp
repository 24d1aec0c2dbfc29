// SPDX-License-Identifier: Apache-2.0 OR MIT
// The judge must say no: to outputs that are wrong by one bit, to kernels that write where they may not, and to claims
// that it cannot judge.
#include "judge/check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>

#include "base/file.hpp"
#include "bind/binding_table.hpp"
#include "plan/plan_impl.hpp"
#include "problem/problem.hpp"
#include "problem/workload.hpp"

namespace convoke::judge {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string normal = "conv2d x=1x4x6x7 weight=3x4x3x3 data=normal seed=5";
const std::string integers = "conv2d x=1x4x6x7 weight=3x4x3x3 data=int seed=5";

problem::Workload workload(const std::string& line) {
  return problem::make_workload(problem::parse_problem(line).value()).value();
}

void flip_last_bit(const Tensor& tensor, std::size_t element) {
  static_cast<std::byte*>(tensor.data)[element * size_of(tensor.spec.dtype)] ^= std::byte{1};
}

/// A plan whose kernel is `function`, and what else `change` does to its binding and step.
struct FakePlan {
  bind::Binding binding;
  Plan plan;

  explicit FakePlan(const problem::Workload& w, convoke_host_kernel function, std::size_t workspace_bytes = 0)
      : plan(plan_for(w, {}).value()) {
    Plan::Impl impl = plan.impl();
    planner::Step& step = impl.route.steps.at(0);
    honest = step.binding->function;
    binding = *step.binding;
    binding.function = function;
    step.binding = &binding;
    impl.route.scratch_bytes = workspace_bytes;
    if (workspace_bytes != 0) {
      step.workspace = planner::Slot{.place = planner::Place::scratch, .bytes = workspace_bytes, .spec = {}};
    }
    plan = Plan(std::make_shared<const Plan::Impl>(std::move(impl)));
  }
  FakePlan(const FakePlan&) = delete;
  FakePlan& operator=(const FakePlan&) = delete;

  static inline convoke_host_kernel honest = nullptr;
};

// The fault that a test plants: AddressSanitizer, which would end the program here, must not see it.
[[gnu::noinline]] __attribute__((no_sanitize("address"))) void clear_stray_byte(void* data, std::ptrdiff_t offset) {
  static_cast<std::byte*>(data)[offset] = std::byte{0};
}

TEST(Check, AnHonestKernelPasses) {
  for (const std::string& line : {normal, integers}) {
    problem::Workload w = workload(line);
    const FakePlan fake(w, [](const convoke_call* call) { return FakePlan::honest(call); });
    CheckOptions options;
    options.sums_are_exact = line == integers;
    const Check check = judge::check(fake.plan, w, options);
    EXPECT_TRUE(check.passed) << check.reason;
    EXPECT_THAT(check.reason, IsEmpty());
    ASSERT_TRUE(check.law && check.exact);
    EXPECT_EQ(check.law->compared, 3 * 4 * 5);
    EXPECT_EQ(check.exact->compared, 3 * 4 * 5);
    EXPECT_EQ(check.exact->worst_error_over_bound > 0, line == normal);
  }
}

TEST(Check, OneWrongBitBreaksTheLaw) {
  problem::Workload w = workload(normal);
  const Plan plan = plan_for(w, {}).value();
  ASSERT_TRUE(judge::check(plan, w).passed);
  flip_last_bit(w.out(), 17);
  const Check check = check_output(plan, w);
  EXPECT_FALSE(check.passed);
  EXPECT_THAT(check.reason, StartsWith("law oracle: 1 of 60 outputs wrong, first out[0,0,3,2] is "));
  ASSERT_TRUE(check.law && check.exact);
  EXPECT_EQ(check.law->wrong, 1);
  EXPECT_EQ(check.exact->wrong, 0) << "a last bit is within the bound";
}

TEST(Check, OneWrongBitBreaksAnExactSum) {
  problem::Workload w = workload(integers);
  const Plan plan = plan_for(w, {}).value();
  ASSERT_TRUE(judge::check(plan, w).passed);
  flip_last_bit(w.out(), 59);
  CheckOptions options;
  options.sums_are_exact = true;
  const Check check = check_output(plan, w, options);
  EXPECT_FALSE(check.passed);
  ASSERT_TRUE(check.exact);
  EXPECT_EQ(check.exact->wrong, 1);
}

TEST(Check, FaultyKernelsAreFound) {
  struct Row {
    const char* reason;
    convoke_host_kernel kernel;
  };
  const Row rows[] = {
      {"failed with status 9", [](const convoke_call*) -> std::int32_t { return 9; }},
      {"law oracle: 60 of 60 outputs wrong", [](const convoke_call*) -> std::int32_t { return CONVOKE_OK; }},
      {"x: memory changed",
       [](const convoke_call* call) {
         static_cast<std::byte*>(call->inputs[0]->data)[8] ^= std::byte{1};
         return FakePlan::honest(call);
       }},
      {"weight: memory changed",
       [](const convoke_call* call) {
         const std::int32_t status = FakePlan::honest(call);
         static_cast<std::byte*>(call->inputs[1]->data)[0] ^= std::byte{1};
         return status;
       }},
      {"out: memory changed",
       [](const convoke_call* call) {
         clear_stray_byte(call->outputs[0]->data, -1);
         return FakePlan::honest(call);
       }},
      // The scratch starts on a page inside a buffer that starts behind one, so this byte is in front of the buffer.
      {"wrote outside the scratch",
       [](const convoke_call* call) {
         clear_stray_byte(call->scratch, -65);
         return FakePlan::honest(call);
       }},
  };
  for (const Row& row : rows) {
    problem::Workload w = workload(normal);
    const FakePlan fake(w, row.kernel, 64);
    const Check check = judge::check(fake.plan, w);
    EXPECT_FALSE(check.passed) << row.reason;
    EXPECT_THAT(check.reason, HasSubstr(row.reason));
  }
}

TEST(Check, GapsOfTheOutputAreNotItsElements) {
  problem::Workload w = workload(normal + " out.layout=sliced");
  const FakePlan fake(w, [](const convoke_call* call) {
    const convoke_operand& out = *call->outputs[0];
    static_cast<float*>(out.data)[out.offset + 5 * out.stride[3]] = 0;  // rows have 5 elements and then a gap
    return FakePlan::honest(call);
  });
  EXPECT_THAT(judge::check(fake.plan, w).reason, StartsWith("out: memory changed"));
}

TEST(Check, ARunThatFailsIsTheReason) {
  problem::Workload w = workload(normal);
  CheckOptions options;
  options.run.threads = -1;
  const Check check = judge::check(plan_for(w, {}).value(), w, options);
  EXPECT_FALSE(check.passed);
  EXPECT_THAT(check.reason, HasSubstr("threads"));
}

// The seed's conv2d_f32, which is ours under another name, with a bound of its own.
class StatedBound : public ::testing::Test {
 protected:
  static Check check(const std::string& error, bool run = true) {
    const std::string path = std::string(CONVOKE_SUITES) + "/contracts/cpu-conv.fkc.md";
    std::string text = read_file(path).value();
    const std::string after = "\ndeterminism: same_hardware_bitwise\n";
    text.insert(text.find(after) + after.size(), "numerics: { error: " + error + " }\n");
    const auto catalog = Catalog::with_documents({{path, text}});
    EXPECT_TRUE(catalog) << catalog.error().message;
    problem::Workload w = workload(normal);
    PlanOptions options;
    options.kernel = "cpu/portable-cpu/conv2d_f32/*";
    options.catalog = &*catalog;
    const Plan plan = plan_for(w, options).value();
    return run ? judge::check(plan, w) : check_output(plan, w);
  }
};

TEST_F(StatedBound, IsWhatTheExactOracleUses) {
  const Check honest = check("{ scale: output, terms: \"Cin / groups * Kh * Kw\", unit: F32 }");
  EXPECT_TRUE(honest.passed) << honest.reason;
  EXPECT_TRUE(honest.law) << "its twin obeys the law";
  const Check loose = check("{ scale: output, terms: \"Cin / groups * Kh * Kw\", unit: BF16 }");
  EXPECT_TRUE(loose.passed) << loose.reason;
  EXPECT_LT(loose.exact->worst_error_over_bound, honest.exact->worst_error_over_bound / 1000);
  const Check bold = check("{ scale: output, terms: \"0\", unit: F32 }");
  EXPECT_FALSE(bold.passed);
  EXPECT_THAT(bold.reason, StartsWith("exact oracle: "));
}

TEST_F(StatedBound, ThatCannotBeJudgedFails) {
  EXPECT_THAT(check("{ scale: plane, terms: \"9\", unit: F32 }").reason, StartsWith("numerics.error.scale: "));
  EXPECT_THAT(check("{ scale: output, terms: \"9 * tiles\", unit: F32 }").reason,
              StartsWith("numerics.error.terms: `9 * tiles`"));
  EXPECT_THAT(check("{ scale: output, terms: \"9\", unit: I32 }").reason, StartsWith("numerics.error.unit: `I32`"));
}

// A route that works in f64 claims neither f32's law nor f32's overflow.
TEST(Check, HoldsARouteThroughAWiderTypeToTheBoundOfThatType) {
  for (const char* line : {"conv2d x=1x4x6x7 weight=3x4x3x3 bias=1 data=normal seed=5",
                           "conv2d x=2x36x2x3 weight=8x9x3x3 bias=1 stride=3 padding=1x2 groups=4 data=special "
                           "seed=2234974453"}) {
    problem::Workload w = workload(line);
    PlanOptions options;
    options.kernel = "cpu/portable/conv2d_f64/*";
    const Check check = judge::check(plan_for(w, options).value(), w);
    EXPECT_TRUE(check.passed) << check.reason;
    EXPECT_FALSE(check.law);
    EXPECT_LT(check.exact->worst_error_over_bound, 1.0);
  }
}

TEST(Check, HoldsHalvesThroughF32ToTheLaw) {
  for (const char* dtype : {"bf16", "f16"}) {
    problem::Workload w = workload(normal + " dtype=" + dtype);
    PlanOptions options;
    options.kernel = "cpu/portable/conv2d_f32/*";
    const Check check = judge::check(plan_for(w, options).value(), w);
    EXPECT_TRUE(check.passed) << check.reason;
    EXPECT_TRUE(check.law);
  }
}

TEST(PlanFor, GivesBackTheWorkloadsGeometry) {
  for (const char* line :
       {"conv2d x=1x4x9x9 weight=4x2x3x2 stride=2x1 padding=1,0,2,1 dilation=1x2 groups=2",
        "conv2d x=1x2x0x5 weight=3x2x3x3 padding=same",
        "conv_transpose2d x=1x4x5x5 weight=4x3x3x3 stride=2 padding=1 output_padding=1x0 groups=2"}) {
    const problem::Workload w = workload(line);
    const auto plan = plan_for(w, {});
    ASSERT_TRUE(plan) << line << ": " << plan.error().message;
    EXPECT_EQ(plan->output_shape(), w.geometry()->out_shape()) << line;
  }
}

TEST(KernelsOf, AreTheConvolutionsOfOneOperation) {
  const Catalog& catalog = Catalog::builtin();
  for (const Op op : {Op::conv2d, Op::conv_transpose2d}) {
    const auto ids = kernels_of(catalog, op);
    EXPECT_FALSE(ids.empty());
    for (const std::string& id : ids) EXPECT_THAT(id, HasSubstr(std::string("/") + std::string(name_of(op)) + "_"));
  }
}

}  // namespace
}  // namespace convoke::judge

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <cstring>
#include <latch>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "convoke/plan.hpp"
#include "judge/check.hpp"
#include "problem/problem.hpp"
#include "problem/workload.hpp"

namespace convoke {
namespace {

using ::testing::HasSubstr;

constexpr const char* line =
    "conv2d x=2x6x9x8 weight=4x3x3x2 bias=1 stride=2x1 padding=1 dilation=1x2 groups=2 data=normal seed=7";

problem::Workload workload(const std::string& text) {
  return problem::make_workload(problem::parse_problem(text).value()).value();
}

std::vector<std::byte> output(const problem::Workload& w) {
  const auto* data = static_cast<const std::byte*>(w.out().data);
  return {data, data + w.out().bytes};
}

// Operands that can be changed one by one.
struct Call {
  problem::Workload w = workload(line);
  Plan plan = judge::plan_for(w, {}).value();
  ConstTensor x = w.x(), weight = w.weight();
  std::optional<ConstTensor> bias = w.bias();
  Tensor out = w.out();
  RunOptions options;

  Result<void> run() const { return plan.run(x, weight, bias, out, options); }
};

template <class Change>
Error error_of(Change change) {
  Call call;
  const std::vector<std::byte> before = output(call.w);
  change(call);
  const auto result = call.run();
  EXPECT_FALSE(result);
  EXPECT_EQ(output(call.w), before) << "out must be as it was";
  return result ? Error{} : result.error();
}

TEST(Run, TheResultIsTheLaws) {
  Call call;
  const judge::Check check = judge::check(call.plan, call.w);
  EXPECT_TRUE(check.passed) << check.reason;
  ASSERT_TRUE(check.law);
  EXPECT_EQ(check.law->compared, 2 * 4 * 5 * 8);
}

TEST(Run, TensorsMustBeThoseOfThePlan) {
  EXPECT_EQ(error_of([](Call& c) { c.x.spec.shape[0] = 1; }).rule, "x");
  EXPECT_EQ(error_of([](Call& c) { c.weight.spec.strides[0] += 1; }).rule, "weight");
  EXPECT_EQ(error_of([](Call& c) { c.out.spec.dtype = DType::f64; }).rule, "out");
  EXPECT_EQ(error_of([](Call& c) { c.bias->spec.offset = 1; }).rule, "bias");
  EXPECT_EQ(error_of([](Call& c) { c.bias.reset(); }).rule, "bias");
}

TEST(Run, MemoryMustBeThere) {
  EXPECT_THAT(error_of([](Call& c) { c.x.data = nullptr; }).message, HasSubstr("null"));
  EXPECT_EQ(error_of([](Call& c) { c.x.bytes -= 1; }).code, ErrorCode::invalid_layout);
  EXPECT_EQ(error_of([](Call& c) { c.out.bytes = 0; }).code, ErrorCode::invalid_layout);
}

TEST(Run, AlignmentIsCheckedAgainstThePromise) {
  const Error error = error_of([](Call& c) {
    c.x.data = static_cast<const std::byte*>(c.x.data) + 4;
    c.x.bytes -= 4;
    c.x.bytes += 4;
  });
  EXPECT_THAT(error.message, HasSubstr("aligned"));
}

TEST(Run, OutMustNotMeetAnInput) {
  const Error with_x = error_of([](Call& c) {
    c.out.data = const_cast<void*>(c.x.data);
    c.out.bytes = std::max(c.out.bytes, c.x.bytes);
  });
  EXPECT_EQ(with_x.code, ErrorCode::overlap);
  EXPECT_THAT(with_x.message, HasSubstr("x"));
}

TEST(Run, OptionsAreJudged) {
  EXPECT_EQ(error_of([](Call& c) { c.options.threads = -1; }).rule, "threads");
}

TEST(Run, TheCallersScratchMustSuffice) {
  problem::Workload w = workload(std::string(line) + " x.layout=channels_last");
  PlanOptions options;
  std::vector<std::byte> scratch(16);
  RunOptions run;
  run.scratch = scratch.data();
  run.scratch_bytes = scratch.size();
  // Unaligned elements need a copy, so this route has scratch whatever the layout.
  TensorSpec x = w.x().spec;
  x.align = 2;
  const auto planned =
      plan(x, w.weight().spec, w.bias()->spec, w.out().spec, Conv2dParams{{2, 1}, 1, {1, 2}, 2}, options);
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_GT(planned->workspace_bytes(), scratch.size());
  const auto short_one = planned->run(w.x(), w.weight(), w.bias(), w.out(), run);
  ASSERT_FALSE(short_one);
  EXPECT_EQ(short_one.error().rule, "scratch");
  scratch.resize(planned->workspace_bytes() + 1);
  run.scratch = scratch.data() + 1;
  run.scratch_bytes = scratch.size() - 1;
  EXPECT_TRUE(planned->run(w.x(), w.weight(), w.bias(), w.out(), run)) << "any alignment will do";
  EXPECT_TRUE(judge::check_output(*planned, w).passed);
}

TEST(Run, TheBitsDependOnNothingElse) {
  Call call;
  ASSERT_TRUE(call.run());
  const std::vector<std::byte> want = output(call.w);
  for (int threads : {1, 2, 3, 8}) {
    call.w.reset_out();
    call.options.threads = threads;
    ASSERT_TRUE(call.run());
    EXPECT_EQ(output(call.w), want) << threads << " threads";
  }
}

TEST(Run, ACallersPoolIsUsed) {
  Call call;
  ASSERT_TRUE(call.run());
  const std::vector<std::byte> want = output(call.w);
  call.w.reset_out();
  std::atomic<std::int64_t> covered = 0;
  call.options.threads = 4;
  call.options.parallel_for = [&](std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
    for (std::int64_t i = count; i-- > 0;) {
      body(i, i + 1);
      ++covered;
    }
  };
  ASSERT_TRUE(call.run());
  EXPECT_GT(covered, 1);
  EXPECT_EQ(output(call.w), want);
}

// A pool whose waiting thread steals another task that convolves too: both runs need scratch on the same thread.
TEST(Run, ARunInsideARunOnTheSameThreadHasItsOwnScratch) {
  const std::string copied = std::string(line) + " x.layout=channels_last align=2";
  const auto forced = [&](problem::Workload& w) { return judge::plan_for(w, {}).value(); };
  problem::Workload outer = workload(copied), inner = workload(copied);
  const Plan outer_plan = forced(outer), inner_plan = forced(inner);
  ASSERT_GT(outer_plan.workspace_bytes(), 0u);
  RunOptions options;
  bool stolen = false;
  options.parallel_for = [&](std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!std::exchange(stolen, true)) {
        ASSERT_TRUE(inner_plan.run(inner.x(), inner.weight(), inner.bias(), inner.out(), {}));
      }
      body(i, i + 1);
    }
  };
  ASSERT_TRUE(outer_plan.run(outer.x(), outer.weight(), outer.bias(), outer.out(), options));
  EXPECT_TRUE(stolen);
  EXPECT_TRUE(judge::check_output(outer_plan, outer).passed);
  EXPECT_TRUE(judge::check_output(inner_plan, inner).passed);
}

TEST(Run, ScratchMustNotMeetAnOperand) {
  const Error error = error_of([](Call& c) {
    c.options.scratch = const_cast<void*>(c.x.data);
    c.options.scratch_bytes = c.x.bytes;
  });
  EXPECT_EQ(error.code, ErrorCode::overlap);
  EXPECT_EQ(error.rule, "scratch");
}

TEST(Run, MoreThreadsThanTheSystemHasAreNotStarted) {
  Call call;
  call.options.threads = 1 << 30;
  EXPECT_TRUE(call.run());
}

TEST(Run, APoolThatFailsIsAnError) {
  using Body = std::function<void(std::int64_t, std::int64_t)>;
  const std::vector<ParallelFor> pools = {
      [](std::int64_t, const Body&) { throw std::runtime_error("full"); },
      [](std::int64_t count, const Body& body) { body(0, count - 1); },
      [](std::int64_t count, const Body& body) { body(0, count + 1); },
      [](std::int64_t count, const Body& body) {
        body(0, count);
        body(count - 1, count);
      },
  };
  for (const ParallelFor& pool : pools) {
    Call call;
    call.options.parallel_for = pool;
    const auto ran = call.run();
    ASSERT_FALSE(ran);
    EXPECT_EQ(ran.error().rule, "parallel_for");
  }
}

TEST(Run, TheCallersFloatingPointStateIsIgnoredAndRestored) {
  Call call;
  ASSERT_TRUE(call.run());
  const std::vector<std::byte> want = output(call.w);
  call.w.reset_out();
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  const auto ran = call.run();
  const int round = std::fegetround();
  std::fesetround(FE_TONEAREST);
  ASSERT_TRUE(ran);
  EXPECT_EQ(round, FE_UPWARD);
  EXPECT_EQ(output(call.w), want);
}

TEST(Run, OnePlanServesManyThreads) {
  Call call;
  ASSERT_TRUE(call.run());
  const std::vector<std::byte> want = output(call.w);
  std::vector<std::vector<std::byte>> results(4);
  // Threads end together: LLVM 19's OpenMP was seen to end the process ("Stack overlap detected") where one ended while
  // another started its team.
  std::latch all_ran(static_cast<std::ptrdiff_t>(results.size()));
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&call, &result, &all_ran] {
      problem::Workload own = workload(line);
      RunOptions options;
      options.threads = 2;
      if (call.plan.run(own.x(), own.weight(), own.bias(), own.out(), options)) result = output(own);
      all_ran.arrive_and_wait();
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, want);
}

TEST(Run, OneCallPlansForThePointersItGets) {
  problem::Workload w = workload(std::string(line) + " align=2");
  const auto ran = conv2d(w.x(), w.weight(), w.bias(), w.out(), Conv2dParams{{2, 1}, 1, {1, 2}, 2});
  ASSERT_TRUE(ran) << ran.error().message;
  const auto planned = judge::plan_for(w, {});
  ASSERT_TRUE(planned);
  const judge::Check check = judge::check_output(*planned, w);
  EXPECT_TRUE(check.passed) << check.reason;
}

// Kept as text and read again: direct, with copies on both sides, transposed, and of another type.
TEST(Run, APlanReadBackFromItsTextGivesTheSameBits) {
  for (const std::string& text :
       {std::string(line), std::string(line) + " x.layout=channels_last out.layout=sliced align=2",
        std::string("conv2d x=1x3x9x7 weight=4x3x3x3 padding=same stride=2 dtype=bf16 data=normal seed=3"),
        std::string(
            "conv_transpose2d x=1x4x5x5 weight=4x3x3x3 bias=1 stride=2 output_padding=1 groups=2 data=normal")}) {
    problem::Workload w = workload(text);
    const Plan planned = judge::plan_for(w, {}).value();
    ASSERT_TRUE(planned.run(w.x(), w.weight(), w.bias(), w.out())) << text;
    const std::vector<std::byte> want = output(w);
    w.reset_out();
    ASSERT_NE(output(w), want) << text;
    const auto read = Plan::from_json(planned.to_json());
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(read->route(), planned.route()) << text;
    const auto ran = read->run(w.x(), w.weight(), w.bias(), w.out());
    ASSERT_TRUE(ran) << text << ": " << ran.error().message;
    EXPECT_EQ(output(w), want) << text;
    EXPECT_TRUE(judge::check_output(*read, w).passed) << text;
  }
}

TEST(Run, EmptyTensorsNeedNoMemory) {
  const TensorSpec x = TensorSpec::dense(DType::f32, {0, 3, 8, 8});
  const TensorSpec weight = TensorSpec::dense(DType::f32, {2, 3, 3, 3});
  const std::vector<float> weights(54);
  const auto ran = conv2d({nullptr, 0, x}, {weights.data(), weights.size() * sizeof(float), weight}, std::nullopt,
                          {nullptr, 0, TensorSpec::dense(DType::f32, {0, 2, 6, 6})});
  EXPECT_TRUE(ran) << ran.error().message;
}

}  // namespace
}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "cpu/call.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <vector>

namespace convoke::cpu {
namespace {

using Body = std::function<void(std::int64_t, std::int64_t)>;

constexpr std::int64_t count = 10;

// A kernel that hands `count` indices to the caller's pool, if there is one, and counts what comes back in its scratch.
std::int32_t counting_kernel(const convoke_call* call) {
  if (call->parallel_for == nullptr) return CONVOKE_RUNTIME_FAILURE;
  const auto count_up = [](void* context, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) static_cast<int*>(context)[i] += 1;
  };
  call->parallel_for->run(call->parallel_for->context, count, count_up, call->scratch);
  return CONVOKE_OK;
}

struct Outcome {
  int status = 0;
  std::array<int, count> times{};
};

Outcome run_with(const ParallelFor& pool) {
  Outcome outcome;
  Call call;
  call.function = counting_kernel;
  call.scratch = outcome.times.data();
  call.parallel_for = &pool;
  outcome.status = run(call);
  return outcome;
}

TEST(ToOperand, CarriesTheSpec) {
  TensorSpec spec = TensorSpec::dense(DType::bf16, {2, 3, 4});
  spec.strides = {0, -4, 1};
  spec.offset = 8;
  std::array<std::uint16_t, 24> data{};
  const convoke_operand operand = to_operand(spec, data.data(), sizeof data);
  EXPECT_EQ(operand.size, sizeof(convoke_operand));
  EXPECT_EQ(operand.dtype, CONVOKE_BF16);
  EXPECT_EQ(operand.rank, 3);
  EXPECT_EQ(operand.reserved, 0);
  EXPECT_EQ(operand.data, data.data());
  EXPECT_EQ(operand.bytes, sizeof data);
  EXPECT_EQ(operand.offset, 8);
  for (int axis = 0; axis < CONVOKE_MAX_RANK; ++axis) {
    EXPECT_EQ(operand.shape[axis], axis < 3 ? spec.shape[axis] : 0) << axis;
    EXPECT_EQ(operand.stride[axis], axis < 3 ? spec.strides[axis] : 0) << axis;
  }
}

TEST(ToOperand, EveryDtypeHasItsNumber) {
  const auto number = [](DType dtype) { return to_operand(TensorSpec::dense(dtype, {}), nullptr, 0).dtype; };
  EXPECT_EQ(number(DType::f32), CONVOKE_F32);
  EXPECT_EQ(number(DType::f64), CONVOKE_F64);
  EXPECT_EQ(number(DType::bf16), CONVOKE_BF16);
  EXPECT_EQ(number(DType::f16), CONVOKE_F16);
}

TEST(Threads, AreBounded) {
  EXPECT_GE(default_threads(), 1);
  EXPECT_EQ(usable_threads(1), 1);
  EXPECT_EQ(usable_threads(2), 2);
  EXPECT_EQ(usable_threads(0), usable_threads(default_threads()));
  EXPECT_GE(usable_threads(1'000'000), 8);
  EXPECT_LT(usable_threads(1'000'000), 1'000'000) << "OpenMP ends the process where there are no more threads";
}

TEST(CallTest, TheKernelSeesWhatItIsHanded) {
  struct Seen {
    convoke_call call{};
    const convoke_operand *input = nullptr, *output = nullptr;
  };
  static Seen seen;
  const auto kernel = [](const convoke_call* call) -> std::int32_t {
    seen = {*call, call->inputs[1], call->outputs[0]};
    return 5;
  };
  const std::vector<convoke_operand> inputs(2), outputs(1);
  int params = 0, scratch = 0;
  EXPECT_EQ(run({.function = kernel,
                 .inputs = inputs,
                 .outputs = outputs,
                 .params = &params,
                 .scratch = &scratch,
                 .scratch_bytes = sizeof scratch,
                 .threads = 3}),
            5);
  EXPECT_EQ(seen.call.size, sizeof(convoke_call));
  EXPECT_EQ(seen.call.version, CONVOKE_KERNEL_VERSION);
  EXPECT_EQ(seen.call.input_count, 2);
  EXPECT_EQ(seen.call.output_count, 1);
  EXPECT_EQ(seen.input, &inputs[1]);
  EXPECT_EQ(seen.output, &outputs[0]);
  EXPECT_EQ(seen.call.params, &params);
  EXPECT_EQ(seen.call.scratch, &scratch);
  EXPECT_EQ(seen.call.scratch_bytes, sizeof scratch);
  EXPECT_EQ(seen.call.threads, 3);
  EXPECT_EQ(seen.call.parallel_for, nullptr);
}

TEST(CallTest, AnEmptyPoolIsNone) {
  Call call;
  call.function = counting_kernel;
  EXPECT_EQ(run(call), CONVOKE_RUNTIME_FAILURE);
  EXPECT_EQ(run_with({}).status, CONVOKE_RUNTIME_FAILURE);
}

TEST(CallTest, APoolThatCoversEveryRangeOnceIsFine) {
  const std::vector<ParallelFor> pools = {
      [](std::int64_t n, const Body& body) { body(0, n); },
      [](std::int64_t n, const Body& body) {
        for (std::int64_t i = n; i-- > 0;) body(i, i + 1);
      },
  };
  for (const ParallelFor& pool : pools) {
    const Outcome outcome = run_with(pool);
    EXPECT_EQ(outcome.status, CONVOKE_OK);
    for (const int times : outcome.times) EXPECT_EQ(times, 1);
  }
}

TEST(CallTest, APoolThatDoesNotIsAFailure) {
  struct Row {
    const char* what;
    ParallelFor pool;
  };
  const std::vector<Row> rows = {
      {"throws", [](std::int64_t, const Body&) { throw std::runtime_error("full"); }},
      {"throws something else", [](std::int64_t, const Body&) { throw 5; }},  // NOLINT: a stranger's habit
      {"throws when all is done",
       [](std::int64_t n, const Body& body) {
         body(0, n);
         throw std::runtime_error("late");
       }},
      {"does nothing", [](std::int64_t, const Body&) {}},
      {"leaves the last out", [](std::int64_t n, const Body& body) { body(0, n - 1); }},
      {"goes beyond the end", [](std::int64_t n, const Body& body) { body(0, n + 1); }},
      {"starts before 0", [](std::int64_t n, const Body& body) { body(-1, n); }},
      {"gives a range twice",
       [](std::int64_t n, const Body& body) {
         body(0, n);
         body(n - 1, n);
       }},
      {"turns a range around", [](std::int64_t n, const Body& body) { body(n, 0); }},
  };
  for (const auto& [what, pool] : rows) EXPECT_EQ(run_with(pool).status, pool_failure) << what;
}

}  // namespace
}  // namespace convoke::cpu

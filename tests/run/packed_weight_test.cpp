// SPDX-License-Identifier: Apache-2.0 OR MIT
// A weight is packed once; every plan that would have packed it to the same takes it, and no other.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "base/digest.hpp"
#include "convoke/plan.hpp"
#include "judge/check.hpp"
#include "plan/plan_impl.hpp"
#include "problem/workload.hpp"
#include "tests/device/fake_device.hpp"
#include "tests/plan/rivals.hpp"

namespace convoke {
namespace {

using problem::Workload;
using rivals::Contest;
using rivals::take_calls;
using rivals::workload_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string sections =
    rivals::packing_convolution("flops: \"n\", overhead_ns: \"7\"") + rivals::pack_kernel("flops: \"5 * n\"");
constexpr const char* strided = "conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=1";

// A workload and the plan of these options for it.
struct Planned {
  Planned(const std::string& line, const PlanOptions& options)
      : workload(workload_of(line)), plan(judge::plan_for(workload, options).value()) {}

  Result<PackedWeight> pack(const RunOptions& options = {}) const { return plan.pack(workload.weight(), options); }
  Result<void> run(const PackedWeight& weight, const RunOptions& options = {}) {
    workload.reset_out();
    return plan.run(workload.x(), weight, workload.bias(), workload.out(), options);
  }
  // What the plan gives of the weight itself.
  std::string whole() {
    workload.reset_out();
    EXPECT_TRUE(plan.run(workload.x(), workload.weight(), workload.bias(), workload.out()));
    return digest_of(workload.out());
  }
  std::string with(const PackedWeight& weight) {
    const auto ran = run(weight);
    EXPECT_TRUE(ran) << ran.error().message;
    return digest_of(workload.out());
  }

  Workload workload;
  Plan plan;
};

TEST(PackedWeight, IsPackedOnceAndUsedAgain) {
  const Contest contest(sections);
  Planned planned(strided, contest.options());
  const std::string whole = planned.whole();
  take_calls();
  const auto packed = planned.pack();
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_THAT(take_calls(), ElementsAre("pack"));
  EXPECT_EQ(planned.with(*packed), whole);
  EXPECT_EQ(planned.with(*packed), whole);
  EXPECT_THAT(take_calls(), ElementsAre("packed", "packed"));
}

TEST(PackedWeight, SaysWhatItIsAndWhatMadeIt) {
  const Contest contest(sections);
  const Planned planned(std::string(strided) + " weight.layout=flipped", contest.options());
  const PackedWeight packed = planned.pack().value();
  const auto route = planned.plan.route();
  ASSERT_EQ(route.size(), 3u);
  EXPECT_THAT(packed.kernels(), ElementsAre(route[0], route[1]));
  ASSERT_EQ(packed.digests().size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(packed.digests()[i], planned.plan.impl().route.steps[i].binding->contract->block_digest);
  EXPECT_EQ(packed.bytes(), 8 + 4 * 5 * 3 * 3 * 3u);
  EXPECT_EQ(packed.weight().shape, (Dims{5, 3, 3, 3}));
  EXPECT_EQ(packed.weight().strides, planned.workload.weight().spec.strides);
}

TEST(PackedWeight, NeedsNeitherTheWeightNorThePlanNorTheCatalogAfterwards) {
  std::optional<PackedWeight> packed;
  std::string whole;
  {
    const Contest contest(sections);
    Planned planned(strided, contest.options());
    whole = planned.whole();
    packed = planned.pack().value();
    auto* const values = static_cast<float*>(const_cast<void*>(planned.workload.weight().data));
    std::fill_n(values, 135, 0.0F);
    EXPECT_EQ(planned.with(*packed), whole);
  }
  const Contest other(sections);
  Planned planned(strided, other.options());
  EXPECT_EQ(planned.with(*packed), whole);
  const PackedWeight copy = *packed;
  packed.reset();
  EXPECT_EQ(planned.with(copy), whole);
}

TEST(PackedWeight, ServesPlansOfOtherImagesBatchesThreadsLayoutsAndBiases) {
  const Contest contest(sections);
  const PackedWeight packed = Planned(strided, contest.options()).pack().value();
  PlanOptions threads = contest.options();
  threads.threads = 4;
  threads.packed_weight = true;
  for (const auto& [line, options] :
       {std::pair{std::string("conv2d x=1x3x30x17 weight=5x3x3x3 stride=2x1 padding=1"), contest.options()},
        std::pair{std::string("conv2d x=6x3x9x8 weight=5x3x3x3 stride=2x1 padding=1"), contest.options()},
        std::pair{std::string("conv2d x=0x3x9x8 weight=5x3x3x3 stride=2x1 padding=1"), contest.options()},
        std::pair{std::string(strided) + " x.layout=channels_last", contest.options()},
        std::pair{std::string(strided) + " weight.layout=flipped", contest.options()},
        std::pair{std::string(strided), threads}}) {
    Planned planned(line, options);
    // The same values, in whatever order they lie.
    const PackedWeight own = planned.pack().value();
    EXPECT_EQ(planned.with(own), planned.whole()) << line;
    const auto ran = planned.run(packed);
    EXPECT_TRUE(ran) << line << ": " << ran.error().message;
  }
}

TEST(PackedWeight, APlanThatItDoesNotFitSaysInWhat) {
  const Contest contest(sections);
  const PackedWeight packed = Planned(strided, contest.options()).pack().value();
  struct Row {
    const char* line;
    const char* says;
  };
  for (const Row& row :
       {Row{"conv2d x=1x3x9x8 weight=6x3x3x3 stride=2x1 padding=1",
            "weight shape is [5, 3, 3, 3], the plan wants [6, 3, 3, 3]"},
        Row{"conv2d x=1x3x9x8 weight=5x3x3x3 stride=1x1 padding=1", "stride is [2, 1], the plan wants [1, 1]"},
        Row{"conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=2", "padding is [1, 1], the plan wants [2, 2]"},
        Row{"conv2d x=1x3x9x8 weight=5x3x3x3 stride=2x1 padding=1 dilation=2", "dilation is [1, 1], the plan wants"},
        Row{"conv2d x=1x15x9x8 weight=5x3x3x3 stride=2x1 padding=1 groups=5", "groups is 1, the plan wants 5"}}) {
    Planned planned(row.line, contest.options());
    const std::string before = digest_of(planned.workload.out());
    const auto ran = planned.plan.run(planned.workload.x(), packed, {}, planned.workload.out());
    ASSERT_FALSE(ran) << row.line;
    EXPECT_EQ(ran.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(ran.error().rule, "packed_weight");
    EXPECT_THAT(ran.error().message,
                AllOf(StartsWith("the packed weight does not fit this plan: "), HasSubstr(row.says)));
    EXPECT_EQ(ran.error().values.size(), 2u) << ran.error().message;
    EXPECT_EQ(digest_of(planned.workload.out()), before) << "out must be as it was";
  }
}

TEST(PackedWeight, AnotherKernelsFormIsRefused) {
  const Contest contest(sections);
  const PackedWeight packed = Planned(strided, contest.options()).pack().value();
  PlanOptions portable;
  portable.kernel = "cpu/portable/conv2d_f32/*";
  Planned plain(strided, portable);
  const Error as_plain = plain.run(packed).error();
  EXPECT_THAT(as_plain.message, AllOf(HasSubstr("Pack kernel is cpu/rivals/pack/"), HasSubstr("the plan wants none")));
  const PackedWeight unpacked = plain.pack().value();
  EXPECT_THAT(unpacked.kernels(), IsEmpty());
  EXPECT_THAT(Planned(strided, contest.options()).run(unpacked).error().message,
              HasSubstr("Pack kernel is none, the plan wants cpu/rivals/pack/"));
  // The Pack kernel's contract changed since.
  const Contest later(rivals::packing_convolution("flops: \"n\"") + rivals::pack_kernel("flops: \"6 * n\""));
  EXPECT_THAT(Planned(strided, later.options()).run(packed).error().message, HasSubstr("digest of the Pack kernel is"));
}

TEST(PackedWeight, OperationAndDtypeMustBeThoseItWasMadeFor) {
  PlanOptions options;
  options.kernel = "cpu/portable/*";
  const auto line = [](const char* op, const char* dtype) {
    return fmt::format("{} x=1x4x6x6 weight=4x4x3x3 dtype={}", op, dtype);
  };
  const PackedWeight packed = Planned(line("conv2d", "f32"), options).pack().value();
  EXPECT_THAT(Planned(line("conv_transpose2d", "f32"), options).run(packed).error().message,
              HasSubstr("operation is conv2d, the plan wants conv_transpose2d"));
  EXPECT_THAT(Planned(line("conv2d", "f64"), options).run(packed).error().message,
              HasSubstr("weight dtype is f32, the plan wants f64"));
}

// Without a Pack step the form is the kernel's: the weight as it lies, or dense, or cast.
TEST(PackedWeight, WithoutAPackKernelTheWeightIsKeptAsTheKernelTakesIt) {
  const Catalog& builtin = Catalog::builtin();
  for (const char* layout : {"dense", "channels_last", "sliced", "permuted", "flipped", "offset", "expanded"})
    for (const char* through : {"cpu/portable/conv2d_f16/*", "cpu/portable/conv2d_f32/*"}) {
      PlanOptions options;
      options.catalog = &builtin;
      options.demand = Demand::reproducible();
      options.kernel = through;
      Planned planned(fmt::format("conv2d x=2x4x6x5 weight=6x2x3x2 groups=2 bias=1 dtype=f16 weight.layout={}", layout),
                      options);
      const std::string whole = planned.whole();
      const auto packed = planned.pack();
      ASSERT_TRUE(packed) << packed.error().message;
      auto* const bytes = static_cast<std::byte*>(const_cast<void*>(planned.workload.weight().data));
      std::memset(bytes, 0, planned.workload.weight().bytes);
      EXPECT_EQ(planned.with(*packed), whole) << layout << through;
      const bool casts = std::string(through).find("f32") != std::string::npos;
      EXPECT_EQ(packed->kernels().empty(), !casts) << layout << through;
    }
}

TEST(PackedWeight, OfAWeightThatLiesOtherwiseTheFormDiffers) {
  PlanOptions options;
  options.kernel = "cpu/portable/conv2d_f32/*";
  const std::string line = "conv2d x=1x4x6x5 weight=6x4x3x2";
  const PackedWeight dense = Planned(line, options).pack().value();
  Planned flipped(line + " weight.layout=flipped", options);
  ASSERT_EQ(flipped.plan.route().size(), 1u);
  EXPECT_THAT(flipped.run(dense).error().message, AllOf(HasSubstr("strides taken"), HasSubstr("offset taken")));
}

TEST(PackedWeight, AnEmptyWeightIsPackedToo) {
  const Contest contest(sections);
  for (const char* line : {"conv2d x=1x3x9x8 weight=0x3x3x3", "conv2d x=1x0x9x8 weight=5x0x3x3"}) {
    PlanOptions portable;
    portable.kernel = "cpu/portable/conv2d_f32/*";
    for (const PlanOptions& options : {contest.options(), portable}) {
      Planned planned(line, options);
      const auto packed = planned.pack();
      ASSERT_TRUE(packed) << packed.error().message;
      EXPECT_EQ(planned.with(*packed), planned.whole());
    }
  }
}

TEST(PackedWeight, TheWeightAndTheOptionsAreJudged) {
  const Contest contest(sections);
  const Planned planned(strided, contest.options());
  ConstTensor weight = planned.workload.weight();
  const auto error = [&](const ConstTensor& tensor, const RunOptions& options = {}) {
    const auto packed = planned.plan.pack(tensor, options);
    EXPECT_FALSE(packed);
    return packed ? Error{} : packed.error();
  };
  ConstTensor other = weight;
  other.spec.shape[0] = 4;
  EXPECT_EQ(error(other).rule, "weight");
  other = weight;
  other.data = nullptr;
  EXPECT_THAT(error(other).message, HasSubstr("weight has no data"));
  other = weight;
  other.bytes -= 1;
  EXPECT_EQ(error(other).code, ErrorCode::invalid_layout);
  RunOptions options;
  options.threads = -1;
  EXPECT_EQ(error(weight, options).rule, "threads");
  options = {};
  options.scratch = const_cast<void*>(weight.data);
  options.scratch_bytes = weight.bytes;
  EXPECT_EQ(error(weight, options).code, ErrorCode::overlap);
  std::byte small[8];
  options.scratch = small;
  options.scratch_bytes = sizeof small;
  EXPECT_EQ(error(weight, options).rule, "scratch");
}

TEST(PackedWeight, RunStillJudgesTheOtherOperands) {
  const Contest contest(sections);
  Planned planned(strided, contest.options());
  const PackedWeight packed = planned.pack().value();
  const Workload& w = planned.workload;
  ConstTensor x = w.x();
  x.spec.shape[0] = 2;
  EXPECT_EQ(planned.plan.run(x, packed, {}, w.out()).error().rule, "x");
  EXPECT_EQ(planned.plan.run(w.x(), packed, w.x(), w.out()).error().rule, "bias");
  Tensor out = w.out();
  out.data = const_cast<void*>(w.x().data);
  EXPECT_EQ(planned.plan.run(w.x(), packed, {}, {out.data, w.out().bytes, out.spec}).error().rule, "out");
  RunOptions options;
  options.threads = -1;
  EXPECT_EQ(planned.run(packed, options).error().rule, "threads");
}

TEST(PackedWeight, APackedRunNeedsNoScratchForTheWeight) {
  const Contest contest(sections);
  Planned planned(std::string(strided) + " weight.layout=flipped", contest.options());
  const std::size_t weight = 4 * 5 * 3 * 3 * 3, whole = planned.plan.workspace_bytes();
  // The kernel's own scratch; before it the dense weight and the packed one.
  EXPECT_EQ(planned.plan.packed_workspace_bytes(), weight + planner::scratch_alignment - 1);
  EXPECT_GE(whole, planned.plan.packed_workspace_bytes() + weight + (8 + weight));
  judge::CheckOptions how;
  how.packed = true;
  const judge::Check check = judge::check(planned.plan, planned.workload, how);
  EXPECT_TRUE(check.passed) << check.reason;
  const PackedWeight packed = planned.pack().value();
  std::vector<std::byte> scratch(planned.plan.packed_workspace_bytes());
  RunOptions options;
  options.scratch = scratch.data();
  options.scratch_bytes = scratch.size();
  EXPECT_TRUE(planned.run(packed, options));
  options.scratch_bytes = weight - 1;
  EXPECT_EQ(planned.run(packed, options).error().rule, "scratch");
}

TEST(PackedWeight, IsUsedByManyThreadsAtOnce) {
  const Contest contest(sections);
  const PlanOptions options = contest.options();
  Planned first(strided, options);
  const PackedWeight packed = first.pack().value();
  const std::string whole = first.whole();
  std::vector<std::thread> threads;
  std::vector<std::string> digests(4);
  for (std::string& digest : digests)
    threads.emplace_back([&] {
      Planned own(strided, options);
      for (int i = 0; i < 20; ++i) {
        const PackedWeight copy = packed;
        RunOptions run;
        run.threads = 1;
        if (!own.run(copy, run)) return;
      }
      digest = digest_of(own.workload.out());
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& digest : digests) EXPECT_EQ(digest, whole);
}

TEST(PackedWeight, LiesOnTheDeviceThatConvolves) {
  fake::FakeDevice& device = fake::FakeDevice::get();
  PlanOptions options;
  options.kernel = "vulkan/*";
  options.catalog = &fake::seed_catalog();
  {
    Planned planned("conv2d x=1x3x9x8 weight=8x3x3x3 padding=1", options);
    const std::string whole = planned.whole();
    std::optional<PackedWeight> packed = planned.pack().value();
    EXPECT_EQ(device.live(), 1u) << "the weight";
    const std::size_t before = device.allocations();
    EXPECT_EQ(planned.with(*packed), whole);
    EXPECT_EQ(device.allocations(), before + 2) << "x and out";
    EXPECT_EQ(device.live(), 1u);
    Planned host("conv2d x=1x3x9x8 weight=8x3x3x3 padding=1", {});
    EXPECT_THAT(host.run(*packed).error().message, HasSubstr("memory is fake device, the plan wants host"));
    packed.reset();
    EXPECT_EQ(device.live(), 0u);
    device.set_capacity(100);
    const auto no_room = planned.pack();
    device.set_capacity(UINT64_MAX);
    ASSERT_FALSE(no_room);
    EXPECT_EQ(no_room.error().code, ErrorCode::out_of_memory);
  }
  EXPECT_EQ(device.live(), 0u);
  EXPECT_THAT(device.take_faults(), IsEmpty());
}

// Scratch of the plan's threads is handed to no more of them.
TEST(PackedWeight, AKernelWithScratchForEachThreadIsGivenNoMoreThreadsThanThePlan) {
  const Contest contest(
      rivals::convolution("dense", rivals::dense_only, "flops: \"n\"", "workspace_bytes: \"100 * threads\"\n") +
      rivals::convolution("strided", rivals::any_layout, "flops: \"n\"", "workspace_bytes: \"100\"\n"));
  for (const char* kernel : {"cpu/rivals/dense/*", "cpu/rivals/strided/*"}) {
    PlanOptions options = contest.options();
    options.kernel = kernel;
    options.threads = 2;
    Planned planned(strided, options);
    for (const int asked : {1, 2, 4}) {
      const bool bound = std::string(kernel).find("dense") != std::string::npos;
      RunOptions run;
      run.threads = asked;
      ASSERT_TRUE(planned.run(planned.pack().value(), run));
      EXPECT_EQ(rivals::threads_given(), bound ? std::min(asked, 2) : asked) << kernel;
    }
    const auto read = Plan::from_json(planned.plan.to_json(), &contest.catalog);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->workspace_bytes(), planned.plan.workspace_bytes());
  }
}

}  // namespace
}  // namespace convoke

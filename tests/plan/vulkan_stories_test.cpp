// SPDX-License-Identifier: Apache-2.0 OR MIT
// The stories that the Vulkan seed document tells of its neighbours, with the document bound to a fake device: each
// first shows that the device wins where the clause in question does not apply.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convoke/explain.hpp"
#include "judge/check.hpp"
#include "oracle/compare.hpp"
#include "problem/problem.hpp"
#include "problem/workload.hpp"
#include "tests/device/fake_device.hpp"

namespace convoke {
namespace {

using problem::Problem;
using problem::Workload;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A problem, planned for one thread so that no price depends on the machine.
class Story {
 public:
  explicit Story(const std::string& line, const Rates* rates = nullptr)
      : problem_(problem::parse_problem(line).value()), workload_(problem::make_workload(problem_).value()) {
    options_.demand = Demand::any();
    options_.catalog = &fake::seed_catalog();
    options_.threads = 1;
    options_.rates = rates;
    options_.forbid = {"cpu/simd/*"};  // the stories weigh a device against plain loops
    explanation_ = explain(workload_.x().spec, workload_.weight().spec, bias(), workload_.out().spec,
                           to_conv2d_params(problem_.params), options_)
                       .value();
  }

  const CandidateReport& winner() const { return explanation_.candidates[explanation_.chosen.value()]; }
  const CandidateReport& candidate(const std::string& id) const {
    const auto found = std::ranges::find_if(explanation_.candidates,
                                            [&](const CandidateReport& report) { return report.id.starts_with(id); });
    EXPECT_NE(found, explanation_.candidates.end()) << id;
    return *found;
  }
  // `clause: wanted, found` of the candidate, or nothing where it is admitted.
  std::string refusal(const std::string& id) const {
    const auto& refused = candidate(id).refused;
    return refused ? refused->clause + ": " + refused->wanted + ", " + refused->found : "";
  }
  // The words of the winner's steps, in order.
  std::vector<std::string> steps() const {
    std::vector<std::string> words;
    for (const StepReport& step : winner().steps) {
      const std::string& id = step.kernel;
      const std::size_t name = id.find('/', id.find('/') + 1) + 1;
      const std::string kernel = id.substr(name, id.find('/', name) - name);
      words.push_back(step.role.empty() ? kernel : kernel + " " + step.role);
    }
    return words;
  }
  // That the winner's price is the sum of its steps', each of which has one.
  void expect_sum() const {
    double sum = 0;
    for (const StepReport& step : winner().steps) {
      EXPECT_GT(step.price_ns, 0) << step.kernel;
      sum += step.price_ns;
    }
    EXPECT_DOUBLE_EQ(winner().price_ns, sum);
  }
  // That the plan is the winner's, and that what it computes is the law's to the bit: our device sums like our kernels.
  void expect_right_result() {
    const auto plan = judge::plan_for(workload_, options_);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->kernel(), winner().id);
    EXPECT_DOUBLE_EQ(plan->price_ns(), winner().price_ns);
    const judge::Check check = judge::check(*plan, workload_);
    EXPECT_TRUE(check.passed) << check.reason;
    const auto law = oracle::compare_law({*workload_.geometry(), workload_.x(), workload_.weight(), workload_.bias()},
                                         workload_.out());
    EXPECT_TRUE(law.passed()) << law.first->text;
    EXPECT_THAT(fake::FakeDevice::get().take_faults(), IsEmpty());
    EXPECT_EQ(fake::FakeDevice::get().live(), 0u);
  }

 private:
  std::optional<TensorSpec> bias() const {
    return workload_.bias() ? std::optional(workload_.bias()->spec) : std::nullopt;
  }

  Problem problem_;
  Workload workload_;
  PlanOptions options_;
  Explanation explanation_;
};

const std::string plain = "conv2d x=1x8x24x24 weight=32x8x3x3 padding=1";
const std::string halves = "conv2d x=1x8x24x24 weight=32x8x3x3 padding=1 dtype=bf16";
const std::string device_f32 = "vulkan/vulkan-slang/conv2d_f32/";
const std::string device_bf16 = "vulkan/vulkan-slang/conv2d_bf16/";

// Where nothing refuses, the device wins, and its route goes there and back.
void expect_device_wins(const std::string& line, const std::string& kernel) {
  Story story(line);
  EXPECT_THAT(story.winner().id, StartsWith("vulkan/vulkan-slang/" + kernel + "/"));
  EXPECT_THAT(story.steps(), ElementsAre("upload x", "upload weight", kernel, "download out"));
  story.expect_sum();
  story.expect_right_result();
}

TEST(VulkanStories, ABiasGoesToTheCpu) {
  expect_device_wins(plain, "conv2d_f32");
  Story story(plain + " bias=1");
  EXPECT_THAT(story.winner().id, StartsWith("cpu/"));
  EXPECT_EQ(story.refusal(device_f32), "key: f32,f32,f32, f32,f32,f32,f32");
  story.expect_sum();
  story.expect_right_result();
}

TEST(VulkanStories, ADilationGoesToTheCpu) {
  expect_device_wins(plain, "conv2d_f32");
  Story story(plain + " dilation=2");
  EXPECT_THAT(story.winner().id, StartsWith("cpu/"));
  EXPECT_THAT(story.refusal(device_f32), StartsWith("op_params.dilation: == (1, 1)"));
  story.expect_right_result();
}

TEST(VulkanStories, GroupsStayOnTheDevice) {
  Story story("conv2d x=1x32x24x24 weight=64x8x3x3 padding=1 groups=4");
  EXPECT_THAT(story.winner().id, StartsWith(device_f32));
  story.expect_right_result();
}

// 24 channels, or 23 x 23 pixels, are more than the cooperative kernel takes.
const std::vector<std::pair<std::string, std::string>> odd_halves = {
    {"conv2d x=1x8x24x24 weight=24x8x3x3 padding=1 dtype=bf16", "out_shape[1] % 16 == 0"},
    {"conv2d x=1x8x23x23 weight=32x8x3x3 padding=1 dtype=bf16", "(out_shape[2] * out_shape[3]) % 16 == 0"},
};

TEST(VulkanStories, HalvesThatAreNoMultipleOf16AreCastToF32OnTheDevice) {
  expect_device_wins(halves, "conv2d_bf16");
  for (const auto& [line, clause] : odd_halves) {
    Story story(line);
    EXPECT_THAT(story.refusal(device_bf16), StartsWith("op_params.out_shape: " + clause));
    EXPECT_THAT(story.winner().id, StartsWith(device_f32)) << line;
    EXPECT_THAT(story.steps(), ElementsAre("cast_to_f32 x", "upload x", "cast_to_f32 weight", "upload weight",
                                           "conv2d_f32", "download out", "cast_to_bf16 out"));
    story.expect_sum();
    story.expect_right_result();
  }
}

TEST(VulkanStories, WhereCastsAndTransfersCostMoreTheCpuTakesThem) {
  Rates slow_link;
  for (const char* work : {"Upload", "Download"})
    ASSERT_TRUE(slow_link.set({"vulkan", "", work, std::nullopt, {1, 0.02, 5000}}));
  Rates slow_casts;
  ASSERT_TRUE(slow_casts.set({"cpu", "", "Cast", std::nullopt, {4, 0.02, 300}}));
  for (const Rates* rates : {&slow_link, &slow_casts}) {
    for (const auto& [line, clause] : odd_halves) {
      Story story(line, rates);
      EXPECT_THAT(story.winner().id, StartsWith("cpu/portable/")) << line;
      EXPECT_TRUE(story.candidate(device_f32).admitted);
      EXPECT_GT(story.candidate(device_f32).price_ns, story.winner().price_ns);
      story.expect_right_result();
    }
  }
}

TEST(VulkanStories, ATransposedViewIsMadeDenseBeforeItIsUploaded) {
  Story straight(plain);
  Story story(plain + " x.layout=channels_last");
  EXPECT_THAT(story.winner().id, StartsWith(device_f32));
  EXPECT_THAT(story.steps(), ElementsAre("contiguize x", "upload x", "upload weight", "conv2d_f32", "download out"));
  story.expect_sum();
  EXPECT_DOUBLE_EQ(story.winner().price_ns, straight.winner().price_ns + story.winner().steps[0].price_ns);
  story.expect_right_result();
}

TEST(VulkanStories, AnOutputWithGapsIsDownloadedDenseAndSpread) {
  Story story(plain + " out.layout=sliced");
  EXPECT_THAT(story.steps(), ElementsAre("upload x", "upload weight", "conv2d_f32", "download out", "copy_out out"));
  story.expect_sum();
  story.expect_right_result();
}

TEST(VulkanStories, SmallImagesAreNotWorthTheWay) {
  Story story("conv2d x=1x2x4x4 weight=2x2x3x3");
  EXPECT_THAT(story.winner().id, StartsWith("cpu/portable/"));
  EXPECT_TRUE(story.candidate(device_f32).admitted);
}

}  // namespace
}  // namespace convoke

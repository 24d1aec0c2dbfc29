// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/geometry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/random.hpp"

namespace convoke {
namespace {

using testing::HasSubstr;

constexpr std::int64_t max64 = std::numeric_limits<std::int64_t>::max();

/// What a refused request breaks; empty rule: it was accepted.
struct Broken {
  std::string rule;
  ErrorCode code{};
  std::string message;
};

Broken broken(Op op, const Dims& x, const Dims& weight, const ConvParams& params = {},
              const std::optional<Dims>& bias = std::nullopt) {
  const Result<Geometry> result = make_geometry(op, x, weight, bias, params);
  if (result) return {};
  EXPECT_THAT(result.error().message, testing::Not(testing::IsEmpty()));
  return {result.error().rule, result.error().code, result.error().message};
}

ConvParams with(auto change) {
  ConvParams params;
  change(params);
  return params;
}

Dims out_of(Op op, const Dims& x, const Dims& weight, const ConvParams& params) {
  const Result<Geometry> result = make_geometry(op, x, weight, std::nullopt, params);
  return result ? result->out_shape() : Dims{};
}

const Dims x_ok{1, 4, 5, 6}, weight_ok{8, 4, 3, 3}, transposed_ok{4, 8, 3, 3};

TEST(Geometry, NamesItsOperations) {
  EXPECT_EQ(name_of(Op::conv2d), "conv2d");
  EXPECT_EQ(name_of(Op::conv_transpose2d), "conv_transpose2d");
}

TEST(Geometry, FollowsTheFormulas) {
  EXPECT_EQ(out_of(Op::conv2d, x_ok, weight_ok, {}), (Dims{1, 8, 3, 4}));
  EXPECT_EQ(out_of(Op::conv2d, {2, 3, 224, 224}, {64, 3, 7, 7},
                   {.stride = 2, .padding = 3, .dilation = 1, .output_padding = 0, .groups = 1}),
            (Dims{2, 64, 112, 112}));
  EXPECT_EQ(
      out_of(Op::conv_transpose2d, x_ok, transposed_ok,
             {.stride = {2, 3}, .padding = {1, 0, 0, 2}, .dilation = {1, 2}, .output_padding = {1, 2}, .groups = 1}),
      (Dims{1, 8, 4 * 2 - 1 + 2 + 1 + 1, 5 * 3 - 2 + 4 + 2 + 1}));
}

// An output exists exactly where a window, begun every stride pixels, lies inside the padded input.
TEST(Geometry, CountsTheWindowsThatFit) {
  Random random(7);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto draw = [&](int low, int high) { return random.between(low, high); };
    const std::int64_t H = draw(0, 9), K = draw(1, 4), s = draw(1, 4), d = draw(1, 3), top = draw(0, 3),
                       bottom = draw(0, 3);
    std::int64_t windows = 0;
    for (std::int64_t at = 0; at + d * (K - 1) < H + top + bottom; at += s) ++windows;
    const ConvParams params =
        with([&](ConvParams& p) { p.stride = {s, 1}, p.dilation = {d, 1}, p.padding = {top, 0, bottom, 0}; });
    const Result<Geometry> result = make_geometry(Op::conv2d, {1, 1, H, 1}, {1, 1, K, 1}, std::nullopt, params);
    if (windows == 0) {
      ASSERT_FALSE(result) << H << ' ' << K;
      EXPECT_EQ(result.error().rule, "kernel");
      continue;
    }
    ++accepted;
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->Ho, windows);
  }
  EXPECT_GT(accepted, 1000);
}

TEST(Geometry, TransposedIsTheInputSizeOfTheConvolution) {
  Random random(8);
  for (int i = 0; i < 2000; ++i) {
    const auto draw = [&](int low, int high) { return random.between(low, high); };
    const ConvParams forward = with(
        [&](ConvParams& p) { p.stride = {draw(1, 4), draw(1, 4)}, p.dilation = draw(1, 3), p.padding = draw(0, 2); });
    const Dims x{1, 1, draw(8, 20), draw(8, 20)}, kernel{1, 1, draw(1, 3), draw(1, 3)};
    const Dims out = out_of(Op::conv2d, x, kernel, forward);
    ConvParams back = forward;
    const Dims least = out_of(Op::conv_transpose2d, out, kernel, back);
    // Of the sizes that give this output, output_padding picks one: the remainder that the floor threw away.
    back.output_padding = {x[2] - least[2], x[3] - least[3]};
    EXPECT_LT(back.output_padding.h, forward.stride.h);
    EXPECT_EQ(out_of(Op::conv_transpose2d, out, kernel, back), x);
  }
}

TEST(Geometry, JudgesRanksAndSigns) {
  EXPECT_EQ(broken(Op::conv2d, {1, 4, 5}, weight_ok).rule, "x");
  EXPECT_EQ(broken(Op::conv2d, {1, 4, 5, 6, 1}, weight_ok).rule, "x");
  EXPECT_EQ(broken(Op::conv2d, x_ok, {8, 4, 3}).rule, "weight");
  EXPECT_EQ(broken(Op::conv2d, x_ok, weight_ok, {}, Dims{8, 1}).rule, "bias");
  EXPECT_EQ(broken(Op::conv2d, {1, 4, -5, 6}, weight_ok).code, ErrorCode::invalid_shape);
  EXPECT_THAT(broken(Op::conv2d, {1, 4, -5, 6}, weight_ok).message, HasSubstr("[1, 4, -5, 6]"));
  EXPECT_EQ(broken(Op::conv2d, x_ok, {-8, 4, 3, 3}).rule, "weight");
  EXPECT_EQ(broken(Op::conv2d, x_ok, weight_ok, {}, Dims{-1}).rule, "bias");
}

TEST(Geometry, JudgesParameters) {
  struct Row {
    const char* rule;
    ErrorCode code;
    ConvParams params;
    Op op = Op::conv2d;
  };
  const auto invalid = ErrorCode::invalid_argument;
  const Row rows[] = {
      {"stride", invalid, with([](auto& p) { p.stride = {0, 1}; })},
      {"stride", invalid, with([](auto& p) { p.stride = {1, -2}; })},
      {"dilation", invalid, with([](auto& p) { p.dilation = {1, 0}; })},
      {"padding", invalid, with([](auto& p) { p.padding = {0, 0, -1, 0}; })},
      {"padding", invalid, with([](auto& p) { p.padding = {0, 0, 0, -1}; })},
      {"groups", invalid, with([](auto& p) { p.groups = 0; })},
      {"groups", invalid, with([](auto& p) { p.groups = -1; })},
      {"groups", ErrorCode::invalid_shape, with([](auto& p) { p.groups = 3; })},
      {"output_padding", invalid, with([](auto& p) { p.output_padding = {-1, 0}; }), Op::conv_transpose2d},
      {"output_padding", invalid, with([](auto& p) { p.output_padding = {0, 1}, p.stride = 2; })},
      {"output_padding", invalid, with([](auto& p) { p.output_padding = {1, 0}; }), Op::conv_transpose2d},
      {"output_padding", invalid, with([](auto& p) { p.output_padding = 2, p.stride = {2, 3}; }), Op::conv_transpose2d},
      {"padding", ErrorCode::unsupported, with([](auto& p) { p.padding = Padding::same_upper(); }),
       Op::conv_transpose2d},
  };
  for (const Row& row : rows) {
    const Broken found = broken(row.op, x_ok, row.op == Op::conv2d ? weight_ok : transposed_ok, row.params);
    EXPECT_EQ(found.rule, row.rule) << found.message;
    EXPECT_EQ(found.code, row.code) << found.message;
    EXPECT_THAT(found.message, HasSubstr(row.rule));
  }
  // One less than the larger of stride and dilation is still right.
  const ConvParams edge = with([](auto& p) { p.output_padding = {2, 3}, p.stride = {3, 1}, p.dilation = {1, 4}; });
  EXPECT_EQ(broken(Op::conv_transpose2d, x_ok, transposed_ok, edge).message, "");
}

TEST(Geometry, SaysPaddingAsTheProblemLineDoes) {
  const ConvParams params = with([](auto& p) { p.padding = {1, 3, -2, 4}; });
  EXPECT_THAT(broken(Op::conv2d, x_ok, weight_ok, params).message,
              HasSubstr("it is 1,-2,3,4 (top, bottom, left, right)"));
}

TEST(Geometry, JudgesChannelsGroupsAndBias) {
  const Broken channel = broken(Op::conv2d, {1, 5, 4, 4}, {8, 4, 1, 1});
  EXPECT_EQ(channel.rule, "channel");
  EXPECT_THAT(channel.message, testing::AllOf(HasSubstr("channel"), HasSubstr("4"), HasSubstr("5")));
  EXPECT_EQ(broken(Op::conv_transpose2d, {1, 5, 4, 4}, {4, 5, 1, 1}).rule, "channel");
  const ConvParams two = with([](auto& p) { p.groups = 2; });
  EXPECT_EQ(broken(Op::conv2d, {1, 4, 4, 4}, {3, 2, 1, 1}, two).rule, "groups");  // Cout
  EXPECT_EQ(broken(Op::conv2d, {1, 3, 4, 4}, {4, 2, 1, 1}, two).rule, "groups");  // Cin
  EXPECT_EQ(broken(Op::conv2d, {1, 4, 4, 4}, {4, 2, 1, 1}, two).message, "");
  EXPECT_EQ(out_of(Op::conv_transpose2d, {1, 4, 4, 4}, {4, 3, 1, 1}, two), (Dims{1, 6, 4, 4}));
  EXPECT_EQ(broken(Op::conv2d, x_ok, weight_ok, {}, Dims{7}).rule, "bias");
  EXPECT_THAT(broken(Op::conv2d, x_ok, weight_ok, {}, Dims{7}).message, testing::AllOf(HasSubstr("7"), HasSubstr("8")));
  EXPECT_EQ(broken(Op::conv2d, x_ok, weight_ok, {}, Dims{8}).message, "");
}

TEST(Geometry, RefusesKernelsLargerThanThePaddedInput) {
  EXPECT_EQ(broken(Op::conv2d, {1, 4, 2, 2}, weight_ok).rule, "kernel");
  EXPECT_EQ(broken(Op::conv2d, {1, 4, 5, 4}, weight_ok, with([](auto& p) { p.dilation = 2; })).rule, "kernel");
  EXPECT_EQ(broken(Op::conv2d, x_ok, {8, 4, 0, 3}).rule, "kernel");
  EXPECT_EQ(broken(Op::conv_transpose2d, x_ok, {4, 8, 3, 0}).rule, "kernel");
  EXPECT_EQ(out_of(Op::conv_transpose2d, {1, 4, 1, 1}, {4, 8, 3, 3}, {}), (Dims{1, 8, 3, 3}));
}

TEST(Geometry, TakesEmptyTensors) {
  EXPECT_EQ(out_of(Op::conv2d, {0, 4, 5, 6}, weight_ok, {}), (Dims{0, 8, 3, 4}));
  EXPECT_EQ(out_of(Op::conv2d, {1, 0, 5, 6}, {8, 0, 3, 3}, {}), (Dims{1, 8, 3, 4}));
  EXPECT_EQ(out_of(Op::conv2d, x_ok, {0, 4, 3, 3}, {}), (Dims{1, 0, 3, 4}));
  // No rows, but padding enough for a window: every tap is absent, the output is the bias.
  EXPECT_EQ(out_of(Op::conv2d, {1, 4, 0, 6}, weight_ok, with([](auto& p) { p.padding = {2, 0}; })), (Dims{1, 8, 2, 4}));
  EXPECT_EQ(broken(Op::conv2d, {1, 4, 0, 6}, {8, 4, 1, 1}).rule, "kernel");
  const ConvParams crop = with([](auto& p) { p.stride = 2, p.padding = 2; });
  EXPECT_EQ(out_of(Op::conv_transpose2d, {1, 1, 2, 2}, {1, 1, 2, 2}, crop), (Dims{1, 1, 0, 0}));
  const Broken negative = broken(Op::conv_transpose2d, {1, 1, 1, 2}, {1, 1, 2, 2}, crop);
  EXPECT_EQ(negative.rule, "padding");
  EXPECT_THAT(negative.message, HasSubstr("-2"));
}

TEST(Geometry, ResolvesSamePadding) {
  const ConvParams same = with([](auto& p) { p.padding = Padding::same_upper(), p.stride = {2, 3}; });
  const Result<Geometry> result = make_geometry(Op::conv2d, {1, 4, 5, 7}, {8, 4, 4, 2}, std::nullopt, same);
  ASSERT_TRUE(result);
  // Height: 3 outputs span 2*2+4 = 8 of 5, so 3 are missing: 1 above, 2 below. Width: 3 span 3*2+2 = 8 of 7.
  EXPECT_EQ(result->out_shape(), (Dims{1, 8, 3, 3}));
  EXPECT_EQ(result->params.padding, Padding(1, 0, 2, 1));
  Random random(9);
  for (int i = 0; i < 5000; ++i) {
    const std::int64_t H = random.between(0, 12), s = random.between(1, 5), K = random.between(1, 5),
                       d = random.between(1, 3);
    const ConvParams p = {
        .stride = s, .padding = Padding::same_upper(), .dilation = d, .output_padding = 0, .groups = 1};
    const Result<Geometry> geometry = make_geometry(Op::conv2d, {1, 1, H, H}, {1, 1, K, K}, std::nullopt, p);
    ASSERT_TRUE(geometry);
    EXPECT_EQ(geometry->Ho, (H + s - 1) / s);
    const Padding& padding = geometry->params.padding;
    EXPECT_FALSE(padding.same);
    EXPECT_TRUE(padding.bottom == padding.top || padding.bottom == padding.top + 1);
    if (H > 0) {
      ConvParams explicit_params = p;
      explicit_params.padding = padding;
      EXPECT_EQ(out_of(Op::conv2d, {1, 1, H, H}, {1, 1, K, K}, explicit_params), geometry->out_shape());
    }
  }
}

TEST(Geometry, NamesTheValuesOfAnOverflow) {
  const std::int64_t half = max64 / 2 + 1;
  const Broken padded =
      broken(Op::conv2d, {1, 1, half, 1}, {1, 1, 1, 1}, with([&](auto& p) { p.padding = {half, 0, 0, 0}; }));
  EXPECT_EQ(padded.rule, "overflow");
  EXPECT_THAT(padded.message, HasSubstr(std::to_string(half)));
  EXPECT_EQ(broken(Op::conv2d, x_ok, {8, 4, max64, 3}, with([](auto& p) { p.dilation = 2; })).rule, "overflow");
  EXPECT_EQ(broken(Op::conv_transpose2d, x_ok, transposed_ok, with([](auto& p) { p.stride = max64; })).rule,
            "overflow");
  EXPECT_EQ(broken(Op::conv_transpose2d, {1, 4, 1, 1}, {4, max64, 1, 1}, with([](auto& p) { p.groups = 2; })).rule,
            "overflow");
  EXPECT_EQ(broken(Op::conv2d, {half, 4, 5, 6}, weight_ok).rule, "overflow");
  EXPECT_EQ(
      broken(Op::conv2d, {1, 1, 1, 1}, {1, 1, 1, 1}, with([](auto& p) { p.padding = std::int64_t{1} << 31; })).rule,
      "overflow");  // only the output is too large
  EXPECT_EQ(broken(Op::conv2d, {0, 1, std::int64_t{1} << 31, std::int64_t{1} << 31}, {1, 1, 1, 1}).rule, "overflow");
}

// Whatever the numbers, an answer comes, and a geometry's counts fit.
TEST(Geometry, SurvivesAnyNumbers) {
  Random random(10);
  const std::array<std::int64_t, 14> pool = {0,
                                             1,
                                             2,
                                             3,
                                             -1,
                                             5,
                                             max64,
                                             max64 - 1,
                                             std::numeric_limits<std::int64_t>::min(),
                                             std::int64_t{1} << 31,
                                             std::int64_t{1} << 32,
                                             std::int64_t{1} << 60,
                                             7,
                                             1};
  const auto draw = [&] { return pool[random.below(pool.size())]; };
  int accepted = 0;
  for (int i = 0; i < 300000; ++i) {
    ConvParams p;
    p.stride = {draw(), draw()}, p.dilation = {draw(), draw()}, p.padding = {draw(), draw(), draw(), draw()};
    p.padding.same = random.below(3) == 0;
    if (random.below(2) == 0) p.stride = 1, p.dilation = 1, p.padding = 1;
    if (random.below(4) == 0) p.output_padding = {draw(), draw()};
    p.groups = random.below(2) == 0 ? 1 : draw();
    const Dims weight{draw(), draw(), draw(), draw()};
    const Dims x{draw(), weight[random.below(2) == 0 ? 1 : 0], draw(), draw()};
    for (const Op op : {Op::conv2d, Op::conv_transpose2d}) {
      const Result<Geometry> result = make_geometry(op, x, weight, std::nullopt, p);
      if (!result) continue;
      ++accepted;
      EXPECT_GE(result->terms(), 1);
      EXPECT_GE(result->flops(), 0);
      for (const Dims& shape : {result->x_shape(), result->weight_shape(), result->out_shape()}) {
        std::int64_t bytes = 8;
        for (const std::int64_t size : shape) {
          ASSERT_GE(size, 0);
          ASSERT_FALSE(__builtin_mul_overflow(bytes, size, &bytes));
        }
      }
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(Geometry, CountsFlopsAndTerms) {
  const Result<Geometry> conv =
      make_geometry(Op::conv2d, x_ok, {8, 2, 3, 3}, std::nullopt, with([](auto& p) { p.groups = 2; }));
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->flops(), 2.0 * 8 * 3 * 4 * 2 * 9);
  EXPECT_EQ(conv->terms(), 2 * 9 + 1);
  const Result<Geometry> up =
      make_geometry(Op::conv_transpose2d, x_ok, transposed_ok, std::nullopt, with([](auto& p) { p.stride = 2; }));
  ASSERT_TRUE(up);
  EXPECT_EQ(up->flops(), 2.0 * 4 * 5 * 6 * 8 * 9);
  EXPECT_EQ(up->terms(), 4 * 2 * 2 + 1);
}

// The longest sum of a transposed convolution, found by adding every product to its output.
TEST(Geometry, TransposedTermsCoverTheLongestSum) {
  Random random(11);
  int attained = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto draw = [&](int low, int high) { return random.between(low, high); };
    const std::int64_t H = draw(1, 7), K = draw(1, 7), s = draw(1, 4), d = draw(1, 4);
    const ConvParams p = with([&](auto& q) { q.stride = {s, 1}, q.dilation = {d, 1}; });
    const Result<Geometry> geometry = make_geometry(Op::conv_transpose2d, {1, 1, H, 1}, {1, 1, K, 1}, std::nullopt, p);
    ASSERT_TRUE(geometry);
    std::vector<std::int64_t> taps(static_cast<std::size_t>(geometry->Ho));
    for (std::int64_t h = 0; h < H; ++h)
      for (std::int64_t k = 0; k < K; ++k) ++taps[static_cast<std::size_t>(h * s + k * d)];
    const std::int64_t longest = *std::max_element(taps.begin(), taps.end());
    ASSERT_LE(longest + 1, geometry->terms());
    attained += longest + 1 == geometry->terms();
  }
  EXPECT_EQ(attained, 3000);
}

}  // namespace
}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/demo/filters.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

#include "base/dtype.hpp"

namespace convoke::demo {
namespace {

TEST(Filters, NamesDifferAndWeightsFillTheirShape) {
  std::set<std::string> names;
  for (const Filter& filter : picture_filters()) {
    EXPECT_TRUE(names.insert(filter.name).second) << filter.name;
    std::int64_t count = 1;
    for (std::int64_t size : filter.weight_shape) count *= size;
    EXPECT_EQ(static_cast<std::int64_t>(filter.weight.size()), count) << filter.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"blur", "edges", "emboss", "half", "sharpen", "upscale"}));
}

// A filter that keeps brightness has taps that sum to 1 a plane; an upscaling one by 2 x 2 has four phases of them;
// edges of a flat picture are black.
TEST(Filters, BrightnessIsKept) {
  for (const Filter& filter : picture_filters()) {
    const double sum = std::accumulate(filter.weight.begin(), filter.weight.end(), 0.0);
    const double want = filter.gradient ? 0.0 : filter.op == Op::conv_transpose2d ? 3 * 4.0 : 3.0;
    EXPECT_DOUBLE_EQ(sum, want) << filter.name;
  }
}

TEST(Filters, OutputSizesAreThoseOfTheName) {
  const Picture picture(16, 16);
  for (const Filter& filter : picture_filters()) {
    const auto work = make_operands(filter, picture, DType::f16);
    ASSERT_TRUE(work) << filter.name;
    ASSERT_TRUE(work->geometry()) << filter.name << ": " << work->geometry().error().message;
    const std::int64_t want = filter.name == "half" ? 8 : filter.name == "upscale" ? 32 : 16;
    EXPECT_EQ(work->geometry()->Ho, want) << filter.name;
    EXPECT_EQ(work->geometry()->Wo, want) << filter.name;
    EXPECT_EQ(work->geometry()->Cout, filter.gradient ? 6 : 3) << filter.name;
  }
}

TEST(Filters, AGradientIsShownAsItsLength) {
  Filter filter;
  filter.gradient = true;
  std::vector<float> out{3, 0, 4, 1, 0, 0, 0, 0, 5, 6, 12, 8};  // 6 planes of 1 x 2 pixels
  const ConstTensor tensor{out.data(), out.size() * sizeof(float), TensorSpec::dense(DType::f32, {1, 6, 1, 2})};
  const Picture picture = show(filter, tensor);
  EXPECT_EQ(picture.planes, (std::vector<double>{5, 1, 0, 0, 13, 10}));
}

}  // namespace
}  // namespace convoke::demo

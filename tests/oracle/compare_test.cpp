// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "definition.hpp"
#include "oracle/law.hpp"

namespace convoke::oracle {
namespace {

using testing::HasSubstr;

void fill_by_law(Sample& sample) {
  for (std::int64_t i = 0; i < output_count(sample.geometry); ++i) {
    const At at = at_index(sample.geometry, i);
    store_bits(sample.out.address(at.n, at.co, at.oh, at.ow), sample.out.spec.dtype, law_output(sample.request(), at));
  }
}

Sample identity(DType dtype, const Dims& shape, std::initializer_list<double> values) {
  Sample sample;
  sample.x = Owned::dense(dtype, shape, values);
  sample.out = sample.x;
  sample.weight = Owned::dense(dtype, {1, 1, 1, 1}, {1});
  sample.geometry = *make_geometry(Op::conv2d, shape, {1, 1, 1, 1}, std::nullopt, {});
  return sample;
}

TEST(Compare, PassesWhatTheLawSays) {
  Random random(1);
  for (const DType dtype : all_dtypes)
    for (int i = 0; i < 60; ++i) {
      const auto data = static_cast<Data>(i % 3);
      Sample sample = Sample::random_one(random, dtype, data);
      fill_by_law(sample);
      const Comparison law = compare_law(sample.request(), sample.out.view());
      EXPECT_TRUE(law.passed());
      EXPECT_EQ(law.compared, output_count(sample.geometry));
      EXPECT_EQ(law.first, std::nullopt);
      const Comparison bound = compare_bound(sample.request(), sample.out.view());
      EXPECT_TRUE(bound.passed()) << bound.first->text;
      EXPECT_LE(bound.worst_error_over_bound, 1);
      if (data != Data::special) {
        EXPECT_EQ(bound.by_class, 0);
      }
      if (data == Data::integers) {
        EXPECT_TRUE(compare_exact(sample.request(), sample.out.view()).passed());
      }
    }
}

TEST(Compare, FindsEveryWrongBit) {
  Random random(2);
  for (const DType dtype : all_dtypes)
    for (int i = 0; i < 40; ++i) {
      Sample sample = Sample::random_one(random, dtype, Data::normal);
      fill_by_law(sample);
      const auto count = output_count(sample.geometry);
      const auto wrong = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count)));
      const At at = at_index(sample.geometry, wrong);
      std::byte* address = sample.out.address(at.n, at.co, at.oh, at.ow);
      const std::uint64_t right = load_bits(address, dtype);
      store_bits(address, dtype, right ^ 1);
      const Comparison law = compare_law(sample.request(), sample.out.view());
      EXPECT_EQ(law.wrong, 1);
      ASSERT_TRUE(law.first);
      EXPECT_EQ(law.first->at, at);
      EXPECT_EQ(law.first->got, right ^ 1);
      EXPECT_EQ(law.first->want, right);
    }
}

TEST(Compare, SaysWhatDiffers) {
  Sample sample = identity(DType::f32, {1, 1, 1, 3}, {1, 2, 3});
  store_bits(sample.out.address(0, 0, 0, 1), DType::f32, 0x40000001);
  const Comparison law = compare_law(sample.request(), sample.out.view());
  ASSERT_TRUE(law.first);
  EXPECT_EQ(law.first->text, "out[0,0,0,1] is 0x40000001 (2.0000002), want 0x40000000 (2) by the law of the sum");
  EXPECT_FALSE(compare_bound(sample.request(), sample.out.view()).passed());  // one term: off by half a unit at most
  EXPECT_TRUE(compare_bound(sample.request(), sample.out.view(), {std::nullopt, 3}).passed());
  EXPECT_EQ(compare_exact(sample.request(), sample.out.view()).wrong, 1);
  store_bits(sample.out.address(0, 0, 0, 1), DType::f32, bits_of_value(DType::f32, 2.5));
  const Comparison bound = compare_bound(sample.request(), sample.out.view());
  EXPECT_EQ(bound.wrong, 1);
  ASSERT_TRUE(bound.first);
  EXPECT_THAT(bound.first->text,
              testing::AllOf(HasSubstr("(2.5), want 0x40000000 (2) within "), HasSubstr("off by 0.5")));
  EXPECT_GT(bound.worst_error_over_bound, 1e6);
}

TEST(Compare, TakesEveryNaNForOne) {
  Sample sample = identity(DType::f16, {1, 1, 1, 2}, {std::numeric_limits<double>::quiet_NaN(), 1});
  store_bits(sample.out.address(0), DType::f16, 0xfc01);
  EXPECT_TRUE(compare_law(sample.request(), sample.out.view()).passed());
  const Comparison bound = compare_bound(sample.request(), sample.out.view());
  EXPECT_TRUE(bound.passed());
  EXPECT_EQ(bound.by_class, 1);
}

TEST(Compare, HoldsSpecialsToTheirClass) {
  Sample sample = identity(DType::f32, {1, 1, 1, 3}, {infinity, std::numeric_limits<double>::quiet_NaN(), 2 - 0x1p-23});
  sample.weight = Owned::dense(DType::f32, {1, 1, 1, 1}, {0x1p127});
  sample.out = Owned::dense(DType::f32, {1, 1, 1, 3}, {infinity, std::numeric_limits<double>::quiet_NaN(), 0x1.8p127});
  const Comparison good = compare_bound(sample.request(), sample.out.view());
  EXPECT_TRUE(good.passed());  // the largest number is too near overflow for the bound: any finite value has its class
  EXPECT_EQ(good.by_class, 3);
  sample.out = Owned::dense(DType::f32, {1, 1, 1, 3}, {1, infinity, infinity});
  const Comparison bad = compare_bound(sample.request(), sample.out.view());
  EXPECT_EQ(bad.wrong, 3);
  EXPECT_THAT(bad.first->text, HasSubstr("or any other infinite value"));
  EXPECT_EQ(compare_exact(sample.request(), sample.out.view()).wrong, 3);
}

TEST(Compare, SamplesWithTheCornersAndTheSeed) {
  Sample sample;
  const Dims shape{2, 1, 40, 50};
  sample.x.spec = sample.out.spec = TensorSpec::dense(DType::f32, shape);
  sample.x.memory.resize(4 * 4000), sample.out.memory.resize(4 * 4000);
  sample.weight = Owned::dense(DType::f32, {1, 1, 1, 1}, {1});
  sample.geometry = *make_geometry(Op::conv2d, shape, {1, 1, 1, 1}, std::nullopt, {});
  const auto compared = [&](std::int64_t limit, std::uint64_t seed) {
    return compare_law(sample.request(), sample.out.view(), {limit, seed});
  };
  EXPECT_EQ(compared(0, 1).compared, 4000);
  EXPECT_EQ(compared(4000, 1).compared, 4000);
  EXPECT_LE(compared(100, 1).compared, 100);
  EXPECT_GT(compared(100, 1).compared, 80);
  store_bits(sample.out.address(1, 0, 39, 49), DType::f32, 1);
  EXPECT_EQ(compared(100, 1).wrong, 1);
  EXPECT_EQ(compared(16, 2).wrong, 1);
  // One inner element in a sample of 1000 of 4000: some seeds see it, some do not, and each always the same.
  store_bits(sample.out.address(1, 0, 39, 49), DType::f32, 0);
  store_bits(sample.out.address(0, 0, 17, 23), DType::f32, 1);
  std::int64_t hits = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    hits += compared(1000, seed).wrong;
    ASSERT_EQ(compared(1000, seed).wrong, compared(1000, seed).wrong);
  }
  EXPECT_GT(hits, 10);
  EXPECT_LT(hits, 40);
}

TEST(Compare, TakesEmptyOutputs) {
  Sample sample = identity(DType::f32, {0, 1, 2, 2}, {});
  EXPECT_EQ(compare_law(sample.request(), sample.out.view()).compared, 0);
  EXPECT_TRUE(compare_bound(sample.request(), sample.out.view(), {}, {10, 1}).passed());
}

}  // namespace
}  // namespace convoke::oracle

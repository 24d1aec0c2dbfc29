// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"

namespace convoke {
namespace {

using testing::HasSubstr;

constexpr std::int64_t max64 = std::numeric_limits<std::int64_t>::max();

TensorSpec spec_of(const Dims& shape, const Dims& strides, std::int64_t offset = 0, DType dtype = DType::f32) {
  return {dtype, shape, strides, offset, 0};
}

/// Calls visit(element) for every index, the slow and obvious way.
template <class Visit>
void for_each_element(const TensorSpec& spec, Visit visit, int axis = 0, std::int64_t at = 0) {
  if (axis == spec.shape.rank()) return visit(spec.offset + at);
  for (std::int64_t i = 0; i < spec.shape[axis]; ++i)
    for_each_element(spec, visit, axis + 1, at + i * spec.strides[axis]);
}

TensorSpec random_spec(Random& random, int most) {
  TensorSpec spec;
  spec.dtype = static_cast<DType>(random.below(4));
  const auto rank = static_cast<int>(random.between(0, 4));
  for (int axis = 0; axis < rank; ++axis) {
    spec.shape.push_back(random.below(20) == 0 ? 0 : random.between(1, 4));
    spec.strides.push_back(random.between(-most, most));
  }
  return spec;
}

TEST(ElementCount, MultipliesOrRefuses) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_count({max64, max64, 0}), 0);
  EXPECT_EQ(element_count({max64, 2}), std::nullopt);
  EXPECT_EQ(element_count({0, -1}), std::nullopt);
}

TEST(Touched, IsTheLowestAndHighestElement) {
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    TensorSpec spec = random_spec(random, 9);
    spec.offset = random.between(0, 50);
    std::set<std::int64_t> elements;
    for_each_element(spec, [&](std::int64_t element) { elements.insert(element); });
    const std::optional<ElementRange> range = touched(spec);
    ASSERT_EQ(range.has_value(), !elements.empty());
    if (!range) continue;
    EXPECT_EQ(range->first, *elements.begin());
    EXPECT_EQ(range->last, *elements.rbegin());
  }
}

TEST(IsContiguous, IgnoresUnitAxesAndEmptyTensors) {
  EXPECT_TRUE(is_contiguous(TensorSpec::dense(DType::f32, {2, 3, 4, 5})));
  EXPECT_TRUE(is_contiguous(spec_of({2, 1, 4}, {4, 99, 1})));
  EXPECT_TRUE(is_contiguous(spec_of({1, 1}, {-7, 0})));
  EXPECT_TRUE(is_contiguous(spec_of({2, 0}, {17, -3})));
  EXPECT_TRUE(is_contiguous(spec_of({}, {})));
  EXPECT_TRUE(is_contiguous(spec_of({4}, {1}, 12)));
  EXPECT_FALSE(is_contiguous(spec_of({2, 3}, {4, 1})));
  EXPECT_FALSE(is_contiguous(spec_of({2, 3}, {1, 2})));
  EXPECT_FALSE(is_contiguous(spec_of({3}, {-1})));
  EXPECT_FALSE(is_contiguous(spec_of({2, 3}, {0, 1})));
}

TEST(CheckLayout, ProvesThatEveryElementIsInside) {
  Random random(2);
  int inside = 0;
  for (int i = 0; i < 20000; ++i) {
    TensorSpec spec = random_spec(random, 9);
    spec.offset = random.between(-5, 40);
    const std::size_t bytes = random.below(300), size = size_of(spec.dtype);
    bool good = true;
    for_each_element(spec, [&](std::int64_t element) {
      good &= element >= 0 && (static_cast<std::size_t>(element) + 1) * size <= bytes;
    });
    const Result<void> result = check_layout(spec, bytes, "x");
    ASSERT_EQ(result.has_value(), good);
    inside += good;
    if (!good) {
      EXPECT_EQ(result.error().code, ErrorCode::invalid_layout);
      EXPECT_EQ(result.error().rule, "x");
    }
  }
  EXPECT_GT(inside, 2000);
}

TEST(CheckLayout, SaysWhatIsWrong) {
  const auto message = [](const TensorSpec& spec, std::optional<std::size_t> bytes) {
    const Result<void> result = check_layout(spec, bytes, "weight");
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(message(spec_of({2, 2}, {2, 1}), 15), testing::AllOf(HasSubstr("16 bytes"), HasSubstr("has 15")));
  EXPECT_EQ(message(spec_of({2, 2}, {2, 1}), 16), "");
  EXPECT_EQ(message(spec_of({2, 2}, {2, 1}), std::nullopt), "");
  EXPECT_THAT(message(spec_of({2}, {-1}), std::nullopt), HasSubstr("before its first byte"));
  EXPECT_EQ(message(spec_of({2}, {-1}, 1), 8), "");
  EXPECT_THAT(message(spec_of({2, 2}, {1}), std::nullopt), HasSubstr("stride for each axis"));
  EXPECT_THAT(message(spec_of({-2}, {1}), std::nullopt), HasSubstr("negative size"));
  EXPECT_THAT(message(spec_of({max64, max64}, {0, 0}), std::nullopt), HasSubstr("more elements"));
  EXPECT_THAT(message(spec_of({3, 2}, {max64, 1}), std::nullopt), HasSubstr("64 bits"));
  EXPECT_THAT(message(spec_of({2}, {max64 / 4}), std::nullopt), HasSubstr("64 bits"));  // the bytes overflow
  EXPECT_THAT(message(spec_of({2}, {1}, max64), std::nullopt), HasSubstr("64 bits"));
  EXPECT_THAT(message(spec_of({2}, {std::numeric_limits<std::int64_t>::min()}, max64), std::nullopt),
              HasSubstr("before"));
  EXPECT_EQ(message(spec_of({1}, {std::numeric_limits<std::int64_t>::min()}), std::nullopt), "");
  TensorSpec odd = spec_of({1}, {1});
  odd.align = 24;
  EXPECT_THAT(message(odd, std::nullopt), HasSubstr("power of two"));
}

TEST(OverlapsItself, AgreesWithCountingEveryElement) {
  Random random(3);
  std::map<bool, int> seen;
  for (int i = 0; i < 60000; ++i) {
    const TensorSpec spec = random_spec(random, i % 2 == 0 ? 9 : 40);
    std::set<std::int64_t> elements;
    bool twice = false;
    for_each_element(spec, [&](std::int64_t element) { twice |= !elements.insert(element).second; });
    ASSERT_EQ(overlaps_itself(spec), twice) << i;
    ++seen[twice];
  }
  EXPECT_GT(seen[true], 5000);
  EXPECT_GT(seen[false], 5000);
}

TEST(OverlapsItself, IsExactWhereStridesDoNotNest) {
  // 6 i = 4 j needs i = 2, j = 3.
  EXPECT_FALSE(overlaps_itself(spec_of({2, 3}, {6, 4})));
  EXPECT_TRUE(overlaps_itself(spec_of({3, 4}, {6, 4})));
  EXPECT_FALSE(overlaps_itself(spec_of({1000003, 999983}, {999983, 1000003})));
  EXPECT_TRUE(overlaps_itself(spec_of({1000004, 999984}, {999983, 1000003})));
  // Windows over one row, as an im2col view: every inner element is seen twice.
  EXPECT_TRUE(overlaps_itself(spec_of({100, 3}, {1, 1})));
  EXPECT_TRUE(overlaps_itself(spec_of({4, 1000000}, {0, 1})));
}

TEST(OverlapsItself, IsQuickForLargeTensors) {
  const std::int64_t big = 1 << 20;
  EXPECT_FALSE(overlaps_itself(spec_of({big, 64, 1024, 64}, {64 * 1024 * 64, 1, 64 * 64, 64})));
  EXPECT_FALSE(overlaps_itself(spec_of({big, big, 16}, {-16 * big, 16, -1}, 16 * big * big)));
}

TEST(Overlap, AgreesWithMarkingEveryByte) {
  Random random(4);
  std::vector<std::byte> memory(4096);
  std::map<bool, int> seen;
  for (int i = 0; i < 60000; ++i) {
    ConstTensor tensors[2];
    std::set<std::size_t> bytes[2];
    for (int t = 0; t < 2; ++t) {
      tensors[t].spec = random_spec(random, i % 3 == 0 ? 30 : 8);
      tensors[t].spec.offset = random.between(0, 30);
      if (i % 2 == 0) tensors[t].spec.dtype = DType::f32;
      // Odd addresses too: elements of the two may share only some of their bytes.
      const std::size_t base = 2048 + random.below(i % 4 == 0 ? 60 : 8) * (i % 2 == 0 ? 4 : 1);
      tensors[t].data = memory.data() + base;
      const std::size_t size = size_of(tensors[t].spec.dtype);
      for_each_element(tensors[t].spec, [&](std::int64_t element) {
        for (std::size_t b = 0; b < size; ++b)
          bytes[t].insert(base + static_cast<std::size_t>(element * static_cast<std::int64_t>(size)) + b);
      });
    }
    bool shared = false;
    for (const std::size_t byte : bytes[0]) shared |= bytes[1].contains(byte);
    ASSERT_EQ(overlap(tensors[0], tensors[1]), shared) << i;
    ASSERT_EQ(overlap(tensors[1], tensors[0]), shared) << i;
    ++seen[shared];
  }
  EXPECT_GT(seen[true], 5000);
  EXPECT_GT(seen[false], 5000);
}

TEST(Overlap, TellsInterleavedTensorsApart) {
  std::vector<float> memory(64);
  const TensorSpec even = spec_of({4, 8}, {16, 2}), odd = spec_of({4, 8}, {16, 2}, 1);
  const ConstTensor a{memory.data(), 256, even}, b{memory.data(), 256, odd};
  EXPECT_FALSE(overlap(a, b));
  EXPECT_TRUE(overlap(a, a));
  EXPECT_TRUE(overlap(a, {memory.data(), 256, spec_of({64}, {1})}));
  // The same odd elements as pairs of halves: only a byte-wise test sees the difference.
  EXPECT_TRUE(overlap(b, {memory.data(), 256, spec_of({32}, {4}, 3, DType::f16)}));
  EXPECT_FALSE(overlap(b, {memory.data(), 256, spec_of({32}, {4}, 1, DType::f16)}));
}

}  // namespace
}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Contiguize, CopyOut and Cast by direct calls: every rank and layout, unaligned memory, every rounding that could be
// done twice by mistake.
#include <gtest/gtest.h>

#include "tests/kernels/kernel_test.hpp"
#include "tests/kernels/reference.hpp"

namespace convoke::kernel_tests {
namespace {

std::int32_t run(const convoke_entry& row, const Tensor& x, const Tensor& out, int threads = 1) {
  const convoke_operand* const inputs[] = {&x.operand()};
  const convoke_operand* const outputs[] = {&out.operand()};
  const convoke_call call{sizeof call, CONVOKE_KERNEL_VERSION, inputs, outputs, 1, 1, nullptr, nullptr, 0, threads, 0,
                          nullptr};
  return row.function(&call);
}

std::vector<std::int64_t> random_shape(Random& random) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(random.between(0, CONVOKE_MAX_RANK)));
  for (auto& size : shape) size = random.between(0, 15) == 0 ? 0 : random.between(1, 6);
  if (!shape.empty() && random.between(0, 3) == 0) shape.back() = random.between(30, 90);
  return shape;
}

std::string_view name_of(int dtype) { return formats[static_cast<std::size_t>(dtype)].name; }

class LayoutTest : public testing::TestWithParam<int> {};

TEST_P(LayoutTest, CopiesMoveEveryBit) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const auto shape = random_shape(random);
    const bool spread = random.between(0, 1) != 0;
    auto layout = static_cast<Layout>(random.between(0, 7));
    if (spread && layout == Layout::expanded) layout = Layout::flipped;
    const std::string name = (spread ? "copy_out_" : "contiguize_") + std::string(name_of(GetParam()));
    const auto rows = rows_of(name);
    ASSERT_FALSE(rows.empty()) << name;
    for (const convoke_entry& row : rows) {
      Tensor x(GetParam(), shape, spread ? Layout::offset : layout);
      Tensor out(GetParam(), shape, spread ? layout : Layout::offset);
      x.misalign(i % 4);
      out.misalign(i % 3);
      x.fill(Data::special, static_cast<std::uint64_t>(i));
      ASSERT_EQ(run(row, x, out, 1 + i % 3), CONVOKE_OK);
      for (std::int64_t k = 0; k < x.count(); ++k) ASSERT_EQ(out.bits(k), x.bits(k)) << name << " element " << k;
      ASSERT_TRUE(out.gaps_untouched()) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Portable, LayoutTest, testing::Values(CONVOKE_F32, CONVOKE_F64, CONVOKE_BF16, CONVOKE_F16),
                         [](const auto& row) { return std::string(name_of(row.param)); });

class CastTest : public testing::TestWithParam<std::pair<int, int>> {
 protected:
  std::vector<convoke_entry> rows() const {
    return rows_of("cast_to_" + std::string(name_of(GetParam().second)) + "_" + std::string(name_of(GetParam().first)));
  }
  static void expect_cast(const convoke_entry& row, const Tensor& x, const Tensor& out, int threads = 1) {
    ASSERT_EQ(run(row, x, out, threads), CONVOKE_OK);
    for (std::int64_t k = 0; k < x.count(); ++k) {
      const std::uint64_t got = out.bits(k), expected = encode(out.format(), decode(x.format(), x.bits(k)));
      if (out.format().is_nan(expected)) {
        ASSERT_TRUE(out.format().is_nan(got)) << std::hex << x.bits(k);
      } else {
        ASSERT_EQ(got, expected) << std::hex << x.bits(k);
      }
    }
    ASSERT_TRUE(out.gaps_untouched());
  }
};

TEST_P(CastTest, AnyStridesToDense) {
  Random random(11);
  for (int i = 0; i < 200; ++i) {
    const auto shape = random_shape(random);
    ASSERT_FALSE(rows().empty());
    for (const convoke_entry& row : rows()) {
      Tensor x(GetParam().first, shape, static_cast<Layout>(i % 8)), out(GetParam().second, shape, Layout::offset);
      x.misalign(i % 4);
      out.misalign(i % 3);
      x.fill(static_cast<Data>(i % 4), static_cast<std::uint64_t>(i));
      expect_cast(row, x, out, 1 + i % 3);
      if (HasFatalFailure()) return;
    }
  }
}

// Numbers of the target, the middles between neighbours, and what lies a little beside both: by one unit of the source,
// and by the amounts that a stop at f32 on the way would round off.
TEST_P(CastTest, RoundsOnceAroundEveryMiddle) {
  const Format& from = formats[static_cast<std::size_t>(GetParam().first)];
  const Format& to = formats[static_cast<std::size_t>(GetParam().second)];
  Random random(13);
  constexpr std::int64_t count = 60000;
  for (const convoke_entry& row : rows()) {
    Tensor x(GetParam().first, {count}, Layout::dense), out(GetParam().second, {count}, Layout::dense);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t bits = random.next() % to.infinity();
      const double low = decode(to, bits), high = decode(to, std::min(bits + 1, to.infinity() - 1));
      const double middle = low / 2 + high / 2;
      const double nudge = std::ldexp(middle, -static_cast<int>(random.between(10, 53)));
      const double values[] = {low, middle, middle + nudge, middle - nudge};
      x.set(i, encode(from, (random.between(0, 1) != 0 ? 1 : -1) * values[random.between(0, 3)]));
    }
    expect_cast(row, x, out);
  }
}

TEST_P(CastTest, EveryNumberOfSixteenBitsAndTheEndsOfTheRange) {
  const Format& from = formats[static_cast<std::size_t>(GetParam().first)];
  for (const convoke_entry& row : rows()) {
    Tensor x(GetParam().first, {65536}, Layout::dense), out(GetParam().second, {65536}, Layout::dense);
    const int shift = static_cast<int>(from.bytes) * 8 - 16;
    for (std::uint64_t low : {std::uint64_t{0}, std::uint64_t{1}, (std::uint64_t{1} << shift) - 1}) {
      for (std::int64_t i = 0; i < 65536; ++i) x.set(i, (static_cast<std::uint64_t>(i) << shift) | (shift ? low : 0));
      expect_cast(row, x, out);
      if (HasFatalFailure()) return;
    }
  }
}

std::vector<std::pair<int, int>> pairs() {
  std::vector<std::pair<int, int>> all;
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      if (from != to) all.emplace_back(from, to);
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Portable, CastTest, testing::ValuesIn(pairs()), [](const auto& row) {
  return std::string(name_of(row.param.first)) + "_to_" + std::string(name_of(row.param.second));
});

}  // namespace
}  // namespace convoke::kernel_tests

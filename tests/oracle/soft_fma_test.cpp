// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/soft_fma.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/host.hpp"
#include "base/random.hpp"
#include "kernels/common/kernel.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace convoke::oracle {
namespace {

#if defined(__x86_64__)
// The processor's own instruction where it has one: the C library's function is right but slow without it.
__attribute__((target("fma"))) float fma_instruction(float a, float b, float c) {
  return _mm_cvtss_f32(_mm_fmadd_ss(_mm_set_ss(a), _mm_set_ss(b), _mm_set_ss(c)));
}
__attribute__((target("fma"))) double fma_instruction(double a, double b, double c) {
  return _mm_cvtsd_f64(_mm_fmadd_sd(_mm_set_sd(a), _mm_set_sd(b), _mm_set_sd(c)));
}
#endif

template <class Float>
Float other_fma(Float a, Float b, Float c) {
#if defined(__x86_64__)
  if ((host().isa & CONVOKE_ISA_FMA) != 0) return fma_instruction(a, b, c);
#endif
  return std::fma(a, b, c);
}

constexpr int digits_of(float) { return 23; }
constexpr int digits_of(double) { return 52; }
std::uint32_t soft(std::uint32_t a, std::uint32_t b, std::uint32_t c) { return soft_fma32(a, b, c); }
std::uint64_t soft(std::uint64_t a, std::uint64_t b, std::uint64_t c) { return soft_fma64(a, b, c); }

/// Empty if our result is the other's, NaNs made canonical.
template <class Float, class Bits>
std::string difference(Bits a, Bits b, Bits c) {
  const Float other = other_fma(std::bit_cast<Float>(a), std::bit_cast<Float>(b), std::bit_cast<Float>(c));
  const Bits found = soft(a, b, c);
  constexpr int width = 8 * sizeof(Bits), digits = digits_of(Float{});
  constexpr Bits quiet = ((Bits{1} << (width - 1 - digits)) - 1) << digits | Bits{1} << (digits - 1);
  const Bits want = std::isnan(other) ? quiet : std::bit_cast<Bits>(other);
  if (found == want) return {};
  char text[200];
  std::snprintf(text, sizeof text, "fma(%llx, %llx, %llx) is %llx, want %llx", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b), static_cast<unsigned long long>(c),
                static_cast<unsigned long long>(found), static_cast<unsigned long long>(want));
  return text;
}

template <class Float, class Bits>
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  /// A number with this exponent field, its mantissa random, or almost all zeros or ones: where roundings tie.
  Bits with_field(std::uint64_t field) {
    const std::uint64_t sign_and_field = random_.below(2) << fields | (field & max_field);
    const std::uint64_t fraction_mask = (std::uint64_t{1} << digits) - 1;
    std::uint64_t fraction = random_.next();
    switch (random_.below(4)) {
      case 0:
        fraction = std::uint64_t{1} << random_.below(digits);
        break;
      case 1:
        fraction = ~(std::uint64_t{1} << random_.below(digits));
        break;
      case 2:
        fraction = fraction & fraction >> 20 & fraction << 17;
        break;
      default:
        break;
    }
    return static_cast<Bits>(sign_and_field << digits | (fraction & fraction_mask));
  }
  Bits any() { return with_field(random_.next()); }
  Random& random() { return random_; }

  static constexpr int digits = digits_of(Float{});
  static constexpr int fields = 8 * static_cast<int>(sizeof(Bits)) - 1 - digits;
  static constexpr std::uint64_t max_field = (std::uint64_t{1} << fields) - 1;

 private:
  Random random_;
};

template <class Float, class Bits>
void try_any(int count) {
  Draws<Float, Bits> draws(1);
  for (int i = 0; i < count; ++i) {
    const std::string text = difference<Float, Bits>(draws.any(), draws.any(), draws.any());
    ASSERT_EQ(text, "") << i;
  }
}

// The addend's exponent at every distance from the product's where the two still touch, and the product's in the
// regions of underflow, one, and overflow: cancellation, ties and double-rounding traps live here.
template <class Float, class Bits>
void try_near(int count) {
  using D = Draws<Float, Bits>;
  D draws(2);
  Random& random = draws.random();
  const auto bias = static_cast<std::int64_t>(D::max_field / 2);
  const auto most = static_cast<std::int64_t>(D::max_field) - 1;
  for (int i = 0; i < count; ++i) {
    const std::int64_t centre[] = {1 - D::digits, 1, bias, most - 1};
    const std::int64_t product = centre[random.below(4)] + random.between(-D::digits - 3, D::digits + 3);
    const std::int64_t a = random.between(0, most);
    const std::int64_t b = std::clamp<std::int64_t>(product + bias - a, 0, most);
    const std::int64_t c =
        std::clamp<std::int64_t>(a + b - bias + random.between(-2 * D::digits - 4, 2 * D::digits + 4), 0, most);
    const std::string text = difference<Float, Bits>(draws.with_field(static_cast<std::uint64_t>(a)),
                                                     draws.with_field(static_cast<std::uint64_t>(b)),
                                                     draws.with_field(static_cast<std::uint64_t>(c)));
    ASSERT_EQ(text, "") << i;
  }
}

// The addend is the product rounded, or its neighbour, with the other sign: what is left is the rounding error alone.
template <class Float, class Bits>
void try_cancelling(int count) {
  Draws<Float, Bits> draws(3);
  for (int i = 0; i < count; ++i) {
    const Bits a = draws.any(), b = draws.any();
    const Bits product = soft(a, b, Bits{0});
    const Bits c = (product ^ Bits{1} << (8 * sizeof(Bits) - 1)) + static_cast<Bits>(draws.random().between(-2, 2));
    const std::string text = difference<Float, Bits>(a, b, c);
    ASSERT_EQ(text, "") << i;
  }
}

template <class Float, class Bits>
void try_specials() {
  using D = Draws<Float, Bits>;
  const Bits infinite = static_cast<Bits>(D::max_field << D::digits),
             one = static_cast<Bits>((D::max_field / 2) << D::digits);
  const Bits normal = Bits{1} << D::digits;
  std::vector<Bits> values = {0,
                              1,
                              2,
                              3,
                              normal - 1,
                              normal,
                              normal + 1,
                              2 * normal,
                              one - 1,
                              one,
                              one + 1,
                              one + normal,
                              infinite - 1,
                              infinite - normal,
                              infinite,
                              infinite + 1,
                              infinite + normal / 2};
  for (int shift = 1; shift <= D::digits + 2; ++shift) {
    values.push_back(one - static_cast<Bits>(shift) * normal);
    values.push_back(one - static_cast<Bits>(shift) * normal + 1);
  }
  const std::size_t positive = values.size();
  for (std::size_t i = 0; i < positive; ++i) values.push_back(values[i] | Bits{1} << (8 * sizeof(Bits) - 1));
  for (const Bits a : values)
    for (const Bits b : values)
      for (const Bits c : values) {
        const std::string text = difference<Float, Bits>(a, b, c);
        ASSERT_EQ(text, "");
      }
}

TEST(SoftFma, MeetsTheStandardOnSpecialValues) {
  try_specials<float, std::uint32_t>();
  try_specials<double, std::uint64_t>();
}

TEST(SoftFma, Binary32OnAnyNumbers) { try_any<float, std::uint32_t>(8'000'000); }
TEST(SoftFma, Binary32OnNearExponents) { try_near<float, std::uint32_t>(12'000'000); }
TEST(SoftFma, Binary32OnCancellation) { try_cancelling<float, std::uint32_t>(4'000'000); }
TEST(SoftFma, Binary64OnAnyNumbers) { try_any<double, std::uint64_t>(8'000'000); }
TEST(SoftFma, Binary64OnNearExponents) { try_near<double, std::uint64_t>(12'000'000); }
TEST(SoftFma, Binary64OnCancellation) { try_cancelling<double, std::uint64_t>(4'000'000); }

// Every pair of exponents of binary32's product and addend, each with a few mantissas.
TEST(SoftFma, Binary32OnEveryExponentPair) {
  Draws<float, std::uint32_t> draws(4);
  for (std::uint64_t product = 0; product < 510; ++product)
    for (std::uint64_t c = 0; c < 256; ++c)
      for (int i = 0; i < 8; ++i) {
        const std::uint64_t a = product / 2, b = product - a;
        const std::string text =
            difference<float, std::uint32_t>(draws.with_field(a), draws.with_field(b), draws.with_field(c));
        ASSERT_EQ(text, "");
      }
}

// One rounding, where two would give another result.
TEST(SoftFma, RoundsOnce) {
  const auto bits = [](float value) { return std::bit_cast<std::uint32_t>(value); };
  EXPECT_EQ(soft_fma32(bits(1 + 0x1p-12f), bits(1 - 0x1p-12f), bits(-1)), bits(-0x1p-24f));
  EXPECT_EQ(soft_fma32(bits(0x1p-100f), bits(0x1p-49f), bits(0)), 1u);
  EXPECT_EQ(soft_fma32(bits(0x1p-100f), bits(0x1p-50f), bits(0)), 0u);  // a tie, to even
  EXPECT_EQ(soft_fma32(bits(-1), bits(0.0f), bits(0.0f)), 0u);
  EXPECT_EQ(soft_fma32(bits(-1), bits(0.0f), bits(-0.0f)), 0x80000000u);
  EXPECT_EQ(soft_fma32(bits(2), bits(3), bits(-6)), 0u);
}

}  // namespace
}  // namespace convoke::oracle

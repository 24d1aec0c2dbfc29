// SPDX-License-Identifier: Apache-2.0 OR MIT
// Packed weights element by element against the formula of their layout: output channels of a group in blocks, in a
// block phase after phase (rows first), then input channels, taps in rising input, lanes; idle lanes are zero.
#include <gtest/gtest.h>

#include "tests/kernels/reference.hpp"
#include "tests/kernels/simd/simd_test.hpp"

namespace convoke::kernel_tests {
namespace {

/// Channels of a full block and of the smaller last one.
struct Widths {
  std::int64_t wide, narrow;
};

Widths widths_of(const SimdKernel& kernel, const Problem& p) {
  const std::int64_t vector_bytes = (kernel.isa & CONVOKE_ISA_AVX512) != 0 ? 64
                                    : (kernel.isa & CONVOKE_ISA_FMA) != 0  ? 32
                                                                           : 16;
  if (kernel.name.find("channels") != std::string::npos) {
    const std::int64_t lanes = vector_bytes / (p.dtype == CONVOKE_F64 ? 8 : 4);
    return {2 * lanes, lanes};
  }
  const std::int64_t most = vector_bytes == 32 ? 4 : 8;  // where there are 16 registers, and where 32
  if (p.Cout / p.groups == 3) return {3, 3};
  std::int64_t wide = 1;
  while (wide < most && wide < p.Cout / p.groups) wide *= 2;
  return {wide, std::max<std::int64_t>(wide / 2, 1)};
}

/// Kernel indices of one phase in the order of rising input.
std::vector<std::int64_t> taps_of(const Problem& p, std::size_t axis, std::int64_t phase) {
  const std::int64_t kernel = axis == 0 ? p.Kh : p.Kw;
  std::vector<std::int64_t> taps;
  for (std::int64_t i = 0; i < kernel; ++i) {
    const std::int64_t k = p.transposed ? kernel - 1 - i : i;
    if (!p.transposed || (phase + p.padding[axis] - k * p.dilation[axis]) % p.stride[axis] == 0) taps.push_back(k);
  }
  return taps;
}

/// Bits of the weights in the order of the layout; idle lanes are zero.
std::vector<double> packed_by_definition(const Problem& p, const Tensor& weight, const Widths& widths) {
  const std::int64_t Cin_group = p.Cin / p.groups, Cout_group = p.Cout / p.groups;
  std::vector<double> packed;
  for (std::int64_t group = 0; group < p.groups; ++group) {
    for (std::int64_t first = 0; first < Cout_group; first += widths.wide) {
      const std::int64_t width = Cout_group - first <= widths.narrow ? widths.narrow : widths.wide;
      for (std::int64_t row = 0; row < (p.transposed ? p.stride[0] : 1); ++row) {
        for (std::int64_t col = 0; col < (p.transposed ? p.stride[1] : 1); ++col) {
          for (std::int64_t ci = 0; ci < Cin_group; ++ci) {
            for (std::int64_t kh : taps_of(p, 0, row)) {
              for (std::int64_t kw : taps_of(p, 1, col)) {
                for (std::int64_t lane = 0; lane < width; ++lane) {
                  const std::int64_t co = first + lane;
                  const std::array<std::int64_t, 4> at = p.transposed ? std::array{group * Cin_group + ci, co, kh, kw}
                                                                      : std::array{group * Cout_group + co, ci, kh, kw};
                  const bool idle = co >= Cout_group;
                  packed.push_back(idle ? 0.0 : decode(weight.format(), weight.bits_at(weight.element_index(at))));
                }
              }
            }
          }
        }
      }
    }
  }
  return packed;
}

/// Equal, the sign of zero included; every NaN is one.
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

class PackTest : public testing::TestWithParam<SimdKind> {
 protected:
  void SetUp() override {
    if (simd_kernels(GetParam().transposed, GetParam().dtype).empty()) GTEST_SKIP() << "this host lacks fma";
  }
  Problem base() const {
    Problem p;
    p.transposed = GetParam().transposed;
    p.dtype = GetParam().dtype;
    p.data = Data::special;
    return p;
  }
  static void check(const Problem& p, const SimdCall& how = {}) {
    const Operands operands(p);
    for (const SimdKernel& kernel : simd_kernels_of(p)) {
      if (kernel.pack == nullptr) continue;
      const auto expected = packed_by_definition(p, operands.weight, widths_of(kernel, p));
      const std::size_t bytes = kernel.packed_bytes(p), element = p.dtype == CONVOKE_F64 ? 8 : 4;
      ASSERT_LE(expected.size() * element, bytes) << kernel.name << ": the contract's bytes are too few";
      PoisonedMemory packed(bytes);
      ASSERT_EQ(pack(kernel, CallOperands(operands), packed.data(), bytes, how), CONVOKE_OK);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        double found = 0;
        if (element == 8) {
          std::memcpy(&found, static_cast<char*>(packed.data()) + i * 8, 8);
        } else {
          float narrow = 0;
          std::memcpy(&narrow, static_cast<char*>(packed.data()) + i * 4, 4);
          found = static_cast<double>(narrow);
        }
        ASSERT_TRUE(same(found, expected[i])) << kernel.name << " " << p.name() << " element " << i;
      }
    }
  }
};

TEST_P(PackTest, EveryNumberOfOutputChannels) {
  for (std::int64_t Cout = 1; Cout <= 40; ++Cout) {
    Problem p = base();
    p.Cin = 3, p.Cout = Cout, p.Kh = 2, p.Kw = 3;
    check(p);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PackTest, GroupsAndEveryLayout) {
  for (int layout = 0; layout < 8; ++layout) {
    Problem p = base();
    p.groups = 3, p.Cin = 6, p.Cout = 27, p.Kh = 3, p.Kw = 2;
    p.weight_layout = static_cast<Layout>(layout);
    check(p);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PackTest, PhasesOfEveryStrideDilationAndPadding) {
  for (std::int64_t stride = 1; stride <= 4; ++stride) {
    for (std::int64_t dilation = 1; dilation <= 4; ++dilation) {
      for (std::int64_t padding = 0; padding <= 4; ++padding) {
        Problem p = base();
        p.Cin = 2, p.Cout = 5, p.Kh = 4, p.Kw = 3;
        p.stride = {stride, 3}, p.dilation = {dilation, 2}, p.padding = {padding, 1};
        p.H = p.W = 20;
        check(p);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(PackTest, ThreadsShareTheWork) {
  Problem p = base();
  p.groups = 2, p.Cin = 4, p.Cout = 130, p.Kh = p.Kw = 3;
  check(p, {.threads = 3});
}

INSTANTIATE_TEST_SUITE_P(Simd, PackTest, testing::ValuesIn(simd_kinds), simd_kind_name);

}  // namespace
}  // namespace convoke::kernel_tests

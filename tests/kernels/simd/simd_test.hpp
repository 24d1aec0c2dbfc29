// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the tests of the vector kernels share: a test for each operation and dtype, and the comparison with portable.
#pragma once

#include <gtest/gtest.h>

#include "tests/kernels/simd_kernel.hpp"

namespace convoke::kernel_tests {

struct SimdKind {
  bool transposed;
  int dtype;
};
inline constexpr std::array<SimdKind, 8> simd_kinds{{{false, CONVOKE_F32},
                                                     {false, CONVOKE_F64},
                                                     {false, CONVOKE_BF16},
                                                     {false, CONVOKE_F16},
                                                     {true, CONVOKE_F32},
                                                     {true, CONVOKE_F64},
                                                     {true, CONVOKE_BF16},
                                                     {true, CONVOKE_F16}}};
inline std::string simd_kind_name(const testing::TestParamInfo<SimdKind>& info) {
  return (info.param.transposed ? "conv_transpose2d_" : "conv2d_") +
         std::string(formats[static_cast<std::size_t>(info.param.dtype)].name);
}

class SimdTest : public testing::TestWithParam<SimdKind> {
 protected:
  void SetUp() override {
    if (simd_kernels(GetParam().transposed, GetParam().dtype).empty()) GTEST_SKIP() << "this host lacks fma";
  }
  /// Several units of work, unequal axes, padding, groups, a bias.
  Problem base() const {
    Problem p;
    p.transposed = GetParam().transposed;
    p.dtype = GetParam().dtype;
    p.N = 2, p.Cin = 4, p.H = 9, p.W = 19, p.Cout = 40, p.Kh = 3, p.Kw = 2, p.groups = 2, p.bias = true;
    p.stride = {1, 2}, p.padding = {1, 1}, p.padding_end = {0, 1};
    return p;
  }

  /// Calls run_one(kernel, operands) on fresh operands of every kernel and compares with a portable kernel.
  template <class RunOne>
  static void compare(const Problem& p, const RunOne& run_one) {
    ASSERT_TRUE(p.valid()) << p.name();
    const Operands portable(p);
    ASSERT_EQ(portable.run(rows_of(p).front().function), CONVOKE_OK);
    for (const SimdKernel& kernel : simd_kernels_of(p)) {
      Operands operands(p);
      ASSERT_EQ(run_one(kernel, operands), CONVOKE_OK) << kernel.name;
      ASSERT_EQ(operands.out.canonical(), portable.out.canonical()) << kernel.name << " " << p.name();
      ASSERT_TRUE(operands.out.gaps_untouched()) << kernel.name << " " << p.name();
    }
  }
  static void check(const Problem& p, const SimdCall& how = {}) {
    compare(p, [&](const SimdKernel& kernel, const Operands& operands) { return run(kernel, p, operands, how); });
  }
};

}  // namespace convoke::kernel_tests

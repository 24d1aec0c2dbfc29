// SPDX-License-Identifier: Apache-2.0 OR MIT
// What the kernel tests share: the rows this host can run, and random problems.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/portable/entries.hpp"
#include "tests/kernels/problem.hpp"

namespace convoke::kernel_tests {

inline bool host_runs(std::uint32_t isa) {
#if defined(__x86_64__)
  if ((isa & CONVOKE_ISA_FMA) != 0 &&
      !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))) {
    return false;
  }
  if ((isa & CONVOKE_ISA_AVX512) != 0) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  }
  return true;
#else
  return isa == CONVOKE_ISA_BASELINE;
#endif
}

/// The rows of `convoke::portable::NAME` that this host can run, the fastest first. At least the baseline.
inline std::vector<convoke_entry> rows_of(std::string_view name) {
  std::vector<convoke_entry> rows;
  for (const convoke_entry& entry : portable::entries()) {
    if (entry.symbol == "convoke::portable::" + std::string(name) && host_runs(entry.isa)) rows.push_back(entry);
  }
  return rows;
}

inline std::vector<convoke_entry> rows_of(const Problem& p) {
  return rows_of((p.transposed ? "conv_transpose2d_" : "conv2d_") +
                 std::string(formats[static_cast<std::size_t>(p.dtype)].name));
}

/// A small valid problem in which every relation occurs: stride above the kernel, padding at least the kernel, unequal
/// ends, dilation, all kinds of groups, unit and prime sizes, every layout, every kind of data, empty tensors.
inline Problem random_problem(bool transposed, int dtype, Random& random) {
  for (;;) {
    Problem p;
    p.transposed = transposed;
    p.dtype = dtype;
    const auto pick = [&](std::initializer_list<std::int64_t> values) {
      return values.begin()[random.between(0, static_cast<std::int64_t>(values.size()) - 1)];
    };
    p.N = pick({1, 1, 1, 2, 3});
    p.H = pick({1, 2, 3, 5, 7, 8, 11, 13});
    p.W = pick({1, 2, 3, 5, 7, 8, 11, 17, 70});
    p.Kh = pick({1, 1, 2, 3, 3, 5});
    p.Kw = pick({1, 1, 2, 3, 3, 7});
    p.groups = pick({1, 1, 1, 2, 3, 4});
    const std::int64_t depth = pick({1, 1, 2, 3, 5});
    p.Cin = p.groups * pick({1, 1, 2, 3, 4});
    p.Cout = p.groups * (p.groups > 1 ? depth : pick({1, 2, 3, 5, 17, 35}));
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t kernel = axis == 0 ? p.Kh : p.Kw;
      p.stride[axis] = pick({1, 1, 1, 2, 3, kernel + 1});
      p.dilation[axis] = pick({1, 1, 1, 2, 3, 4});
      p.padding[axis] = pick({0, 0, 1, 2, kernel, kernel + 2});
      p.padding_end[axis] = pick({p.padding[axis], p.padding[axis], 0, 1});
      if (transposed) p.output_padding[axis] = random.between(0, std::max(p.stride[axis], p.dilation[axis]) - 1);
    }
    p.bias = random.between(0, 1) != 0;
    if (random.between(0, 31) == 0) (random.between(0, 1) != 0 ? p.N : random.between(0, 1) != 0 ? p.H : p.Cin) = 0;
    const auto layout = [&] { return static_cast<Layout>(random.between(0, 7)); };
    p.x_layout = layout();
    p.weight_layout = layout();
    p.bias_layout = layout();
    do p.out_layout = layout();
    while (p.out_layout == Layout::expanded);
    p.data = static_cast<Data>(random.between(0, 3));
    p.seed = random.next() >> 8;
    if (p.valid()) return p;
  }
}

}  // namespace convoke::kernel_tests

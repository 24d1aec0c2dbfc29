// SPDX-License-Identifier: Apache-2.0 OR MIT
// The fixed problems whose digests stand in suites/digests.txt: every build on every machine must print the same.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/kernels/problem.hpp"

namespace convoke::kernel_tests {

/// FNV-1a-64 of the canonical elements.
inline std::uint64_t digest(const Tensor& tensor) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char byte : tensor.canonical()) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

/// One line of the digest file.
inline std::string digest_line(std::uint64_t value, const std::string& name) {
  std::string line;
  for (int shift = 60; shift >= 0; shift -= 4) line += "0123456789abcdef"[(value >> shift) & 15u];
  return line + "  " + name;
}

/// Seven geometries, among them a stride above the kernel, padding at the kernel, dilation, groups, depthwise, unequal
/// ends and a 1x1 image; each in both operations and all dtypes, over all layouts and kinds of data.
inline std::vector<Problem> digest_problems() {
  std::vector<Problem> shapes(7);
  shapes[0].Cin = 3, shapes[0].H = 19, shapes[0].W = 23, shapes[0].Cout = 20, shapes[0].Kh = 3, shapes[0].Kw = 3;
  shapes[0].padding = shapes[0].padding_end = {1, 1};
  shapes[1].N = 2, shapes[1].Cin = 4, shapes[1].H = 9, shapes[1].W = 7, shapes[1].Cout = 6, shapes[1].Kh = 2;
  shapes[1].Kw = 3, shapes[1].stride = {3, 2}, shapes[1].groups = 2, shapes[1].padding_end = {1, 0};
  shapes[2].Cin = shapes[2].Cout = shapes[2].groups = 8, shapes[2].H = shapes[2].W = 7;
  shapes[2].Kh = shapes[2].Kw = 3, shapes[2].padding = shapes[2].padding_end = {3, 3};
  shapes[3].Cin = 5, shapes[3].H = 11, shapes[3].W = 13, shapes[3].Cout = 3, shapes[3].Kh = shapes[3].Kw = 3;
  shapes[3].dilation = {2, 3}, shapes[3].stride = {1, 2}, shapes[3].padding = {0, 2};
  shapes[4].N = 3, shapes[4].Cin = 70, shapes[4].Cout = 33;
  shapes[5].Cin = 16, shapes[5].H = shapes[5].W = 14, shapes[5].Cout = 17;
  shapes[6].Cin = 2, shapes[6].H = 6, shapes[6].W = 5, shapes[6].Cout = 2, shapes[6].Kh = 5, shapes[6].Kw = 4;
  shapes[6].stride = {2, 2}, shapes[6].padding = {2, 2}, shapes[6].padding_end = {2, 1};

  std::vector<Problem> problems;
  for (bool transposed : {false, true}) {
    for (int dtype = 0; dtype < 4; ++dtype) {
      for (Problem p : shapes) {
        const auto k = problems.size();
        p.transposed = transposed;
        p.dtype = dtype;
        if (transposed) p.output_padding = {p.stride[0] - 1, 0};
        p.bias = k % 3 != 0;
        p.x_layout = static_cast<Layout>(k % 8);
        p.weight_layout = static_cast<Layout>((k / 2 + 3) % 8);
        p.bias_layout = static_cast<Layout>((k + 4) % 8);
        p.out_layout = static_cast<Layout>((k + 1) % 8);
        if (p.out_layout == Layout::expanded) p.out_layout = Layout::dense;
        p.data = static_cast<Data>((k / 2) % 4);
        p.seed = k + 1;
        problems.push_back(p);
      }
    }
  }
  return problems;
}

/// A cast of 1000 special or tiny elements.
struct CastProblem {
  int from, to;
  Data data;

  std::string symbol() const { return "cast_to_" + name_of(to) + "_" + name_of(from); }
  std::string name() const {
    return symbol() + " x=1000 data=" + std::string(data_names[static_cast<std::size_t>(data)]) + " seed=1";
  }

 private:
  static std::string name_of(int dtype) { return std::string(formats[static_cast<std::size_t>(dtype)].name); }
};

inline std::vector<CastProblem> digest_casts() {
  std::vector<CastProblem> casts;
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      for (Data data : {Data::special, Data::tiny}) {
        if (from != to) casts.push_back({from, to, data});
      }
    }
  }
  return casts;
}

/// The operands of a cast; the output is poisoned.
struct CastOperands {
  Tensor x, out;
  explicit CastOperands(const CastProblem& p)
      : x(p.from, {10, 100}, Layout::permuted), out(p.to, {10, 100}, Layout::dense) {
    x.fill(p.data, 1);
  }
  std::int32_t run(convoke_host_kernel kernel) const {
    const convoke_operand* const inputs[] = {&x.operand()};
    const convoke_operand* const outputs[] = {&out.operand()};
    const convoke_call call{sizeof call, CONVOKE_KERNEL_VERSION, inputs, outputs, 1, 1, nullptr, nullptr, 0, 1, 0,
                            nullptr};
    return kernel(&call);
  }
};

}  // namespace convoke::kernel_tests

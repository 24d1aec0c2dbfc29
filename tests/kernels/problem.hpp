// SPDX-License-Identifier: Apache-2.0 OR MIT
// A convolution problem with all its tensors, and the call that runs a kernel on it.
#pragma once

#include <memory>
#include <string>

#include "kernels/common/kernel.h"
#include "tests/kernels/tensor.hpp"

namespace convoke::kernel_tests {

struct Problem {
  bool transposed = false;
  int dtype = CONVOKE_F32;
  std::int64_t N = 1, Cin = 1, H = 1, W = 1, Cout = 1, Kh = 1, Kw = 1;
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, padding_end{0, 0}, dilation{1, 1}, output_padding{0, 0};
  std::int64_t groups = 1;
  bool bias = false;
  Layout x_layout = Layout::dense, weight_layout = Layout::dense, bias_layout = Layout::dense,
         out_layout = Layout::dense;
  Data data = Data::normal;
  std::uint64_t seed = 1;

  std::int64_t out_size(std::size_t axis) const {
    const std::int64_t size = axis == 0 ? H : W, kernel = axis == 0 ? Kh : Kw;
    const std::int64_t pads = padding[axis] + padding_end[axis], reach = dilation[axis] * (kernel - 1) + 1;
    if (transposed) return (size - 1) * stride[axis] - pads + reach + output_padding[axis];
    const std::int64_t room = size + pads - reach;
    return room < 0 ? -1 : room / stride[axis] + 1;
  }
  bool valid() const { return out_size(0) >= 0 && out_size(1) >= 0 && Cin % groups == 0 && Cout % groups == 0; }

  std::string name() const {
    const auto pair = [](std::int64_t h, std::int64_t w) { return std::to_string(h) + "x" + std::to_string(w); };
    const auto layout = [](Layout l) { return std::string(layout_names[static_cast<std::size_t>(l)]); };
    std::string text = transposed ? "conv_transpose2d" : "conv2d";
    text += " x=" + pair(N, Cin) + "x" + pair(H, W);
    text += " weight=" + (transposed ? pair(Cin, Cout / groups) : pair(Cout, Cin / groups)) + "x" + pair(Kh, Kw);
    text += " bias=" + std::to_string(int{bias}) + " stride=" + pair(stride[0], stride[1]);
    text += " padding=" + std::to_string(padding[0]) + "," + std::to_string(padding[1]) + "," +
            std::to_string(padding_end[0]) + "," + std::to_string(padding_end[1]);
    text += " dilation=" + pair(dilation[0], dilation[1]) + " groups=" + std::to_string(groups);
    text += " output_padding=" + pair(output_padding[0], output_padding[1]);
    text += " dtype=" + std::string(formats[static_cast<std::size_t>(dtype)].name);
    text += " x.layout=" + layout(x_layout) + " weight.layout=" + layout(weight_layout);
    text += " bias.layout=" + layout(bias_layout) + " out.layout=" + layout(out_layout);
    text += " data=" + std::string(data_names[static_cast<std::size_t>(data)]) + " seed=" + std::to_string(seed);
    return text;
  }
};

/// The operands of a problem, filled; the output is poisoned.
struct Operands {
  Tensor x, weight, bias, out;
  convoke_conv_params params{};
  bool has_bias;

  explicit Operands(const Problem& p)
      : x(p.dtype, {p.N, p.Cin, p.H, p.W}, p.x_layout),
        weight(p.dtype,
               p.transposed ? std::vector<std::int64_t>{p.Cin, p.Cout / p.groups, p.Kh, p.Kw}
                            : std::vector<std::int64_t>{p.Cout, p.Cin / p.groups, p.Kh, p.Kw},
               p.weight_layout),
        bias(p.dtype, {p.Cout}, p.bias_layout),
        out(p.dtype, {p.N, p.Cout, p.out_size(0), p.out_size(1)}, p.out_layout),
        has_bias(p.bias) {
    params = {
        sizeof params, 0, {p.stride[0], p.stride[1]}, {p.padding[0], p.padding[1]}, {p.dilation[0], p.dilation[1]},
        p.groups};
    x.fill(p.data, p.seed * 3);
    weight.fill(p.data, p.seed * 3 + 1);
    bias.fill(p.data, p.seed * 3 + 2);
  }

  std::int32_t run(convoke_host_kernel kernel, int threads = 1, const convoke_parallel_for* pool = nullptr) const {
    const convoke_operand* const inputs[] = {&x.operand(), &weight.operand(), &bias.operand()};
    const convoke_operand* const outputs[] = {&out.operand()};
    const convoke_call call{
        sizeof call, CONVOKE_KERNEL_VERSION, inputs, outputs, has_bias ? 3 : 2, 1, &params, nullptr, 0, threads, 0,
        pool};
    return kernel(&call);
  }
};

}  // namespace convoke::kernel_tests

// SPDX-License-Identifier: Apache-2.0 OR MIT
// A stranger's C++20 program: a sum over a 3x3 window, checked by hand, and a refusal that names its rule.
#include <array>
#include <convoke/convoke.hpp>
#include <cstdio>

namespace {

using convoke::ConstTensor;
using convoke::Dims;
using convoke::DType;
using convoke::Tensor;
using convoke::TensorSpec;

bool sums_of_a_window_are_right() {
  std::array<float, 16> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  std::array<float, 9> weight{};
  weight.fill(1.0F);
  std::array<float, 4> out{};
  const auto done =
      convoke::conv2d(ConstTensor{x.data(), sizeof x, TensorSpec::dense(DType::f32, Dims{1, 1, 4, 4})},
                      ConstTensor{weight.data(), sizeof weight, TensorSpec::dense(DType::f32, Dims{1, 1, 3, 3})},
                      std::nullopt, Tensor{out.data(), sizeof out, TensorSpec::dense(DType::f32, Dims{1, 1, 2, 2})});
  if (!done) {
    std::fprintf(stderr, "conv2d: %s\n", done.error().message.c_str());
    return false;
  }
  return out == std::array<float, 4>{45.0F, 54.0F, 81.0F, 90.0F};
}

bool a_bad_stride_is_refused_by_name() {
  const auto shape = convoke::output_shape(Dims{1, 1, 4, 4}, Dims{1, 1, 3, 3}, convoke::Conv2dParams{.stride = 0});
  return !shape && shape.error().rule == "stride";
}

}  // namespace

int main() {
  static_assert(__cplusplus < 202302L, "the public headers promise C++20");
  std::printf("%s, commit %s, %s\n", convoke::build_info().version, convoke::build_info().commit,
              convoke::build_info().compiler);
  if (!sums_of_a_window_are_right()) return 1;
  if (!a_bad_stride_is_refused_by_name()) return 2;
  return 0;
}

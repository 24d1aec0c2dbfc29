// SPDX-License-Identifier: Apache-2.0 OR MIT
// Speed of the portable convolutions: every build of every dtype on ResNet-50 layers and a few odd ones, one thread.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "kernels/portable/entries.hpp"

namespace {

struct Layer {
  const char* name;
  bool transposed;
  std::int64_t Cin, H, Cout, K, stride, padding, groups;
};

constexpr Layer layers[] = {
    {"conv1_7x7s2_224", false, 3, 224, 64, 7, 2, 3, 1},
    {"l1_1x1_256_64_56", false, 256, 56, 64, 1, 1, 0, 1},
    {"l1_3x3_64_56", false, 64, 56, 64, 3, 1, 1, 1},
    {"l2_3x3s2_128_56", false, 128, 56, 128, 3, 2, 1, 1},
    {"l2_3x3_128_28", false, 128, 28, 128, 3, 1, 1, 1},
    {"l3_3x3_256_14", false, 256, 14, 256, 3, 1, 1, 1},
    {"l4_3x3_512_7", false, 512, 7, 512, 3, 1, 1, 1},
    {"l4_1x1_2048_512_7", false, 2048, 7, 512, 1, 1, 0, 1},
    {"depthwise_144_3x3_56", false, 144, 56, 144, 3, 1, 1, 144},
    {"transposed_4x4s2_256_16", true, 256, 16, 128, 4, 2, 1, 1},
    {"fc_2048_1000_1", false, 2048, 1, 1000, 1, 1, 0, 1},
};

std::int64_t out_size(const Layer& l) {
  return l.transposed ? (l.H - 1) * l.stride - 2 * l.padding + l.K : (l.H + 2 * l.padding - l.K) / l.stride + 1;
}

convoke_operand dense(std::vector<std::uint8_t>& memory, std::int32_t dtype, const std::int64_t (&shape)[4]) {
  convoke_operand operand{};
  operand.size = sizeof operand;
  operand.dtype = dtype;
  operand.rank = 4;
  std::int64_t count = 1;
  for (int axis = 3; axis >= 0; --axis) {
    operand.shape[axis] = shape[axis];
    operand.stride[axis] = count;
    count *= shape[axis];
  }
  constexpr std::size_t element_bytes[] = {4, 8, 2, 2};
  memory.assign(static_cast<std::size_t>(count) * element_bytes[dtype], 0);
  // Bytes 0x00..0x3f in every position: finite values of every type, none subnormal for long.
  std::uint32_t state = 1;
  for (auto& byte : memory) byte = static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 26);
  operand.data = memory.data();
  operand.bytes = memory.size();
  return operand;
}

void run(benchmark::State& state, const convoke_entry& entry, const Layer& l, std::int32_t dtype) {
  std::vector<std::uint8_t> x_memory, weight_memory, out_memory;
  const std::int64_t Ho = out_size(l);
  const convoke_operand x = dense(x_memory, dtype, {1, l.Cin, l.H, l.H});
  const convoke_operand weight = l.transposed ? dense(weight_memory, dtype, {l.Cin, l.Cout / l.groups, l.K, l.K})
                                              : dense(weight_memory, dtype, {l.Cout, l.Cin / l.groups, l.K, l.K});
  const convoke_operand out = dense(out_memory, dtype, {1, l.Cout, Ho, Ho});
  const convoke_conv_params params{sizeof params, 0, {l.stride, l.stride}, {l.padding, l.padding}, {1, 1}, l.groups};
  const convoke_operand* const inputs[] = {&x, &weight};
  const convoke_operand* const outputs[] = {&out};
  const convoke_call call{sizeof call, CONVOKE_KERNEL_VERSION, inputs, outputs, 2, 1, &params, nullptr, 0, 1, 0,
                          nullptr};
  for (auto _ : state) benchmark::DoNotOptimize(entry.function(&call));
  const std::int64_t pixels = l.transposed ? l.H * l.H : Ho * Ho;
  const std::int64_t depth = l.Cin / l.groups;
  const auto flops = 2.0 * static_cast<double>(pixels * l.Cout * depth * l.K * l.K);
  state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  constexpr std::string_view dtypes[] = {"f32", "f64", "bf16", "f16"};
  for (const convoke_entry& entry : convoke::portable::entries()) {
    const std::string_view symbol = entry.symbol;
    for (std::int32_t dtype = 0; dtype < 4; ++dtype) {
      for (const Layer& l : layers) {
        const auto op = l.transposed ? "conv_transpose2d" : "conv2d";
        if (symbol != fmt::format("convoke::portable::{}_{}", op, dtypes[dtype])) continue;
        const auto isa = entry.isa == CONVOKE_ISA_BASELINE ? "baseline" : "fma";
        benchmark::RegisterBenchmark(fmt::format("{}/{}/{}", isa, dtypes[dtype], l.name).c_str(),
                                     [&entry, &l, dtype](benchmark::State& state) { run(state, entry, l, dtype); })
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

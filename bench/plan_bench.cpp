// SPDX-License-Identifier: Apache-2.0 OR MIT
// What planning costs: a shape that was planned before, and one that was not.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "convoke/convoke.hpp"

namespace convoke {
namespace {

// ResNet-50's middle 3x3 layer; `width` tells shapes apart.
struct Layer {
  TensorSpec x, weight, out;
  explicit Layer(DType dtype, std::int64_t width = 56) {
    x = TensorSpec::dense(dtype, {1, 64, 56, width});
    weight = TensorSpec::dense(dtype, {64, 64, 3, 3});
    out = TensorSpec::dense(dtype, {1, 64, 56, width});
    x.align = weight.align = out.align = 64;
  }
  Result<Plan> plan(const PlanOptions& options = {}) const {
    return convoke::plan(x, weight, std::nullopt, out, Conv2dParams{.padding = 1}, options);
  }
};

// Every call plans a width that nobody asked for before.
void cold(benchmark::State& state, Layer first, const PlanOptions& options) {
  static std::int64_t width = 100;
  const DType dtype = first.x.dtype;
  for (auto _ : state) {
    state.PauseTiming();
    const Layer layer(dtype, ++width);
    state.ResumeTiming();
    auto plan = layer.plan(options);
    if (!plan) return state.SkipWithError("no plan");
    benchmark::DoNotOptimize(plan);
  }
}

void warm(benchmark::State& state) {
  const Layer layer(DType::f32);
  if (!layer.plan()) return state.SkipWithError("no plan");
  for (auto _ : state) {
    auto plan = layer.plan();
    benchmark::DoNotOptimize(plan);
  }
}
BENCHMARK(warm)->ThreadRange(1, 2);

void cold_one_kernel(benchmark::State& state) { cold(state, Layer(DType::f32), {}); }
BENCHMARK(cold_one_kernel)->Unit(benchmark::kMicrosecond);

// f16 may also go through f32 and f64: casts are found and priced.
void cold_with_casts(benchmark::State& state) {
  PlanOptions options;
  options.demand = Demand::any();
  cold(state, Layer(DType::f16), options);
}
BENCHMARK(cold_with_casts)->Unit(benchmark::kMicrosecond);

void explain_with_casts(benchmark::State& state) {
  const Layer layer(DType::f16);
  PlanOptions options;
  options.demand = Demand::any();
  for (auto _ : state) {
    auto explanation = explain(layer.x, layer.weight, std::nullopt, layer.out, Conv2dParams{.padding = 1}, options);
    benchmark::DoNotOptimize(explanation);
  }
}
BENCHMARK(explain_with_casts)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace convoke

BENCHMARK_MAIN();

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Twelve sums at once: two units that take four cycles need eight, older ones ten.
#include "bench/peers/fma_peak.hpp"

#include <cmath>
#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "base/host.hpp"

namespace convoke::peers {
namespace {

constexpr int sums = 12;
constexpr int loop_rounds = 30'000;

struct Loop {
  float (*run)(float start);
  int lanes;
};

#if defined(__x86_64__)

__attribute__((target("avx512f"))) float avx512_loop(float start) {
  const __m512 factor = _mm512_set1_ps(0.999f), step = _mm512_set1_ps(0.001f);
  __m512 sum[sums];
  for (__m512& each : sum) each = _mm512_set1_ps(start);
  for (int i = 0; i < loop_rounds; ++i)
    for (__m512& each : sum) each = _mm512_fmadd_ps(each, factor, step);
  for (int i = 1; i < sums; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_cvtss_f32(sum[0]);
}

__attribute__((target("avx2,fma"))) float avx2_loop(float start) {
  const __m256 factor = _mm256_set1_ps(0.999f), step = _mm256_set1_ps(0.001f);
  __m256 sum[sums];
  for (__m256& each : sum) each = _mm256_set1_ps(start);
  for (int i = 0; i < loop_rounds; ++i)
    for (__m256& each : sum) each = _mm256_fmadd_ps(each, factor, step);
  for (int i = 1; i < sums; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

#elif defined(__aarch64__)

float neon_loop(float start) {
  const float32x4_t factor = vdupq_n_f32(0.999f), step = vdupq_n_f32(0.001f);
  float32x4_t sum[sums];
  for (float32x4_t& each : sum) each = vdupq_n_f32(start);
  for (int i = 0; i < loop_rounds; ++i)
    for (float32x4_t& each : sum) each = vfmaq_f32(step, each, factor);
  for (int i = 1; i < sums; ++i) sum[0] = vaddq_f32(sum[0], sum[i]);
  return vgetq_lane_f32(sum[0], 0);
}

#endif

// A processor without vectors that fuse: one lane, which std::fma may even compute in software.
[[maybe_unused]] float scalar_loop(float start) {
  float sum[sums];
  for (float& each : sum) each = start;
  for (int i = 0; i < loop_rounds; ++i)
    for (float& each : sum) each = std::fma(each, 0.999f, 0.001f);
  for (int i = 1; i < sums; ++i) sum[0] += sum[i];
  return sum[0];
}

const Loop& widest() {
  static const Loop loop = [] {
#if defined(__x86_64__)
    const std::uint32_t isa = host().isa;
    if ((isa & isa_of_name("avx512")) != 0) return Loop{avx512_loop, 16};
    if ((isa & isa_of_name("fma")) != 0) return Loop{avx2_loop, 8};
    return Loop{scalar_loop, 1};
#elif defined(__aarch64__)
    return Loop{neon_loop, 4};
#else
    return Loop{scalar_loop, 1};
#endif
  }();
  return loop;
}

}  // namespace

double fma_loop_flops(int threads) { return 2.0 * sums * loop_rounds * widest().lanes * threads; }

void run_fma_loop(int threads) {
  const Loop& loop = widest();
#pragma omp parallel num_threads(threads)
  {
    // Kept alive without a store that all threads would share.
    volatile float result = loop.run(1.0f);
    static_cast<void>(result);
  }
}

}  // namespace convoke::peers

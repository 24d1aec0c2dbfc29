// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "kernels/simd/depthwise.h"

#include "kernels/simd/kernels.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

int32_t conv2d_depthwise_f32(const convoke_call* call) noexcept { return convolve_depthwise<F32>(*call); }
int32_t conv2d_depthwise_f64(const convoke_call* call) noexcept { return convolve_depthwise<F64>(*call); }
int32_t conv2d_depthwise_bf16(const convoke_call* call) noexcept { return convolve_depthwise<Bf16>(*call); }
int32_t conv2d_depthwise_f16(const convoke_call* call) noexcept { return convolve_depthwise<F16>(*call); }

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

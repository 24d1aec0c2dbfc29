// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "kernels/simd/channels.h"

#include "kernels/simd/kernels.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {

int32_t conv2d_channels_f32(const convoke_call* call) noexcept {
  return convolve_channels<F32>(Operation::conv2d, *call);
}
int32_t conv2d_channels_f64(const convoke_call* call) noexcept {
  return convolve_channels<F64>(Operation::conv2d, *call);
}
int32_t conv2d_channels_bf16(const convoke_call* call) noexcept {
  return convolve_channels<Bf16>(Operation::conv2d, *call);
}
int32_t conv2d_channels_f16(const convoke_call* call) noexcept {
  return convolve_channels<F16>(Operation::conv2d, *call);
}
int32_t conv_transpose2d_channels_f32(const convoke_call* call) noexcept {
  return convolve_channels<F32>(Operation::conv_transpose2d, *call);
}
int32_t conv_transpose2d_channels_f64(const convoke_call* call) noexcept {
  return convolve_channels<F64>(Operation::conv_transpose2d, *call);
}
int32_t conv_transpose2d_channels_bf16(const convoke_call* call) noexcept {
  return convolve_channels<Bf16>(Operation::conv_transpose2d, *call);
}
int32_t conv_transpose2d_channels_f16(const convoke_call* call) noexcept {
  return convolve_channels<F16>(Operation::conv_transpose2d, *call);
}

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

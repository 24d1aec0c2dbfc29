// SPDX-License-Identifier: Apache-2.0 OR MIT
// Contract: pack.fkc.md.
#include "kernels/simd/pack.h"

#include "kernels/simd/kernels.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

template <class E>
int32_t pack_channels(Operation operation, const convoke_call& call) noexcept {
  return pack_weight<E>(operation, channels_layout<typename E::Sum>(), call);
}

template <class E>
int32_t pack_pixels(Operation operation, const convoke_call& call) noexcept {
  const auto& params = *static_cast<const convoke_conv_params*>(call.params);
  return pack_weight<E>(operation, pixels_layout(filter_of(operation, *call.inputs[0], params)), call);
}

}  // namespace

#define CONVOKE_PACK(ALGORITHM, TYPE, E)                                                  \
  int32_t pack_conv2d_##ALGORITHM##_##TYPE(const convoke_call* call) noexcept {           \
    return pack_##ALGORITHM<E>(Operation::conv2d, *call);                                 \
  }                                                                                       \
  int32_t pack_conv_transpose2d_##ALGORITHM##_##TYPE(const convoke_call* call) noexcept { \
    return pack_##ALGORITHM<E>(Operation::conv_transpose2d, *call);                       \
  }
CONVOKE_PACK(channels, f32, F32)
CONVOKE_PACK(channels, f64, F64)
CONVOKE_PACK(channels, bf16, Bf16)
CONVOKE_PACK(channels, f16, F16)
CONVOKE_PACK(pixels, f32, F32)
CONVOKE_PACK(pixels, f64, F64)
CONVOKE_PACK(pixels, bf16, Bf16)
CONVOKE_PACK(pixels, f16, F16)
#undef CONVOKE_PACK

}  // namespace convoke::simd::CONVOKE_SIMD_ISA

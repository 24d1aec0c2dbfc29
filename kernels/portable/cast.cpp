// SPDX-License-Identifier: Apache-2.0 OR MIT
// out = x in another type: exact where the target holds the value, else rounded once to nearest, ties to even. A NaN
// stays a NaN, an overflow becomes an infinity, subnormals are kept. Contract: layout.fkc.md,
// cast_to_{f32,f64,bf16,f16}.
#include "kernels/common/element.h"
#include "kernels/portable/elementwise.h"
#include "kernels/portable/kernels.h"

namespace convoke::portable::CONVOKE_PORTABLE_ISA {
namespace {

using kernels::Bf16, kernels::F16, kernels::F32, kernels::F64;

// Widening to f32 first loses nothing except from f64, which has its own direct ways down.
template <class To, class From>
struct Cast {
  typename To::Storage operator()(typename From::Storage value) const noexcept {
    return static_cast<typename To::Storage>(To::narrow(From::widen(value)));
  }
};
template <class From>
struct Cast<F64, From> {
  double operator()(typename From::Storage value) const noexcept { return static_cast<double>(From::widen(value)); }
};
template <>
struct Cast<F32, F64> {
  float operator()(double value) const noexcept { return static_cast<float>(value); }
};
template <>
struct Cast<Bf16, F64> {
  uint16_t operator()(double value) const noexcept { return convoke_f64_to_bf16(value); }
};
template <>
struct Cast<F16, F64> {
  uint16_t operator()(double value) const noexcept { return convoke_f64_to_f16(value); }
};

template <class To, class From>
int32_t cast(const convoke_call* call) noexcept {
  return elementwise<typename To::Storage, typename From::Storage>(*call, Cast<To, From>());
}

}  // namespace

int32_t cast_to_f32_f64(const convoke_call* call) noexcept { return cast<F32, F64>(call); }
int32_t cast_to_f32_bf16(const convoke_call* call) noexcept { return cast<F32, Bf16>(call); }
int32_t cast_to_f32_f16(const convoke_call* call) noexcept { return cast<F32, F16>(call); }
int32_t cast_to_f64_f32(const convoke_call* call) noexcept { return cast<F64, F32>(call); }
int32_t cast_to_f64_bf16(const convoke_call* call) noexcept { return cast<F64, Bf16>(call); }
int32_t cast_to_f64_f16(const convoke_call* call) noexcept { return cast<F64, F16>(call); }
int32_t cast_to_bf16_f32(const convoke_call* call) noexcept { return cast<Bf16, F32>(call); }
int32_t cast_to_bf16_f64(const convoke_call* call) noexcept { return cast<Bf16, F64>(call); }
int32_t cast_to_bf16_f16(const convoke_call* call) noexcept { return cast<Bf16, F16>(call); }
int32_t cast_to_f16_f32(const convoke_call* call) noexcept { return cast<F16, F32>(call); }
int32_t cast_to_f16_f64(const convoke_call* call) noexcept { return cast<F16, F64>(call); }
int32_t cast_to_f16_bf16(const convoke_call* call) noexcept { return cast<F16, Bf16>(call); }

}  // namespace convoke::portable::CONVOKE_PORTABLE_ISA

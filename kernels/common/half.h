// SPDX-License-Identifier: Apache-2.0 OR MIT
// bf16 and f16 to f32 and back. Widening is exact; narrowing rounds to nearest, ties to even; a NaN stays a NaN (quiet,
// payload cut off); subnormals are kept both ways. Only integer operations, and one exact float operation on normal
// numbers, so neither the compiler's flags nor a thread's flush-to-zero mode changes a bit. Branch-free, so that loops
// over them vectorise. Formats: IEEE 754-2019 binary16 and binary32; bf16 is the upper half of a binary32.
#ifndef CONVOKE_KERNELS_COMMON_HALF_H
#define CONVOKE_KERNELS_COMMON_HALF_H

#include <stdint.h>

#define CONVOKE_STATIC_INLINE static inline __attribute__((always_inline))

CONVOKE_STATIC_INLINE uint32_t convoke_f32_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

CONVOKE_STATIC_INLINE float convoke_f32_from_bits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

CONVOKE_STATIC_INLINE float convoke_bf16_to_f32(uint16_t bits) { return convoke_f32_from_bits((uint32_t)bits << 16); }

CONVOKE_STATIC_INLINE uint16_t convoke_f32_to_bf16(float value) {
  const uint32_t bits = convoke_f32_bits(value);
  // Half an ulp less one, plus the last kept bit: carries exactly when the cut is above half, or half and odd.
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet = (bits >> 16) | 0x40u;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

CONVOKE_STATIC_INLINE float convoke_f16_to_f32(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  const uint32_t magnitude = half & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + (112u << 23);  // rebias 15 to 127
  const uint32_t special = normal + (112u << 23);            // exponent 31 becomes 255
  const uint32_t subnormal =
      convoke_f32_bits((float)(int32_t)magnitude * 0x1p-24f);  // exact, and never subnormal in f32
  const uint32_t finite = magnitude < 0x0400u ? subnormal : normal;
  return convoke_f32_from_bits(sign | (magnitude >= 0x7c00u ? special : finite));
}

CONVOKE_STATIC_INLINE uint16_t convoke_f32_to_f16(float value) {
  const uint32_t bits = convoke_f32_bits(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Normal results: rebias, then round away the low 13 bits; a carry out of the mantissa, or to infinity, comes by
  // itself.
  const uint32_t normal = (magnitude - (112u << 23) + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal results: the mantissa counts units of 2^-24. Shift it there and round on what falls off.
  const uint32_t exponent = magnitude >> 23;
  const uint32_t wanted = 126u - exponent;                  // 14 just below 2^-14, 25 at half the smallest subnormal
  const uint32_t shift = wanted - 1u > 30u ? 31u : wanted;  // far below everything falls off; 31 also where unused
  const uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t kept = mantissa >> shift;
  const uint32_t rest = mantissa & ((1u << shift) - 1u);
  const uint32_t half = 1u << (shift - 1u);
  const uint32_t subnormal = kept + (uint32_t)(rest > half || (rest == half && (kept & 1u)));
  const uint32_t finite = magnitude < (113u << 23) ? subnormal : normal;
  const uint32_t large = magnitude >= 0x47800000u ? 0x7c00u : finite;  // 2^16 and above: infinity
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  return (uint16_t)(sign | (magnitude > 0x7f800000u ? nan : large));
}

#endif

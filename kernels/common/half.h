// SPDX-License-Identifier: Apache-2.0 OR MIT
// bf16 and f16 to f32 and back, and from f64 in one rounding. Widening is exact; narrowing rounds to nearest, ties to
// even; a NaN stays a NaN (quiet, payload cut off); subnormals are kept both ways. Only integer operations, and one
// exact float operation on normal numbers, so neither the compiler's flags nor a thread's flush-to-zero mode changes a
// bit. Branch-free, so that loops over them vectorise. Formats: IEEE 754-2019 binary16 and binary32; bf16 is the upper
// half of a binary32.
#ifndef CONVOKE_KERNELS_COMMON_HALF_H
#define CONVOKE_KERNELS_COMMON_HALF_H

#include <stdint.h>

#define CONVOKE_STATIC_INLINE static inline __attribute__((always_inline))

CONVOKE_STATIC_INLINE uint32_t convoke_f32_bits(float value) {
  uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

CONVOKE_STATIC_INLINE float convoke_f32_from_bits(uint32_t bits) {
  float value = 0.0f;
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

// f64 to f32 rounded to odd: cut off, and the last bit set where anything was lost. A second rounding, to nearest in a
// format at least two bits shorter, then gives what one rounding of the f64 would have given. Never overflows: what is
// too large for f32 becomes its largest number, whose last bit is set.
CONVOKE_STATIC_INLINE float convoke_f64_to_f32_odd(double value) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000u;
  const uint64_t magnitude = bits & 0x7fffffffffffffffu;
  const uint32_t exponent = (uint32_t)(magnitude >> 52);
  const uint64_t mantissa = (magnitude & 0xfffffffffffffu) | 0x10000000000000u;
  // Normal results: rebias 1023 to 127 and drop 29 bits.
  const uint32_t normal =
      (uint32_t)((magnitude - ((uint64_t)896 << 52)) >> 29) | (uint32_t)((magnitude & 0x1fffffffu) != 0);
  // Subnormal results: the mantissa counts units of 2^-149.
  const uint32_t wanted = 926u - exponent;  // 30 just below 2^-126
  const uint32_t shift = wanted > 63u ? 63u : wanted;
  const uint32_t lost = (mantissa & (((uint64_t)1 << shift) - 1u)) != 0;
  const uint32_t subnormal = magnitude == 0 ? 0u : ((uint32_t)(mantissa >> shift) | lost);
  const uint32_t finite = exponent < 897u ? subnormal : normal;
  const uint32_t large = exponent >= 1151u ? 0x7f7fffffu : finite;  // 2^128 and above
  const uint32_t infinite = magnitude == 0x7ff0000000000000u ? 0x7f800000u : large;
  const uint32_t nan = 0x7fc00000u | ((uint32_t)(magnitude >> 29) & 0x3fffffu);
  return convoke_f32_from_bits(sign | (magnitude > 0x7ff0000000000000u ? nan : infinite));
}

CONVOKE_STATIC_INLINE uint16_t convoke_f64_to_bf16(double value) {
  return convoke_f32_to_bf16(convoke_f64_to_f32_odd(value));
}

CONVOKE_STATIC_INLINE uint16_t convoke_f64_to_f16(double value) {
  return convoke_f32_to_f16(convoke_f64_to_f32_odd(value));
}

#endif

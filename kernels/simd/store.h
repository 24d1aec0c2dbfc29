// SPDX-License-Identifier: Apache-2.0 OR MIT
// Finished sums to `out`: narrowed once, whatever its strides.
#ifndef CONVOKE_KERNELS_SIMD_STORE_H
#define CONVOKE_KERNELS_SIMD_STORE_H

#include <assert.h>

#include <type_traits>

#include "kernels/common/element.h"
#include "kernels/simd/vector.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

using kernels::Bf16, kernels::F16, kernels::F32, kernels::F64;

/// The element that is stored as its sums are.
template <class Sum>
using Wide = std::conditional_t<std::is_same_v<Sum, float>, F32, F64>;

/// Sums as they lie in memory: rounded once to nearest, ties to even; a NaN stays one (kernels/common/half.h).
template <class E>
HWY_INLINE auto narrowed(Vector<typename E::Sum> sums) noexcept {
  const Tag<typename E::Sum> d;
  if constexpr (std::is_same_v<E, Bf16>) {
    const hn::RebindToUnsigned<decltype(d)> u32;
    const hn::RebindToSigned<decltype(d)> i32;
    const auto bits = hn::BitCast(u32, sums), upper = hn::ShiftRight<16>(bits);
    const auto half = hn::Add(hn::Set(u32, 0x7fffu), hn::And(upper, hn::Set(u32, 1u)));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, half));
    const auto magnitude = hn::BitCast(i32, hn::And(bits, hn::Set(u32, 0x7fffffffu)));
    const auto is_nan = hn::RebindMask(u32, hn::Gt(magnitude, hn::Set(i32, 0x7f800000)));
    const auto kept = hn::IfThenElse(is_nan, hn::Or(upper, hn::Set(u32, 0x40u)), rounded);
    return hn::DemoteTo(hn::Rebind<uint16_t, decltype(d)>(), hn::BitCast(i32, kept));
  } else if constexpr (std::is_same_v<E, F16>) {
    const hn::Rebind<hwy::float16_t, decltype(d)> half;
    return hn::BitCast(hn::Rebind<uint16_t, decltype(d)>(), hn::DemoteTo(half, sums));
  } else {
    return sums;
  }
}

/// The first `count` lanes to out[0], out[stride], ...
template <class E>
HWY_INLINE void put(Vector<typename E::Sum> sums, typename E::Storage* out, int64_t stride, int64_t count) noexcept {
  const hn::Rebind<typename E::Storage, Tag<typename E::Sum>> d;
  constexpr int N = lanes<typename E::Sum>;
  const auto values = narrowed<E>(sums);
  if (stride == 1 && count >= N) return hn::StoreU(values, d, out);
#if !HWY_MEM_OPS_MIGHT_FAULT
  if (stride == 1) return hn::BlendedStore(values, hn::FirstN(d, static_cast<size_t>(count)), d, out);
#endif  // elsewhere it reads and rewrites what lies behind: another thread's outputs, or no memory at all
  HWY_ALIGN typename E::Storage lane[N];
  hn::Store(values, d, lane);
  for (int64_t i = 0; i < min_of(count, N); ++i) out[i * stride] = lane[i];
}

/// Most vectors that are interleaved.
constexpr int64_t most_interleaved = 4;

/// vectors[i * pitch + lane] to out[(lane * count + i) * stride], for `count` vectors and as many lanes as there are
/// `columns` for.
template <class E>
HWY_INLINE void put_interleaved(const typename E::Sum* vectors, int64_t pitch, int64_t count, typename E::Storage* out,
                                int64_t stride, int64_t columns) noexcept {
  using Sum = typename E::Sum;
  const Tag<Sum> d;
  constexpr int64_t N = lanes<Sum>;
  if (count == 1) return put<E>(hn::LoadU(d, vectors), out, stride, columns);
  HWY_ALIGN Sum row[N * most_interleaved];
  const auto vector = [&](int64_t i) HWY_ATTR { return hn::LoadU(d, vectors + i * pitch); };
  switch (count) {
    case 2:
      hn::StoreInterleaved2(vector(0), vector(1), d, row);
      break;
    case 3:
      hn::StoreInterleaved3(vector(0), vector(1), vector(2), d, row);
      break;
    case 4:
      hn::StoreInterleaved4(vector(0), vector(1), vector(2), vector(3), d, row);
      break;
    default:
      assert(false);
  }
  for (int64_t i = 0; i < count && i * N < columns; ++i) {
    put<E>(hn::Load(d, row + i * N), out + i * N * stride, stride, columns - i * N);
  }
}

/// Calls take(c, vector) for c = 0 to 3 with sums[p][c] for p = 0, 1, ... in the lanes; rows are `width` long. Groups
/// of four channels are gathered by 128-bit loads, which cost no shuffle, then transposed inside them.
template <class Take>
HWY_INLINE void transpose_four(const float* sums, int64_t width, const Take& take) noexcept {
  const Tag<float> d;
  constexpr int N = lanes<float>;
  const hn::RebindToUnsigned<decltype(d)> u32;
  const hn::RepartitionToWide<decltype(u32)> u64;
  Vector<float> rows[4];
  CONVOKE_UNROLL
  for (int j = 0; j < 4; ++j) {
    rows[j] = hn::LoadDup128(d, sums + (j + N - 4) * width);
    CONVOKE_UNROLL
    for (int block = N / 4 - 2; block >= 0; --block) {
      rows[j] = hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(4 * (block + 1))),
                               hn::LoadDup128(d, sums + (j + 4 * block) * width), rows[j]);
    }
  }
  const auto lower = [&](auto a, auto b) {
    return hn::BitCast(d, hn::InterleaveLower(u64, hn::BitCast(u64, a), hn::BitCast(u64, b)));
  };
  const auto upper = [&](auto a, auto b) {
    return hn::BitCast(d, hn::InterleaveUpper(u64, hn::BitCast(u64, a), hn::BitCast(u64, b)));
  };
  const auto low01 = hn::InterleaveLower(d, rows[0], rows[1]), high01 = hn::InterleaveUpper(d, rows[0], rows[1]);
  const auto low23 = hn::InterleaveLower(d, rows[2], rows[3]), high23 = hn::InterleaveUpper(d, rows[2], rows[3]);
  take(0, lower(low01, low23));
  take(1, upper(low01, low23));
  take(2, lower(high01, high23));
  take(3, upper(high01, high23));
}

/// sums[p][c], rows of `width`, to out[p * output_stride + c * channel_stride]. `sums` may be read up to a vector past
/// its last row.
template <class E>
void store_block(const typename E::Sum* sums, int64_t width, int64_t outputs, int64_t channels,
                 typename E::Storage* out, int64_t output_stride, int64_t channel_stride) noexcept {
  using Sum = typename E::Sum;
  const Tag<Sum> d;
  constexpr int N = lanes<Sum>;
  if (channel_stride == 1 && channels > 1) {
    for (int64_t p = 0; p < outputs; ++p) {
      for (int64_t c = 0; c < channels; c += N) {
        put<E>(hn::LoadU(d, sums + p * width + c), out + p * output_stride + c, 1, min_of(channels - c, N));
      }
    }
    return;
  }
  int64_t c = 0;
  if constexpr (std::is_same_v<Sum, float>) {
    for (; c + 4 <= channels; c += 4) {
      for (int64_t p = 0; p < outputs; p += N) {
        auto* const to = out + p * output_stride + c * channel_stride;
        transpose_four(sums + p * width + c, width, [&](int64_t row, Vector<float> values) {
          put<E>(values, to + row * channel_stride, output_stride, min_of(outputs - p, N));
        });
      }
    }
  }
  for (; c < channels; ++c) {
    for (int64_t p = 0; p < outputs; ++p) {
      out[p * output_stride + c * channel_stride] = E::narrow(sums[p * width + c]);
    }
  }
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

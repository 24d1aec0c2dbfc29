// SPDX-License-Identifier: Apache-2.0 OR MIT
// A band: the part of some input channels that a piece of the output reads, copied to where every tap of a row of
// outputs is contiguous: widened, with the columns that a strided convolution reads together side by side, zeros where
// there is no input. The copy costs one load and store for each element, which dozens of multiply-adds then use; for it
// the tiles need know nothing of the caller's strides and types.
#ifndef CONVOKE_KERNELS_SIMD_BAND_H
#define CONVOKE_KERNELS_SIMD_BAND_H

#include <type_traits>

#include "kernels/simd/convolution.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// A piece of one phase's outputs: rows and columns as the phase counts them.
struct Piece {
  Range rows, cols;
};

/// Elements from one channel of a band to the next: an odd number of cache lines, so that the channels of a pixel do
/// not fall into the same few sets of the cache where images are as wide as a power of two. Rises with what a channel
/// has.
template <class Sum>
constexpr int64_t channel_pitch_of(int64_t elements) noexcept {
  constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(Sum));
  return (ceil_div(elements, line) | 1) * line;
}

struct BandShape {
  int64_t row_begin, row_end;  // input rows in the band
  int64_t col_first;           // input column of the band's first; may lie left of the input
  int64_t column_phases, phase_width, used_phases;
  int64_t row_pitch, channel_pitch;  // in elements

  template <class Sum>
  void set_pitch() noexcept {
    row_pitch = used_phases * phase_width;
    channel_pitch = channel_pitch_of<Sum>((row_end - row_begin) * row_pitch);
  }
  /// Where, from its row in the band, output `first` finds its input for tap t.
  int64_t tap_offset(const Axis& cols, int64_t first, int64_t tap) const noexcept {
    return column_offset(cols.input(first, tap));
  }
  int64_t column_offset(int64_t input) const noexcept {
    const int64_t column = input - col_first;
    return column % column_phases * phase_width + column / column_phases;
  }
};

/// `slack`: columns behind the last one that may be read (and are zero) in every phase.
template <class Sum>
BandShape band_shape(const Axis& rows, const Axis& cols, const Piece& piece, int64_t slack) noexcept {
  BandShape band{};
  band.row_begin = min_of(max_of(rows.input(piece.rows.begin, 0), 0), rows.in_size);
  // A phase may have no tap at all: its outputs are what their chains begin with.
  const int64_t last_row = rows.input(piece.rows.end - 1, max_of(rows.taps, 1) - 1);
  band.row_end = max_of(min_of(last_row + 1, rows.in_size), band.row_begin);
  band.col_first = cols.input(piece.cols.begin, 0);
  band.column_phases = cols.out_to_in;
  const int64_t span = (max_of(cols.taps, 1) - 1) * cols.tap_to_in;
  band.phase_width = piece.cols.end - piece.cols.begin + span / cols.out_to_in + slack;
  band.used_phases = cols.taps <= 1 ? 1 : cols.out_to_in;
  band.set_pitch<Sum>();
  return band;
}

/// Widens the band to what outputs [begin, end) of another phase of a transposed convolution read.
template <class Sum>
void widen_band(BandShape& band, const Axis& cols, Range outputs) noexcept {
  if (outputs.begin >= outputs.end || cols.taps == 0) return;
  const int64_t end = max_of(band.col_first + band.phase_width, cols.input(outputs.end - 1, cols.taps - 1) + 1);
  band.col_first = min_of(band.col_first, cols.input(outputs.begin, 0));
  band.phase_width = end - band.col_first;
  band.set_pitch<Sum>();
}

/// What of one column phase of a row lies inside the input: [begin, end) of `phase_width`, the first at input column
/// `first`.
struct RowCopy {
  int64_t begin, end, first;
};

inline RowCopy row_copy(const BandShape& band, int64_t phase, int64_t size) noexcept {
  const int64_t first = band.col_first + phase, step = band.column_phases, count = band.phase_width;
  RowCopy copy{first < 0 ? min_of(ceil_div(-first, step), count) : 0,
               first >= size ? 0 : min_of((size - 1 - first) / step + 1, count), 0};
  copy.end = max_of(copy.begin, copy.end);
  copy.first = first + copy.begin * step;
  return copy;
}

/// One vector of elements, widened: exact.
template <class E, class Narrow>
HWY_INLINE Vector<typename E::Sum> widened(Narrow elements) noexcept {
  const Tag<typename E::Sum> d;
  if constexpr (std::is_same_v<E, Bf16>) {
    const hn::RebindToUnsigned<decltype(d)> whole;
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(whole, elements)));
  } else if constexpr (std::is_same_v<E, F16>) {
    const hn::Rebind<hwy::float16_t, decltype(d)> half;
    return hn::PromoteTo(d, hn::BitCast(half, elements));
  } else {
    return elements;
  }
}

template <class E>
using StorageTag = hn::Rebind<typename E::Storage, Tag<typename E::Sum>>;

template <class E>
HWY_INLINE Vector<typename E::Sum> load_widened(const typename E::Storage* from) noexcept {
  return widened<E>(hn::LoadU(StorageTag<E>(), from));
}

/// Every second of 2 * lanes - 1 neighbouring elements.
template <class E>
HWY_INLINE Vector<typename E::Sum> load_even(const typename E::Storage* from) noexcept {
  const Tag<typename E::Sum> d;
  const auto low = load_widened<E>(from), high = load_widened<E>(from + lanes<typename E::Sum> - 1);
  return hn::ConcatUpperLower(d, hn::ConcatOdd(d, high, high), hn::ConcatEven(d, low, low));
}

/// from[i * hop] for i in [0, count), count at most a vector, widened. Reads nothing in between.
template <class E>
HWY_INLINE void copy_few(const typename E::Storage* from, int64_t hop, int64_t count,
                         typename E::Sum* HWY_RESTRICT to) noexcept {
  using Sum = typename E::Sum;
  const StorageTag<E> d;
#if !HWY_MEM_OPS_MIGHT_FAULT
  if (hop == 1) {
    const auto inside = hn::FirstN(d, static_cast<size_t>(count));
    return put<Wide<Sum>>(widened<E>(hn::MaskedLoad(inside, d, from)), to, 1, count);
  }
#endif
  if constexpr (std::is_same_v<Sum, typename E::Storage>) {
    CONVOKE_SCALAR_LOOP
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * hop];
  } else {
    HWY_ALIGN typename E::Storage lane[lanes<Sum>] = {};
    CONVOKE_SCALAR_LOOP
    for (int64_t i = 0; i < count; ++i) lane[i] = from[i * hop];
    put<Wide<Sum>>(widened<E>(hn::Load(d, lane)), to, 1, count);
  }
}

/// from[i * hop] for i in [0, count), widened. Reads nothing in between the last element and the next.
template <class E>
HWY_INLINE void copy_strided(const typename E::Storage* from, int64_t hop, int64_t count,
                             typename E::Sum* HWY_RESTRICT to) noexcept {
  const Tag<typename E::Sum> d;
  constexpr int64_t N = lanes<typename E::Sum>;
  if ((hop == 1 || hop == 2) && count >= N) {
    // The last vector may overlap the one before it.
    for (int64_t done = 0; done < count; done += N) {
      const int64_t i = min_of(done, count - N);
      hn::StoreU(hop == 1 ? load_widened<E>(from + i) : load_even<E>(from + 2 * i), d, to + i);
    }
    return;
  }
  for (int64_t i = 0; i < count; i += N) copy_few<E>(from + i * hop, hop, min_of(count - i, N), to + i);
}

/// The elements of one row that lie inside the input, the first at `from`, and zeros around them.
template <class E>
HWY_INLINE void copy_row(const typename E::Storage* from, int64_t hop, const RowCopy& copy, int64_t count,
                         typename E::Sum* HWY_RESTRICT to) noexcept {
  using Sum = typename E::Sum;
  for (int64_t i = 0; i < copy.begin; ++i) to[i] = Sum(0);
  if (copy.begin < copy.end) copy_strided<E>(from, hop, copy.end - copy.begin, to + copy.begin);
  for (int64_t i = copy.end; i < count; ++i) to[i] = Sum(0);
}

/// to[c * pitch + p] = from[p * hop + c], widened, for `count` pixels, at most a vector of them, whose channels are
/// neighbours. Channels come some dozens at a time, each pixel's in one piece.
template <class E>
HWY_NOINLINE void transpose_pixels(const typename E::Storage* from, int64_t hop, int64_t count, int64_t channels,
                                   typename E::Sum* to, int64_t pitch) noexcept {
  using Sum = typename E::Sum;
  constexpr int64_t N = lanes<Sum>, most = 64;
  HWY_ALIGN Sum pixels[N * most];
  for (int64_t first = 0; first < channels; first += most) {
    const int64_t some = min_of(channels - first, most);
    for (int64_t p = 0; p < count; ++p) copy_strided<E>(from + p * hop + first, 1, some, pixels + p * most);
    Sum* const first_to = to + first * pitch;
    int64_t c = 0;
    if constexpr (std::is_same_v<Sum, float>) {
      for (; c + 4 <= some; c += 4) {
        transpose_four(pixels + c, most, [&](int64_t i, Vector<float> values) HWY_ATTR {
          put<F32>(values, first_to + (c + i) * pitch, 1, count);
        });
      }
    }
    for (; c < some; ++c) {
      for (int64_t p = 0; p < count; ++p) first_to[c * pitch + p] = pixels[p * most + c];
    }
  }
}

/// One row of several input channels that are neighbours, as copy_row copies each.
template <class E>
void copy_row_across(const typename E::Storage* from, int64_t hop, const RowCopy& copy, int64_t count, int64_t channels,
                     typename E::Sum* to, int64_t pitch) noexcept {
  using Sum = typename E::Sum;
  constexpr int64_t N = lanes<Sum>;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < copy.begin; ++i) to[c * pitch + i] = Sum(0);
    for (int64_t i = copy.end; i < count; ++i) to[c * pitch + i] = Sum(0);
  }
  for (int64_t i = copy.begin; i < copy.end; i += N) {
    transpose_pixels<E>(from + (i - copy.begin) * hop, hop, min_of(copy.end - i, N), channels, to + i, pitch);
  }
}

/// Whether rows are best copied across channels: those are neighbours in memory, and pixels are not.
inline bool copies_across(int64_t channel_stride, int64_t hop, int64_t channels) noexcept {
  return channel_stride == 1 && hop != 1 && channels >= 4;
}

/// Fills the band with input channels [ci, ci + channels).
template <class E>
void fill_band(const Operands<E>& operands, const BandShape& band, const Axis& rows, int64_t n, int64_t ci,
               int64_t channels, typename E::Sum* to) noexcept {
  const auto& x = operands.x;
  // With one tap a row, a strided convolution reads every out_to_in-th row only.
  const int64_t row_step = rows.taps == 1 ? rows.out_to_in : 1;
  const int64_t behind = (band.row_begin - rows.in_first) % row_step;
  const int64_t first_row = band.row_begin + (behind == 0 ? 0 : row_step - behind);
  for (int64_t phase = 0; phase < band.used_phases; ++phase) {
    const RowCopy copy = row_copy(band, phase, x.size[3]);
    const int64_t hop = band.column_phases * x.stride[3];
    const auto* const corner = x.data + n * x.stride[0] + ci * x.stride[1] + copy.first * x.stride[3];
    auto* const phase_to = to + phase * band.phase_width;
    if (copies_across(x.stride[1], hop, channels)) {
      for (int64_t h = first_row; h < band.row_end; h += row_step) {
        copy_row_across<E>(corner + h * x.stride[2], hop, copy, band.phase_width, channels,
                           phase_to + (h - band.row_begin) * band.row_pitch, band.channel_pitch);
      }
      continue;
    }
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t h = first_row; h < band.row_end; h += row_step) {
        copy_row<E>(corner + c * x.stride[1] + h * x.stride[2], hop, copy, band.phase_width,
                    phase_to + c * band.channel_pitch + (h - band.row_begin) * band.row_pitch);
      }
    }
  }
}

/// The inputs of a tap that every output of the piece has, [channel][row of the piece][column], from one channel to the
/// next `pitch`.
template <class E>
void fill_tap(const Operands<E>& operands, const Axis& rows, const Axis& cols, const Piece& piece, int64_t n,
              int64_t ci, int64_t channels, typename E::Sum* to, int64_t pitch) noexcept {
  const auto& x = operands.x;
  const int64_t hop = cols.out_to_in * x.stride[3], count = piece.cols.end - piece.cols.begin;
  const auto* const corner =
      x.data + n * x.stride[0] + ci * x.stride[1] + cols.input(piece.cols.begin, 0) * x.stride[3];
  const bool across = copies_across(x.stride[1], hop, channels);
  for (int64_t row = piece.rows.begin; row < piece.rows.end; ++row, to += count) {
    const auto* const from = corner + rows.input(row, 0) * x.stride[2];
    if (across) copy_row_across<E>(from, hop, {0, count, 0}, count, channels, to, pitch);
    for (int64_t c = 0; c < channels && !across; ++c) {
      copy_strided<E>(from + c * x.stride[1], hop, count, to + c * pitch);
    }
  }
}

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

// SPDX-License-Identifier: Apache-2.0 OR MIT
// A strip of a depthwise convolution: as many neighbouring columns of one plane as a vector has lanes, from top to
// bottom.
//
// A tap that some lanes lack costs nothing: those lanes load +0 and multiply it by -0.0, and adding the product, which
// is -0, leaves every sum as it is, down to the sign of zero.
#ifndef CONVOKE_KERNELS_SIMD_DEPTHWISE_STRIP_H
#define CONVOKE_KERNELS_SIMD_DEPTHWISE_STRIP_H

#include "kernels/simd/band.h"
#include "kernels/simd/store.h"

namespace convoke::simd::CONVOKE_SIMD_ISA {
namespace {

/// One strip of a plane. Strides in elements.
template <class E>
struct Strip {
  using Sum = typename E::Sum;
  const Axis* rows;
  Range outputs;   // rows of outputs
  const Sum* x;    // where output (0, first column) finds tap (0, 0), tap column offset not included
  int64_t x_row;   // from one row of the input to the next
  int64_t* x_tap;  // [taps of a row]
  int64_t taps;
  const Sum* weight;       // [rows->taps][taps][lanes], -0.0 in lanes that lack the tap
  const Range* tap_lanes;  // [taps], lanes that have the tap
  Sum start;
  typename E::Storage* out;  // of the strip's first column, row 0
  int64_t out_row, out_col, width;
};

/// Loads a vector of inputs: from the band, which has zeros around the input, or from the input itself, where lanes
/// outside it must not be touched.
template <class Sum, bool Direct>
HWY_INLINE Vector<Sum> load_input(const Sum* from, hn::Mask<Tag<Sum>> inside) noexcept {
  const Tag<Sum> d;
  if constexpr (Direct) return hn::MaskedLoad(inside, d, from);
  return hn::LoadU(d, from);
}

template <class Sum>
HWY_INLINE hn::Mask<Tag<Sum>> mask_of(const Range& range) noexcept {
  const Tag<Sum> d;
  return hn::AndNot(hn::FirstN(d, static_cast<size_t>(range.begin)), hn::FirstN(d, static_cast<size_t>(range.end)));
}

/// R output rows with the same tap rows present.
template <class E, int R, bool Direct>
HWY_INLINE void run_rows(const Strip<E>& strip, int64_t row, const Range& present) noexcept {
  using Sum = typename E::Sum;
  const Tag<Sum> d;
  Vector<Sum> sums[R];
  CONVOKE_UNROLL
  for (int r = 0; r < R; ++r) sums[r] = hn::Set(d, strip.start);
  const int64_t row_step = strip.rows->out_to_in * strip.x_row;
  for (int64_t kh = present.begin; kh < present.end; ++kh) {
    const Sum* const x = strip.x + strip.rows->input(row, kh) * strip.x_row;
    const Sum* const weight = strip.weight + kh * strip.taps * lanes<Sum>;
    for (int64_t kw = 0; kw < strip.taps; ++kw) {
      const auto inside = mask_of<Sum>(strip.tap_lanes[kw]);
      const auto w = hn::LoadU(d, weight + kw * lanes<Sum>);
      CONVOKE_UNROLL
      for (int r = 0; r < R; ++r) {
        sums[r] = hn::MulAdd(load_input<Sum, Direct>(x + r * row_step + strip.x_tap[kw], inside), w, sums[r]);
      }
    }
  }
  CONVOKE_UNROLL
  for (int r = 0; r < R; ++r) put<E>(sums[r], strip.out + (row + r) * strip.out_row, strip.out_col, strip.width);
}

/// Any kernel. Four rows at a time, where they have the same taps, hide the latency of a multiply-add.
template <class E, bool Direct>
HWY_NOINLINE void run_strip(const Strip<E>& strip) noexcept {
  constexpr int R = 4;
  for (int64_t row = strip.outputs.begin; row < strip.outputs.end;) {
    const Range present = strip.rows->taps_inside(row);
    const Range last = row + R <= strip.outputs.end ? strip.rows->taps_inside(row + R - 1) : Range{0, 0};
    if (present.begin == last.begin && present.end == last.end && present.begin < present.end) {
      run_rows<E, R, Direct>(strip, row, present);
      row += R;
    } else {
      run_rows<E, 1, Direct>(strip, row, present);
      ++row;
    }
  }
}

/// K rows and columns of neighbouring taps, R strips side by side: each input row is loaded once and feeds the K output
/// rows that are on the way, so a row of outputs gets its taps in order while the input marches down. One strip has too
/// few chains to hide the latency of a multiply-add; two hide most of it.
template <class E, int K, int R, bool Direct>
class March {
 public:
  using Sum = typename E::Sum;

  explicit March(const Strip<E>* strips) noexcept
      : strips_(strips),
        rows_(*strips[0].rows),
        outputs_(strips[0].outputs),
        h_(outputs_.begin + rows_.in_first),
        past_(outputs_.end + rows_.in_first + K - 1) {
    CONVOKE_UNROLL
    for (int r = 0; r < R; ++r) {
      CONVOKE_UNROLL
      for (int k = 0; k < K; ++k) {
        sums_[r][k] = start(r);
        inside_[r][k] = mask_of<Sum>(strips_[r].tap_lanes[k]);
      }
    }
  }

  HWY_NOINLINE void run() noexcept {
    while (add_rows<0>()) {
    }
  }

 private:
  // K rows of input, one for each slot, unrolled so that slots stay in registers.
  template <int Slot>
  HWY_INLINE bool add_rows() noexcept {
    if (!add_row<Slot>()) return false;
    if constexpr (Slot + 1 < K) return add_rows<Slot + 1>();
    return true;
  }

  HWY_INLINE Vector<Sum> start(int r) const noexcept { return hn::Set(Tag<Sum>(), strips_[r].start); }

  // Input row h is tap kh of output row h - in_first - kh, whose sum is in slot (Slot - kh) mod K. The output that has
  // its last tap leaves. False past the last one. Rows outside the input add nothing.
  template <int Slot>
  HWY_INLINE bool add_row() noexcept {
    if (h_ >= past_) return false;
    if (h_ >= 0 && h_ < rows_.in_size) add_taps<Slot>();
    const int64_t done = h_ - rows_.in_first - (K - 1);
    CONVOKE_UNROLL
    for (int r = 0; r < R; ++r) {
      Vector<Sum>& sum = sums_[r][(Slot + 1) % K];
      // Above the first output, what the slot was given is thrown away.
      if (done >= outputs_.begin) {
        put<E>(sum, strips_[r].out + done * strips_[r].out_row, strips_[r].out_col, strips_[r].width);
      }
      sum = start(r);
    }
    ++h_;
    return true;
  }

  template <int Slot>
  HWY_INLINE void add_taps() noexcept {
    const Tag<Sum> d;
    CONVOKE_UNROLL
    for (int kw = 0; kw < K; ++kw) {
      CONVOKE_UNROLL
      for (int r = 0; r < R; ++r) {
        const Sum* const from = strips_[r].x + h_ * strips_[r].x_row + strips_[r].x_tap[kw];
        const auto input = load_input<Sum, Direct>(from, inside_[r][kw]);
        CONVOKE_UNROLL
        for (int kh = 0; kh < K; ++kh) {
          Vector<Sum>& sum = sums_[r][(Slot - kh + K) % K];
          sum = hn::MulAdd(input, hn::LoadU(d, strips_[r].weight + (kh * K + kw) * lanes<Sum>), sum);
        }
      }
    }
  }

  const Strip<E>* strips_;
  const Axis& rows_;
  Range outputs_;
  int64_t h_, past_;
  Vector<Sum> sums_[R][K];
  hn::Mask<Tag<Sum>> inside_[R][K];
};

}  // namespace
}  // namespace convoke::simd::CONVOKE_SIMD_ISA

#endif

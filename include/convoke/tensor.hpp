// SPDX-License-Identifier: Apache-2.0 OR MIT
// Tensors as views over the caller's memory. Convoke never owns or copies a tensor that it was not asked to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "convoke/export.hpp"

namespace convoke {

/// Element types. bf16 is the upper half of an IEEE binary32, f16 is IEEE binary16; both are passed as 16-bit words.
enum class DType : int { f32 = 0, f64 = 1, bf16 = 2, f16 = 3 };

/// Bytes of one element: 4, 8, 2, 2.
CONVOKE_API std::size_t size_of(DType dtype) noexcept;
/// `f32`, `f64`, `bf16` or `f16`.
CONVOKE_API std::string_view name_of(DType dtype) noexcept;

/// Up to six sizes or strides, outermost axis first. A value type without allocation; the caller keeps rank <= 6.
class Dims {
 public:
  static constexpr int max_rank = 6;

  constexpr Dims() = default;
  constexpr Dims(std::initializer_list<std::int64_t> values) {
    for (std::int64_t value : values) push_back(value);
  }
  /// `rank` copies of `value`.
  static constexpr Dims filled(int rank, std::int64_t value) {
    Dims dims;
    for (int i = 0; i < rank; ++i) dims.push_back(value);
    return dims;
  }

  constexpr int rank() const noexcept { return rank_; }
  constexpr std::int64_t operator[](int axis) const noexcept { return values_[static_cast<std::size_t>(axis)]; }
  constexpr std::int64_t& operator[](int axis) noexcept { return values_[static_cast<std::size_t>(axis)]; }
  constexpr const std::int64_t* begin() const noexcept { return values_.data(); }
  constexpr const std::int64_t* end() const noexcept { return values_.data() + rank_; }
  /// Appends an axis; silently ignored beyond max_rank, which validation reports as a rank error.
  constexpr void push_back(std::int64_t value) noexcept {
    if (rank_ < max_rank) values_[static_cast<std::size_t>(rank_++)] = value;
  }
  friend constexpr bool operator==(const Dims& a, const Dims& b) noexcept {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  std::array<std::int64_t, max_rank> values_{};
  int rank_ = 0;
};

/// Strides, in elements, of a dense row-major tensor of this shape (the last axis is contiguous). Axes of size 0 or 1
/// get the stride they would have among the others. Shapes whose element count overflows give saturated strides.
CONVOKE_API Dims dense_strides(const Dims& shape) noexcept;

/// How a tensor lies in memory, without the memory: what a plan is made for.
/// Element (i0, i1, ...) is at `data + (offset + i0*strides[0] + i1*strides[1] + ...) * size_of(dtype)` bytes.
/// Strides and offset count elements; strides may be zero (expanded, inputs only) or negative.
struct TensorSpec {
  DType dtype = DType::f32;
  Dims shape;
  Dims strides;             ///< same rank as shape
  std::int64_t offset = 0;  ///< elements from `data` to element (0, 0, ...)
  std::size_t align = 0;    ///< bytes that `data` is promised to be aligned to; 0: the size of an element

  /// A dense row-major tensor at offset 0.
  static TensorSpec dense(DType dtype, const Dims& shape) { return {dtype, shape, dense_strides(shape), 0, 0}; }
};

/// A read-only tensor: a spec over `bytes` bytes of memory at `data`, which must outlive the call.
struct ConstTensor {
  const void* data = nullptr;
  std::size_t bytes = 0;
  TensorSpec spec;
};

/// A tensor that a call writes.
struct Tensor {
  void* data = nullptr;
  std::size_t bytes = 0;
  TensorSpec spec;

  operator ConstTensor() const noexcept { return {data, bytes, spec}; }
};

}  // namespace convoke

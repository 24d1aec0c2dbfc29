// SPDX-License-Identifier: Apache-2.0 OR MIT
// Tensors for kernel tests: any layout in poisoned memory, filled from integers only, so that every build on every
// machine sees the same bits. Stands on kernels/common alone, so that the digest program can be built by itself.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/common/kernel.h"

namespace convoke::kernel_tests {

/// splitmix64: the whole state is one word.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::uint64_t state_;
};

struct Format {
  std::string_view name;
  std::int64_t bytes;
  int exponent_bits, mantissa_bits;

  std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + mantissa_bits); }
  std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
  std::uint64_t quiet_nan() const { return infinity() | (std::uint64_t{1} << (mantissa_bits - 1)); }
  bool is_nan(std::uint64_t bits) const { return (bits & (sign() - 1)) > infinity(); }
  std::uint64_t bias() const { return (std::uint64_t{1} << (exponent_bits - 1)) - 1; }
};

/// Indexed by convoke_dtype.
constexpr std::array<Format, 4> formats{{{"f32", 4, 8, 23}, {"f64", 8, 11, 52}, {"bf16", 2, 8, 7}, {"f16", 2, 5, 10}}};

enum class Layout { dense, channels_last, sliced, permuted, flipped, expanded, offset, odd_units };
constexpr std::array<std::string_view, 8> layout_names{"dense",   "channels_last", "sliced", "permuted",
                                                       "flipped", "expanded",      "offset", "odd_units"};

enum class Data { integers, normal, special, tiny };
constexpr std::array<std::string_view, 4> data_names{"int", "normal", "special", "tiny"};

/// The integer `value`, |value| < 2^mantissa_bits, in `format`.
inline std::uint64_t encode_integer(const Format& format, std::int64_t value) {
  if (value == 0) return 0;
  auto magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
  std::uint64_t exponent = format.bias() + static_cast<std::uint64_t>(format.mantissa_bits);
  while ((magnitude >> format.mantissa_bits) == 0) {
    magnitude <<= 1;
    --exponent;
  }
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  return (value < 0 ? format.sign() : 0) | (exponent << format.mantissa_bits) | mantissa;
}

inline std::uint64_t random_element(const Format& format, Data data, Random& random) {
  const std::uint64_t bits = random.next();
  const std::uint64_t sign = (bits >> 63) != 0 ? format.sign() : 0;
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const auto exponent_near = [&](std::int64_t low, std::int64_t high) {
    return (format.bias() + static_cast<std::uint64_t>(random.between(low, high))) << format.mantissa_bits;
  };
  switch (data) {
    case Data::integers:
      return encode_integer(format, random.between(-4, 4));
    case Data::normal:
      return sign | exponent_near(-6, 3) | mantissa;
    case Data::tiny:  // products and sums around the smallest subnormals
      return sign | ((bits >> 53) % (format.bias() * 2 / 3) << format.mantissa_bits) | mantissa;
    case Data::special:
      break;
  }
  switch (random.between(0, 23)) {
    case 0:
      return sign | format.quiet_nan() | mantissa;
    case 1:
      return sign | format.infinity();
    case 2:
    case 3:
    case 4:
      return sign;
    case 5:
      return sign | mantissa;  // subnormal
    case 6:
      return sign | (format.infinity() - 1);  // largest
    case 7:
      return sign | 1u;  // smallest
    default:
      return sign | exponent_near(-6, 3) | mantissa;
  }
}

/// One operand with its memory. `fill` and `at` address elements by their logical row-major index.
class Tensor {
 public:
  Tensor(int dtype, std::vector<std::int64_t> shape, Layout layout)
      : format_(&formats[static_cast<std::size_t>(dtype)]) {
    operand_.size = sizeof operand_;
    operand_.dtype = dtype;
    operand_.rank = static_cast<std::int32_t>(shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) operand_.shape[axis] = shape[axis];
    lay_out(layout);
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  const convoke_operand& operand() const { return operand_; }
  const Format& format() const { return *format_; }
  std::int64_t count() const {
    std::int64_t product = 1;
    for (int axis = 0; axis < operand_.rank; ++axis) product *= operand_.shape[axis];
    return product;
  }

  std::int64_t element_index(std::int64_t logical) const {
    std::int64_t index = operand_.offset;
    for (int axis = operand_.rank - 1; axis >= 0; --axis) {
      index += logical % operand_.shape[axis] * operand_.stride[axis];
      logical /= operand_.shape[axis];
    }
    return index;
  }
  std::int64_t element_index(const std::array<std::int64_t, 4>& i) const {
    std::int64_t index = operand_.offset;
    for (std::size_t axis = 0; axis < 4; ++axis) {
      if (operand_.shape[axis] > 1) index += i[axis] * operand_.stride[axis];
    }
    return index;
  }
  std::uint64_t bits_at(std::int64_t element) const {
    std::uint64_t bits = 0;  // every machine we build for is little-endian
    std::memcpy(&bits, data() + element * format_->bytes, static_cast<std::size_t>(format_->bytes));
    return bits;
  }
  std::uint64_t bits(std::int64_t logical) const { return bits_at(element_index(logical)); }
  void set(std::int64_t logical, std::uint64_t bits) {
    std::memcpy(data() + element_index(logical) * format_->bytes, &bits, static_cast<std::size_t>(format_->bytes));
  }
  void fill(Data kind, std::uint64_t seed) {
    Random random(seed);
    for (std::int64_t i = 0; i < count(); ++i) set(i, random_element(*format_, kind, random));
  }

  /// Moves the memory up by `bytes` from an address aligned to 64; the elements must not have been filled yet.
  void misalign(std::int64_t bytes) {
    shift_ = bytes;
    operand_.data = data();
  }

  /// Logical row-major elements with every NaN made one, as bytes.
  std::vector<unsigned char> canonical() const {
    std::vector<unsigned char> bytes;
    for (std::int64_t i = 0; i < count(); ++i) {
      std::uint64_t element = bits(i);
      if (format_->is_nan(element)) element = format_->quiet_nan();
      for (std::int64_t b = 0; b < format_->bytes; ++b) bytes.push_back(static_cast<unsigned char>(element >> (8 * b)));
    }
    return bytes;
  }

  /// True when every byte that belongs to no element still holds the poison.
  bool gaps_untouched() const {
    std::vector<bool> used(memory_.size(), false);
    for (std::int64_t i = 0; i < count(); ++i) {
      const std::int64_t at = data() - memory_.data() + element_index(i) * format_->bytes;
      for (std::int64_t b = 0; b < format_->bytes; ++b) used[static_cast<std::size_t>(at + b)] = true;
    }
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (!used[i] && memory_[i] != poison) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned char poison = 0xa5;
  static constexpr std::int64_t margin = 128;

  void lay_out(Layout layout);
  unsigned char* data() { return const_cast<unsigned char*>(std::as_const(*this).data()); }
  const unsigned char* data() const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (64 - address % 64) + margin / 2 + shift_;
  }

  const Format* format_;
  convoke_operand operand_{};
  std::vector<unsigned char> memory_;
  std::int64_t shift_ = 0;
};

inline void Tensor::lay_out(Layout layout) {
  const int rank = operand_.rank;
  std::array<int, CONVOKE_MAX_RANK> order{};  // innermost first
  for (int i = 0; i < rank; ++i) order[static_cast<std::size_t>(i)] = layout == Layout::permuted ? i : rank - 1 - i;
  if (layout == Layout::channels_last && rank == 4) order = {1, 3, 2, 0};
  std::int64_t elements = layout == Layout::sliced ? 2 : 1;
  bool empty = false;
  for (int i = 0; i < rank; ++i) {
    const int axis = order[static_cast<std::size_t>(i)];
    const std::int64_t size = operand_.shape[axis];
    empty = empty || size == 0;
    operand_.stride[axis] = elements;
    elements = elements * size + (layout == Layout::sliced ? 3 : 0);  // a gap after each row, plane, ...
    const bool zero = layout == Layout::expanded && axis % 2 == 0;
    if (zero) operand_.stride[axis] = 0;
    if (layout == Layout::flipped && axis != 1 && size > 0) {
      operand_.offset += (size - 1) * operand_.stride[axis];
      operand_.stride[axis] = -operand_.stride[axis];
    }
    if (layout == Layout::odd_units && size == 1) operand_.stride[axis] = INT64_MAX - axis;
  }
  if (layout == Layout::offset) operand_.offset += 5;
  if (empty && layout == Layout::odd_units) {
    for (int axis = 0; axis < rank; ++axis) operand_.stride[axis] = INT64_MIN + axis;
  }
  operand_.bytes = static_cast<std::uint64_t>((elements + 8) * format_->bytes);
  memory_.assign(static_cast<std::size_t>(operand_.bytes) + 2 * margin, poison);
  operand_.data = data();
}

}  // namespace convoke::kernel_tests

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Random small requests with memory of their own, in every layout, for the oracles' tests.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <vector>

#include "base/dtype.hpp"
#include "base/layout.hpp"
#include "base/random.hpp"
#include "oracle/request.hpp"

namespace convoke::oracle {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// A tensor and the bytes it lies in.
struct Owned {
  std::vector<std::byte> memory;
  TensorSpec spec;
  std::size_t skew = 0;  // bytes to the data: not a multiple of an element where unaligned

  /// Axes in random order, some reversed or strided, some expanded.
  static Owned any_layout(Random& random, DType dtype, const Dims& shape, bool may_expand) {
    Owned owned;
    owned.spec = {dtype, shape, Dims::filled(shape.rank(), 0), 0, 0};
    std::int64_t stride = 1, lowest = 0, highest = 0;
    std::vector<int> axes;
    for (int axis = 0; axis < shape.rank(); ++axis)
      axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(random.below(axes.size() + 1)), axis);
    for (const int axis : axes) {
      stride *= random.between(1, 2);
      if (may_expand && random.below(12) == 0) continue;
      owned.spec.strides[axis] = random.below(4) == 0 ? -stride : stride;
      const std::int64_t reach = std::max<std::int64_t>(shape[axis] - 1, 0) * owned.spec.strides[axis];
      (reach < 0 ? lowest : highest) += reach;
      stride *= std::max<std::int64_t>(shape[axis], 1);
    }
    owned.spec.offset = random.between(0, 3) - lowest;
    owned.skew = random.below(2) == 0 ? 1 : 0;
    const std::size_t size = size_of(dtype);
    owned.memory.resize(owned.skew + static_cast<std::size_t>(owned.spec.offset + highest + 1) * size);
    return owned;
  }
  static Owned dense(DType dtype, const Dims& shape, std::initializer_list<double> values) {
    Owned owned;
    owned.spec = TensorSpec::dense(dtype, shape);
    owned.memory.resize(values.size() * size_of(dtype));
    std::size_t at = 0;
    for (const double value : values) {
      store_bits(owned.memory.data() + at, dtype, bits_of_value(dtype, value));
      at += size_of(dtype);
    }
    return owned;
  }

  Tensor view() { return {memory.data() + skew, memory.size() - skew, spec}; }
  std::byte* address(std::int64_t a, std::int64_t b = 0, std::int64_t c = 0, std::int64_t d = 0) {
    const std::int64_t index[] = {a, b, c, d};
    std::int64_t element = spec.offset;
    for (int axis = 0; axis < spec.shape.rank(); ++axis) element += index[axis] * spec.strides[axis];
    return memory.data() + skew + element * static_cast<std::int64_t>(size_of(spec.dtype));
  }
  std::uint64_t bits(std::int64_t a, std::int64_t b = 0, std::int64_t c = 0, std::int64_t d = 0) {
    return load_bits(address(a, b, c, d), spec.dtype);
  }
};

enum class Data { integers, normal, special };

inline std::uint64_t random_bits(Random& random, DType dtype, Data data) {
  if (data == Data::integers) return bits_of_value(dtype, static_cast<double>(random.between(-4, 4)));
  if (data == Data::normal) {
    const double value = static_cast<double>(random.between(-1000000, 1000000)) * 1e-6;
    return bits_of_value(dtype, value);
  }
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - 8 * size_of(dtype));
  switch (random.below(6)) {
    case 0:
      return canonical_nan(dtype) & (canonical_nan(dtype) << 1);  // infinity
    case 1:
      return random.below(40) == 0 ? canonical_nan(dtype) : 0;
    case 2:
      return all ^ all >> 1;  // -0
    case 3:
      return random.below(16);  // subnormal
    default:
      return random.next() & all;
  }
}

/// A request, its operands and an output of its shape.
struct Sample {
  Geometry geometry;
  Owned x, weight, bias, out;
  bool has_bias = false;

  Request request() {
    return {geometry, x.view(), weight.view(), has_bias ? std::optional<ConstTensor>(bias.view()) : std::nullopt};
  }

  static Sample random_one(Random& random, DType dtype, Data data) {
    Sample sample;
    const Op op = random.below(2) == 0 ? Op::conv2d : Op::conv_transpose2d;
    for (;;) {
      const auto draw = [&](std::int64_t low, std::int64_t high) { return random.between(low, high); };
      const std::int64_t groups = draw(1, 3), in = draw(1, 3), out = draw(1, 3);
      const Dims x{draw(1, 2), groups * in, draw(1, 6), draw(1, 6)};
      const Dims weight = op == Op::conv2d ? Dims{groups * out, in, draw(1, 4), draw(1, 4)}
                                           : Dims{groups * in, out, draw(1, 4), draw(1, 4)};
      ConvParams params = {{draw(1, 3), draw(1, 3)},
                           {draw(0, 2), draw(0, 2), draw(0, 2), draw(0, 2)},
                           {draw(1, 3), draw(1, 3)},
                           0,
                           groups};
      if (op == Op::conv_transpose2d) params.output_padding = {draw(0, 1), draw(0, 1)};
      const Result<Geometry> geometry = make_geometry(op, x, weight, std::nullopt, params);
      if (!geometry || output_count(*geometry) == 0) continue;
      sample.geometry = *geometry;
      break;
    }
    sample.has_bias = random.below(2) == 0;
    sample.x = Owned::any_layout(random, dtype, sample.geometry.x_shape(), true);
    sample.weight = Owned::any_layout(random, dtype, sample.geometry.weight_shape(), true);
    sample.bias = Owned::any_layout(random, dtype, {sample.geometry.Cout}, true);
    sample.out = Owned::any_layout(random, dtype, sample.geometry.out_shape(), false);
    for (Owned* owned : {&sample.x, &sample.weight, &sample.bias})
      for (std::size_t at = owned->skew; at + size_of(dtype) <= owned->memory.size(); at += size_of(dtype))
        store_bits(owned->memory.data() + at, dtype, random_bits(random, dtype, data));
    return sample;
  }
};

}  // namespace convoke::oracle

// SPDX-License-Identifier: Apache-2.0 OR MIT
// One convolution to compute, and the one line of text that says it: the reproducer every table and error prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/geometry.hpp"
#include "convoke/error.hpp"
#include "convoke/tensor.hpp"

namespace convoke::problem {

/// How an operand lies in memory (workload.hpp builds them).
enum class LayoutKind {
  dense,          ///< row-major without gaps
  channels_last,  ///< axis 1 innermost: x and out as NHWC, weight as OHWI
  sliced,         ///< every second row and column of a larger tensor
  permuted,       ///< axes stored in another order, which the seed picks
  flipped,        ///< negative strides on the last two axes
  expanded,       ///< stride 0 on one axis, which the seed picks; inputs only
  offset,         ///< dense behind a non-zero offset
};
inline constexpr int layout_kinds = 7;

enum class DataKind {
  integer,  ///< `int`: small integers whose sums are exact in the accumulator and, where possible, in the dtype
  normal,   ///< finite values of both signs and varied exponents
  special,  ///< the same mixed with +-0, +-inf, NaN, subnormals, largest finite values, values near rounding ties
};
inline constexpr int data_kinds = 3;

/// The words of problem lines: `dense`, ...; `int`, `normal`, `special`.
std::string_view name_of(LayoutKind kind) noexcept;
std::string_view name_of(DataKind kind) noexcept;

/// Alignment that operands get unless the line says otherwise, in bytes: a cache line.
inline constexpr std::size_t default_align = 64;
inline constexpr std::size_t max_align = 4096;

/// Most threads that a line or an option may ask for.
inline constexpr int max_threads = 4096;

/// One problem. Sizes are as the text gave them: geometry_of() judges them.
struct Problem {
  std::string name;  ///< a label from a layer list; not part of the line, nor of equality
  Op op = Op::conv2d;
  Dims x, weight;
  bool bias = false;
  ConvParams params;
  DType dtype = DType::f32;
  LayoutKind x_layout = LayoutKind::dense;
  LayoutKind weight_layout = LayoutKind::dense;
  LayoutKind out_layout = LayoutKind::dense;
  std::size_t align = default_align;  ///< bytes: what every data pointer is aligned to, exactly; a power of two
  DataKind data = DataKind::normal;
  std::uint64_t seed = 0;
  int threads = 0;     ///< 0: as many as OpenMP would use
  std::string kernel;  ///< glob over ImplIds; empty: any
  std::string demand;  ///< reproducible, any, fast, accurate(k) or order(name); empty: not given

  friend bool operator==(const Problem& a, const Problem& b) noexcept;
};

/// Reads a problem line such as `conv2d x=1x64x56x56 weight=64x64x3x3 bias=1 stride=2x1 padding=1 dtype=f32`: the
/// operation and `key=value` words in any order, separated by blanks. Only the syntax is judged here.
/// Errors: invalid_file; `rule` is the key (`op` for the operation).
[[nodiscard]] Result<Problem> parse_problem(std::string_view line);

/// The line that parse_problem reads back as an equal problem; keys at their defaults are left out.
std::string to_line(const Problem& problem);

/// Number of output channels as the weight gives it; nullopt where the weight has no rank 4 or the product overflows.
std::optional<std::int64_t> output_channels(Op op, const Dims& weight, std::int64_t groups) noexcept;

/// make_geometry of the problem, with a bias of the size that fits.
[[nodiscard]] Result<Geometry> geometry_of(const Problem& problem);

}  // namespace convoke::problem

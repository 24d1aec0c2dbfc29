// SPDX-License-Identifier: Apache-2.0 OR MIT
// From a problem or a case to operands in memory, laid out as asked, with everything that is no element poisoned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/geometry.hpp"
#include "convoke/error.hpp"
#include "convoke/tensor.hpp"
#include "problem/buffer.hpp"
#include "problem/case_file.hpp"
#include "problem/problem.hpp"

namespace convoke::problem {

namespace detail {
struct Input {
  Buffer buffer;
  ConstTensor tensor;
  std::uint64_t digest = 0;  // of the whole buffer, as made
};
}  // namespace detail

/// The operands of one convolution and the memory they lie in. The tensors it hands out stay valid while it lives, also
/// when it is moved.
class Workload {
 public:
  const ConstTensor& x() const noexcept { return x_.tensor; }
  const ConstTensor& weight() const noexcept { return weight_.tensor; }
  std::optional<ConstTensor> bias() const noexcept { return bias_ ? std::optional(bias_->tensor) : std::nullopt; }
  /// The output, poisoned until someone writes it. Where the geometry was refused: an empty tensor of rank 4.
  const Tensor& out() const noexcept { return out_; }
  /// The judgement of make_geometry; an error only in workloads made from a case.
  const Result<Geometry>& geometry() const noexcept { return geometry_; }

  /// Poisons the output again, between two runs.
  void reset_out() noexcept;
  /// Whether everything but the elements of the output is as it was made: inputs, gaps, slack.
  /// Errors: kernel_failure; `rule` is the operand that changed.
  [[nodiscard]] Result<void> check_untouched() const;

 private:
  friend class WorkloadBuilder;
  using Input = detail::Input;

  Workload() = default;

  Result<Geometry> geometry_;
  Input x_, weight_;
  std::optional<Input> bias_;
  Buffer out_buffer_;
  Tensor out_;
};

/// Layout of kind `kind` for a tensor of this shape: strides and offset such that the lowest element touched is
/// element 0 of the buffer (for `offset` it lies behind a gap), `align` as given. Axes of size 1 get odd strides in the
/// sliced and permuted kinds. `seed` picks the order of `permuted` and the axis of `expanded`. Kinds beside `dense`
/// need rank 4; shapes too large for any memory come back dense.
TensorSpec lay_out(DType dtype, const Dims& shape, LayoutKind kind, std::size_t align, std::uint64_t seed) noexcept;

/// Bytes from the data pointer to the end of the last element that `spec` touches; up to its offset where it is empty.
std::size_t bytes_of(const TensorSpec& spec) noexcept;

/// Operands of a problem, filled with its data. The logical values depend on dtype, data, seed and the sizes alone:
/// the same for every layout and alignment (an expanded operand repeats the values at index 0 of its axis).
/// Errors: those of make_geometry, invalid_argument (`align`), overlap (`out.layout` expanded), out_of_memory.
[[nodiscard]] Result<Workload> make_workload(const Problem& problem, Guard guard = Guard::end);

/// Operands of a case in one of its dtypes, at the default alignment. Where the geometry is refused, as many cases want
/// it, the inputs are there all the same and geometry() says why.
/// Errors: invalid_argument (`dtype`: not one of the case's), out_of_memory.
[[nodiscard]] Result<Workload> make_workload(const Case& test, DType dtype, Guard guard = Guard::end);

}  // namespace convoke::problem

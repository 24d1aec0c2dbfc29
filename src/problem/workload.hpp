// SPDX-License-Identifier: Apache-2.0 OR MIT
// From a problem or a case to operands in memory, laid out as asked, with everything that is no element poisoned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/geometry.hpp"
#include "convoke/error.hpp"
#include "convoke/tensor.hpp"
#include "problem/buffer.hpp"
#include "problem/case_file.hpp"
#include "problem/problem.hpp"

namespace convoke::problem {

/// The operands of one convolution and the memory they lie in. The tensors it hands out stay valid while it lives, also
/// when it is moved.
class Workload {
 public:
  const ConstTensor& x() const noexcept { return x_.tensor; }
  const ConstTensor& weight() const noexcept { return weight_.tensor; }
  const std::optional<ConstTensor>& bias() const noexcept { return bias_; }
  /// The output, poisoned until someone writes it. Where the geometry was refused: an empty tensor of rank 4.
  const Tensor& out() const noexcept { return out_tensor_; }
  /// The judgement of make_geometry; an error only in workloads made from a case.
  const Result<Geometry>& geometry() const noexcept { return geometry_; }

  /// Poisons the output again, between two runs.
  void reset_out() noexcept;
  /// Whether everything but the elements of the output is as it was made: inputs, gaps, slack.
  /// Errors: kernel_failure; `rule` is the operand that changed.
  [[nodiscard]] Result<void> check_untouched() const;

 private:
  friend class WorkloadBuilder;
  struct Input {
    Buffer buffer;
    ConstTensor tensor;
    std::uint64_t digest = 0;  // of the whole buffer, as made
  };

  Workload() = default;

  Result<Geometry> geometry_;
  Input x_, weight_, bias_input_;
  std::optional<ConstTensor> bias_;
  Buffer out_;
  Tensor out_tensor_;
};

/// Layout of kind `kind` for a tensor of this shape: strides and offset such that the lowest element touched is
/// element 0 of the buffer (behind a gap for `offset`), `align` as given. Axes of size 1 get odd strides in the sliced
/// and permuted kinds. `seed` picks the order of `permuted` and the axis of `expanded`.
TensorSpec lay_out(DType dtype, const Dims& shape, LayoutKind kind, std::size_t align, std::uint64_t seed);

/// Bytes from the data pointer to the end of the last element that `spec` touches; for an empty tensor its offset.
std::size_t bytes_of(const TensorSpec& spec) noexcept;

/// Operands of a problem, filled with its data. The logical values depend on dtype, data, seed and the sizes alone:
/// the same for every layout and alignment (an expanded operand repeats the values at index 0 of its axis).
/// Errors: those of make_geometry, invalid_argument (`align`), overlap (`out.layout` expanded), out_of_memory.
[[nodiscard]] Result<Workload> make_workload(const Problem& problem, Guard guard = Guard::end);

/// Operands of a case in one of its dtypes, at the default alignment. Where the case expects an error, the inputs are
/// there all the same and geometry() says why.
/// Errors: invalid_argument (`dtype`: not one of the case's), out_of_memory.
[[nodiscard]] Result<Workload> make_workload(const Case& test, DType dtype, Guard guard = Guard::end);

}  // namespace convoke::problem

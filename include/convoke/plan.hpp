// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convoke/catalog.hpp"
#include "convoke/demand.hpp"
#include "convoke/error.hpp"
#include "convoke/export.hpp"
#include "convoke/packed_weight.hpp"
#include "convoke/params.hpp"
#include "convoke/rates.hpp"
#include "convoke/tensor.hpp"

namespace convoke {

/// Which kernels a plan may use, and how routes are priced.
struct PlanOptions {
  /// Absent: reproducible, or any where `kernel` forces one.
  std::optional<Demand> demand;
  /// Glob over ImplIds (`*` crosses `/`, `?` is one character): only matching kernels convolve. Empty: all of them.
  std::string kernel;
  /// Globs of kernels that must not be used, copies and casts included.
  std::vector<std::string> forbid;
  /// Backends that may convolve (`cpu`, `vulkan`, ...). Empty: all of them.
  std::vector<std::string> backends;
  /// Most bytes of scratch in host memory, as workspace_bytes() counts them, that a route may need; absent: any amount.
  std::optional<std::size_t> workspace_cap;
  /// Threads that routes are priced for; 0: as many as the machine has processors. What run() uses is its own option.
  int threads = 0;
  /// The weight will be packed once by Plan::pack() and used again and again: steps that work on it alone are priced 0.
  bool packed_weight = false;
  /// What turns work into time; null: the defaults of Rates. Only read during the call.
  const Rates* rates = nullptr;
  /// Null: Catalog::builtin().
  const Catalog* catalog = nullptr;
};

/// The caller's own thread pool: must call `body(begin, end)` over disjoint ranges that cover [0, count), on any
/// threads, and return when all are done. The results do not depend on how it splits. One that throws, or leaves ranges
/// out, makes the run an invalid_argument error with `out` incomplete.
using ParallelFor =
    std::function<void(std::int64_t count, const std::function<void(std::int64_t begin, std::int64_t end)>& body)>;

/// How one run is carried out. None of these changes a bit of the result.
struct RunOptions {
  /// Most threads to use, and never more than four for each processor; 0: as many as OpenMP would; negative: an error.
  /// A program whose own threads come and go should give 1 or a parallel_for: LLVM 19's OpenMP was seen, once in some
  /// thousand runs, to end the process where one thread ended while another started its first team.
  int threads = 0;
  void* scratch = nullptr;  ///< at least workspace_bytes() bytes, any alignment; null: Convoke allocates
  std::size_t scratch_bytes = 0;
  ParallelFor parallel_for;  ///< empty: OpenMP; `threads` does not bound it
};

/// One candidate that was not admitted: the clause of its contract that refused, what it wanted and what it found.
struct Refusal {
  std::string kernel;  ///< ImplId
  std::string clause;
  std::string wanted;
  std::string found;
};

/// A chosen way to compute one convolution: immutable, reusable, and safe to run from many threads at once.
class CONVOKE_API Plan {
 public:
  /// Computes `out`. The tensors must match the specs that the plan was made for: dtype, shape, strides, offset, and
  /// at least the promised alignment. Errors: invalid_argument or invalid_layout (a tensor differs from its spec, is
  /// null or too short), overlap, out_of_memory, kernel_failure. On an error before the kernel starts, `out` is as it
  /// was.
  [[nodiscard]] Result<void> run(const ConstTensor& x, const ConstTensor& weight,
                                 const std::optional<ConstTensor>& bias, const Tensor& out,
                                 const RunOptions& options = {}) const;

  /// Does what the route does to the weight alone, once: `run` then starts behind it. The plan itself, and every plan
  /// of the same operation, parameters and weight whose kernel takes the weight in the same form, such as one for
  /// another batch, takes what is returned. Where the kernel takes the weight as it lies, that is a copy of it. The
  /// weight must match the plan's spec as for run(). With options.scratch, workspace_bytes() are enough.
  /// Errors: invalid_argument, invalid_layout, overlap, out_of_memory, kernel_failure.
  [[nodiscard]] Result<PackedWeight> pack(const ConstTensor& weight, const RunOptions& options = {}) const;
  /// Computes `out` with a weight that was packed before: the same bits as run() with the weight itself. Errors: those
  /// of the other run(); invalid_argument also where the packed weight does not fit this plan, and the text says in
  /// what: operation, dtype and shape of the weight, stride, padding at the beginning of each axis (with padding=same
  /// it may follow the size of x), dilation, groups, Pack kernel, or form.
  [[nodiscard]] Result<void> run(const ConstTensor& x, const PackedWeight& weight,
                                 const std::optional<ConstTensor>& bias, const Tensor& out,
                                 const RunOptions& options = {}) const;

  /// ImplId of the kernel that convolves.
  [[nodiscard]] const std::string& kernel() const noexcept;
  /// ImplIds of all steps, in the order they run.
  [[nodiscard]] std::vector<std::string> route() const;
  /// Why this kernel: one line for people.
  [[nodiscard]] const std::string& reason() const noexcept;
  /// Candidates that were refused, and by which clause.
  [[nodiscard]] const std::vector<Refusal>& refusals() const noexcept;
  /// Shape of `out`.
  [[nodiscard]] const Dims& output_shape() const noexcept;
  /// Time that one run was priced at, in nanoseconds: the sum of its steps', but for those that are done once
  /// (PlanOptions::packed_weight).
  [[nodiscard]] double price_ns() const noexcept;
  /// Scratch that run() and pack() need, in bytes; hand over that much to keep them from allocating.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;
  /// Scratch that run() needs with a packed weight: at most workspace_bytes().
  [[nodiscard]] std::size_t packed_workspace_bytes() const noexcept;
  /// Multiplications and additions of the dense formula: 2 * N * Cout * Ho * Wo * (Cin/groups) * Kh * Kw, transposed
  /// 2 * N * Cin * H * W * (Cout/groups) * Kh * Kw.
  [[nodiscard]] double flops() const noexcept;

  /// The plan as one JSON document without pointers, to be kept and read again by from_json().
  [[nodiscard]] std::string to_json() const;
  /// The same route again, its kernels found by ImplId. `catalog` null: Catalog::builtin(). Errors: invalid_file (not
  /// such a document), not_found (a kernel that is not there), no_kernel (one whose contract changed since, or that
  /// would now be handed something else), and those of plan().
  [[nodiscard]] static Result<Plan> from_json(std::string_view text, const Catalog* catalog = nullptr);

  struct Impl;
  /// For the library itself; not part of the stable API.
  explicit Plan(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  /// For the library itself; not part of the stable API.
  const Impl& impl() const noexcept { return *impl_; }
  /// For the library itself; not part of the stable API.
  const std::shared_ptr<const Impl>& shared_impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// Shape of conv2d's output, [N, Cout, Ho, Wo] (params.hpp gives the formula; PyTorch Conv2d, ONNX Conv).
/// Errors: invalid_argument, invalid_shape.
[[nodiscard]] CONVOKE_API Result<Dims> output_shape(const Dims& x, const Dims& weight, const Conv2dParams& params = {});
/// Shape of conv_transpose2d's output (params.hpp gives the formula; PyTorch ConvTranspose2d, ONNX ConvTranspose).
[[nodiscard]] CONVOKE_API Result<Dims> output_shape(const Dims& x, const Dims& weight,
                                                    const ConvTranspose2dParams& params);

/// Plans conv2d: out[n,co,oh,ow] = bias[co] + sum over ci,kh,kw of
/// x[n, g*Cin/groups + ci, oh*stride.h + kh*dilation.h - top, ...] * weight[co,ci,kh,kw], with g = co / (Cout/groups).
/// Taps outside x are absent. The default kernels obey the law of the sum (docs/law.md): the same bits for any thread
/// count, batch, layout, alignment and machine.
/// Errors: invalid_argument, invalid_shape, invalid_layout, unsupported, overlap (out overlaps itself), no_kernel.
[[nodiscard]] CONVOKE_API Result<Plan> plan(const TensorSpec& x, const TensorSpec& weight,
                                            const std::optional<TensorSpec>& bias, const TensorSpec& out,
                                            const Conv2dParams& params = {}, const PlanOptions& options = {});
/// Plans conv_transpose2d: every x[n,ci,hi,wi] * weight[ci,co',kh,kw] is added to
/// out[n, co, hi*stride.h + kh*dilation.h - top, wi*stride.w + kw*dilation.w - left] where that lies inside out.
[[nodiscard]] CONVOKE_API Result<Plan> plan(const TensorSpec& x, const TensorSpec& weight,
                                            const std::optional<TensorSpec>& bias, const TensorSpec& out,
                                            const ConvTranspose2dParams& params, const PlanOptions& options = {});

/// Plans and runs conv2d in one call. Shapes, formula and errors as plan() and Plan::run().
[[nodiscard]] CONVOKE_API Result<void> conv2d(const ConstTensor& x, const ConstTensor& weight,
                                              const std::optional<ConstTensor>& bias, const Tensor& out,
                                              const Conv2dParams& params = {}, const PlanOptions& options = {},
                                              const RunOptions& run = {});
/// Plans and runs conv_transpose2d in one call.
[[nodiscard]] CONVOKE_API Result<void> conv_transpose2d(const ConstTensor& x, const ConstTensor& weight,
                                                        const std::optional<ConstTensor>& bias, const Tensor& out,
                                                        const ConvTranspose2dParams& params = {},
                                                        const PlanOptions& options = {}, const RunOptions& run = {});

}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
// oneDNN's side: the same convolution on the same values. Its header is seen by onednn.cpp alone.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoke/error.hpp"
#include "problem/workload.hpp"

namespace convoke::peers {

/// In both views weights are in the layout that oneDNN prefers, and bringing them there is not timed.
enum class View {
  plain,  ///< x and out dense NCHW, as a program that knows nothing of oneDNN has them
  best,   ///< x and out in the layouts that oneDNN prefers; bringing them there and back is not timed
};

class OneDnn {
 public:
  /// Prepared for as many threads as omp_get_max_threads() says now; `workload` must outlive it. Absent where oneDNN
  /// has no implementation. Errors: kernel_failure (oneDNN says what).
  [[nodiscard]] static Result<std::optional<OneDnn>> make(const problem::Workload& workload, View view);

  OneDnn(OneDnn&&) noexcept;
  OneDnn& operator=(OneDnn&&) noexcept;
  ~OneDnn();

  /// What is timed.
  [[nodiscard]] Result<void> run() const;

  /// What oneDNN calls its implementation: `brg_conv_fwd:avx512_core`.
  const std::string& implementation() const noexcept;
  /// Whether that is its plain loop, which is slower by orders of magnitude.
  bool reference() const noexcept;
  /// The output as dense NCHW in the workload's dtype.
  [[nodiscard]] Result<std::vector<std::byte>> out() const;

 private:
  struct Impl;
  explicit OneDnn(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// `oneDNN 3.2.0`.
std::string onednn_version();

/// The library that carries out oneDNN's parallel regions, and ours; empty unless it is one and the same.
std::string shared_openmp();

}  // namespace convoke::peers

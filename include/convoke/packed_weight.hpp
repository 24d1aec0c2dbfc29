// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "convoke/export.hpp"
#include "convoke/tensor.hpp"

namespace convoke {

/// A weight as a kernel takes it, made once by Plan::pack(): packed, cast or copied as the plan's route does, in memory
/// of its own. Immutable; copies share the memory, and any number of threads may use it at once.
class CONVOKE_API PackedWeight {
 public:
  /// ImplIds of the kernels that made it, in the order they ran. Empty: a copy of the weight as it lay.
  [[nodiscard]] const std::vector<std::string>& kernels() const noexcept;
  /// SHA-256 of the contract of each.
  [[nodiscard]] const std::vector<std::string>& digests() const noexcept;
  /// The weight that it was made of.
  [[nodiscard]] const TensorSpec& weight() const noexcept;
  /// Memory that it holds.
  [[nodiscard]] std::size_t bytes() const noexcept;

  struct Impl;
  /// For the library itself; not part of the stable API.
  explicit PackedWeight(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  /// For the library itself; not part of the stable API.
  const Impl& impl() const noexcept { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

}  // namespace convoke

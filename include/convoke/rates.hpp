// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/error.hpp"
#include "convoke/export.hpp"
#include "convoke/tensor.hpp"

namespace convoke {

/// How fast a machine does one kind of work, with one thread. A step takes
/// overhead_ns + flops / flops_per_ns + bytes / bytes_per_ns: what a kernel fetches it has to wait for, before or
/// beside what it computes, and a measured rate holds what it hides of that. Both speeds are positive, the overhead may
/// be 0.
struct Rate {
  double flops_per_ns = 1, bytes_per_ns = 1, overhead_ns = 0;
};

/// A rate and what it holds for. Empty words and an absent dtype mean any.
struct RateRow {
  std::string backend;        ///< `cpu`, `vulkan`, ...
  std::string kernel_source;  ///< `portable`, ...
  /// A cost class of contracts (`conv`), an operator (`Upload`), which goes before a class, or both
  /// (`Cast/strided_elementwise`), which go before either.
  std::string work;
  std::optional<DType> dtype;  ///< of the kernel's output
  Rate rate;
};

/// What turns a price, which contracts state as work, into time: one table a machine. Made with defaults that put
/// routes into a sensible order on most machines; `convoke calibrate` measures those of this one.
class CONVOKE_API Rates {
 public:
  /// The defaults.
  Rates();

  /// Adds a row, or replaces the one for the same backend, kernel_source, work and dtype. Errors: invalid_argument (a
  /// speed that is not positive and finite).
  [[nodiscard]] Result<void> set(RateRow row);
  const std::vector<RateRow>& rows() const noexcept { return rows_; }

  /// The rate of the row that says most about this: kernel_source counts before operator, operator before class, class
  /// before dtype. Ties: the earlier row.
  const Rate& find(std::string_view backend, std::string_view kernel_source, std::string_view op,
                   std::string_view cost_class, DType dtype) const noexcept;

  /// Each thread beyond the first adds this part of one thread's speed on the CPU; 0 to 1.
  double thread_gain() const noexcept { return thread_gain_; }
  [[nodiscard]] Result<void> set_thread_gain(double gain);

  /// Equal for equal tables.
  std::uint64_t fingerprint() const noexcept { return fingerprint_; }

  /// One JSON document: `{"convoke_rates": 1, "thread_gain": g, "rates": [{"backend", "kernel_source", "work", "dtype",
  /// "flops_per_ns", "bytes_per_ns", "overhead_ns"}]}`.
  [[nodiscard]] std::string to_json() const;
  /// Reads what to_json() writes; its rows lie over the defaults. Errors: invalid_file; `path` is for messages.
  [[nodiscard]] static Result<Rates> from_json(std::string_view text, std::string_view path);

 private:
  Result<void> put(RateRow row);
  void refresh_fingerprint();
  std::vector<RateRow> rows_;
  double thread_gain_ = 0.85;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Whether the CPU has a bit-stable kernel for everything: rule 9 of the format, by key and not by operator alone.
#pragma once

#include <string>
#include <vector>

#include "bind/binding_table.hpp"

namespace convoke::bind {

/// One key that every host needs.
struct Coverage {
  Operator op = Operator::conv2d;
  std::vector<DType> dtypes;             ///< inputs, then outputs
  bool bias = false;                     ///< convolutions only: the key holds one
  std::vector<std::string> kernels;      ///< ImplIds of runnable CPU kernels that claim the same bits on each run
  std::vector<std::string> unrelied_on;  ///< those of foreign documents, whose claims are not relied on

  bool covered() const noexcept { return !kernels.empty(); }
};

/// A row for each operator, dtype and presence of a bias. Operators come from the enum; Pack, Upload and Download are
/// left out, because only a kernel or a device that asks for them needs them.
std::vector<Coverage> coverage(const BindingTable& table);

}  // namespace convoke::bind

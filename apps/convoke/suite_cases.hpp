// SPDX-License-Identifier: Apache-2.0 OR MIT
// The three kinds of suites, each case on every binding that admits it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/convoke/execution.hpp"
#include "apps/convoke/suite_result.hpp"
#include "bind/binding_table.hpp"
#include "convoke/catalog.hpp"
#include "convoke/error.hpp"

namespace convoke::cli {

struct SuiteOptions {
  std::vector<DType> dtypes;  ///< empty: all that a case lists, f32 for layers
  std::string kernel;         ///< glob over ImplIds; empty: every binding
  std::string only;           ///< glob over case ids; empty: every case
  std::string extra;          ///< options that a reproducer needs too, such as ` --contracts mine.fkc.md`
  bool verify = false;        ///< against both oracles; without it layers are sampled and cases held to their values
  bool packed = false;        ///< the weight is packed once, before what is timed
  int threads = 0;
  int repeat = 0;
};

/// Runs a layer list (CSV) or a case file (JSON, told by a name in `.json` or by its first character).
/// Errors: io, invalid_file.
Result<void> run_suite_file(const std::string& path, const Catalog& catalog, const SuiteOptions& options,
                            SuiteResult& result);

/// Runs the first `count` problems of `seed` that have the wanted dtypes, for both operations, against both oracles,
/// with guarded and poisoned memory.
void run_random_suite(std::uint64_t count, std::uint64_t seed, const Catalog& catalog, const SuiteOptions& options,
                      SuiteResult& result);

/// Bindings at the key of this operation, dtype and bias whose ImplIds match the glob.
std::vector<const bind::Binding*> candidates(const Catalog& catalog, Op op, DType dtype, bool bias,
                                             const std::string& kernel);

/// A plan with this binding forced, or how the binding failed.
struct Forced {
  std::optional<Plan> plan;
  BindingResult result;
};
Forced force(const bind::Binding& binding, const Operands& operands, const Catalog& catalog, bool packed);

}  // namespace convoke::cli

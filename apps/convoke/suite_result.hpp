// SPDX-License-Identifier: Apache-2.0 OR MIT
// What a suite found: one result for each case and dtype, with one for each binding below it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/convoke/output.hpp"
#include "base/geometry.hpp"
#include "convoke/tensor.hpp"

namespace convoke::cli {

enum class Status { passed, failed, skipped };
std::string_view name_of(Status status) noexcept;

/// How one binding did. `refused`: its contract does not admit the case. `lacking`: the host has no such backend or
/// instruction set.
struct BindingResult {
  enum class Fate { passed, failed, refused, lacking };
  std::string kernel;  ///< ImplId
  Fate fate = Fate::passed;
  std::string reason;  ///< why not passed
  double ms = 0, gflops = 0;
  std::string digest;
};

struct CaseResult {
  std::string id;
  DType dtype = DType::f32;
  std::string problem;     ///< its problem line
  std::string reproducer;  ///< the command that runs it alone
  Status status = Status::passed;
  std::string reason;
  std::vector<BindingResult> bindings;

  /// Sets status and reason from the bindings: passed where one admits the case and all that do are right, skipped
  /// where none is among the kernels that were asked for. The reproducer is narrowed to the binding that failed, else
  /// to the kernels that were asked for.
  void settle(const std::string& kernels);
};

/// How often each relation occurred among the random problems of one operation.
struct RelationCount {
  Op op = Op::conv2d;
  std::uint64_t problems = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
};

struct SuiteResult {
  std::vector<CaseResult> cases;
  std::vector<RelationCount> relations;

  std::size_t count(Status status) const noexcept;
};

/// The result as one JSON document, or as tables.
Report suite_report(const SuiteResult& result, bool json);

}  // namespace convoke::cli

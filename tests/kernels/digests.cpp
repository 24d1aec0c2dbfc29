// SPDX-License-Identifier: Apache-2.0 OR MIT
// Prints one line for each digest problem, computed by the kernels: `digest  problem`. Needs only kernels/, so that it
// can be built by any compiler for any machine (tools/check_digests.sh). Exits 1 where two builds of a kernel disagree.
#include <cstdio>

#include "tests/kernels/digest_problems.hpp"
#include "tests/kernels/kernel_test.hpp"

namespace convoke::kernel_tests {
namespace {

/// Runs every row on fresh operands and prints the digest they agree on.
template <class Operands, class Problem>
bool print(const Problem& problem, const std::vector<convoke_entry>& rows) {
  const Operands first(problem);
  bool agree = !rows.empty() && first.run(rows.front().function) == CONVOKE_OK;
  for (const convoke_entry& row : rows) {
    const Operands operands(problem);
    agree = agree && operands.run(row.function) == CONVOKE_OK && operands.out.canonical() == first.out.canonical();
  }
  std::puts(digest_line(digest(first.out), problem.name()).c_str());
  if (!agree) std::fprintf(stderr, "builds of the kernel disagree: %s\n", problem.name().c_str());
  return agree;
}

int run() {
  bool agree = true;
  for (const Problem& problem : digest_problems()) agree = print<Operands>(problem, rows_of(problem)) && agree;
  for (const CastProblem& cast : digest_casts()) agree = print<CastOperands>(cast, rows_of(cast.symbol())) && agree;
  return agree ? 0 : 1;
}

}  // namespace
}  // namespace convoke::kernel_tests

int main() { return convoke::kernel_tests::run(); }

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Prints one line for each digest problem, computed by the portable kernels: `digest  problem`. Needs only kernels/, so
// that it can be built by any compiler for any machine (tools/check_digests.sh). Exits 1 where two builds of a kernel
// disagree, or a kernel of kernels/simd gives other bits on any instruction set that this host runs. Standard error
// says how many runs were compared; none is a failure too.
#include <cstdio>

#include "tests/kernels/digest_problems.hpp"
#include "tests/kernels/guarded.hpp"

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

/// Holds every kernel of kernels/simd to the bits of a portable one, between pages that it may not touch; the number of
/// runs, negative where one differs.
int compare_simd(const Problem& problem) {
  const Operands portable(problem);
  if (portable.run(rows_of(problem).back().function) != CONVOKE_OK) return -1;
  int runs = 0;
  for (const SimdKernel& kernel : simd_kernels_of(problem)) {
    for (Side side : {Side::front, Side::end}) {
      const Operands operands(problem);
      const bool ran = run_guarded(kernel, problem, operands, side) == CONVOKE_OK;
      if (!ran || operands.out.canonical() != portable.out.canonical() || !operands.out.gaps_untouched()) {
        std::fprintf(stderr, "%s gives other bits: %s\n", kernel.name.c_str(), problem.name().c_str());
        return -1;
      }
      ++runs;
    }
  }
  return runs;
}

int print_all() {
  bool agree = true;
  int runs = 0;
  for (const Problem& problem : digest_problems()) {
    agree = print<Operands>(problem, rows_of(problem)) && agree;
    const int compared = compare_simd(problem);
    agree = agree && compared >= 0;
    runs += compared;
  }
  std::fprintf(stderr, "simd runs compared: %d\n", runs);
  for (const CastProblem& cast : digest_casts()) agree = print<CastOperands>(cast, rows_of(cast.symbol())) && agree;
  return agree && runs > 0 ? 0 : 1;
}

}  // namespace
}  // namespace convoke::kernel_tests

int main() { return convoke::kernel_tests::print_all(); }

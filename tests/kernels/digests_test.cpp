// SPDX-License-Identifier: Apache-2.0 OR MIT
// suites/digests.txt against the scalar reference and against the kernels of this build: the file that all builds are
// compared with is itself right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/kernels/digest_problems.hpp"
#include "tests/kernels/reference.hpp"
#include "tests/kernels/simd_kernel.hpp"

namespace convoke::kernel_tests {
namespace {

std::vector<std::string> golden_lines() {
  std::ifstream file(CONVOKE_DIGESTS);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.front() != '#') lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> reference_lines() {
  std::vector<std::string> lines;
  for (const Problem& p : digest_problems()) {
    const Operands operands(p);
    Tensor expected(p.dtype, {p.N, p.Cout, p.out_size(0), p.out_size(1)}, Layout::dense);
    reference(p, operands, expected);
    lines.push_back(digest_line(digest(expected), p.name()));
  }
  for (const CastProblem& cast : digest_casts()) {
    const CastOperands operands(cast);
    Tensor expected(cast.to, {10, 100}, Layout::dense);
    for (std::int64_t i = 0; i < expected.count(); ++i) {
      expected.set(i, encode(expected.format(), decode(operands.x.format(), operands.x.bits(i))));
    }
    lines.push_back(digest_line(digest(expected), cast.name()));
  }
  return lines;
}

TEST(DigestsTest, FileIsWhatTheReferenceSays) {
  const auto lines = reference_lines();
  ASSERT_GE(lines.size(), 60U);
  EXPECT_THAT(golden_lines(), testing::ElementsAreArray(lines));
}

TEST(DigestsTest, KernelsOfThisBuildAgree) {
  std::vector<std::string> lines;
  for (const Problem& p : digest_problems()) {
    for (const convoke_entry& row : rows_of(p)) {
      const Operands operands(p);
      ASSERT_EQ(operands.run(row.function), CONVOKE_OK);
      const std::string line = digest_line(digest(operands.out), p.name());
      if (lines.empty() || lines.back() != line) lines.push_back(line);
    }
  }
  for (const CastProblem& cast : digest_casts()) {
    for (const convoke_entry& row : rows_of(cast.symbol())) {
      const CastOperands operands(cast);
      ASSERT_EQ(operands.run(row.function), CONVOKE_OK);
      const std::string line = digest_line(digest(operands.out), cast.name());
      if (lines.empty() || lines.back() != line) lines.push_back(line);
    }
  }
  EXPECT_THAT(lines, testing::ElementsAreArray(golden_lines()));
}

TEST(DigestsTest, EverySimdKernelOnEveryInstructionSetOfTheHostAgrees) {
  const auto golden = golden_lines();
  const auto problems = digest_problems();
  ASSERT_GE(golden.size(), problems.size());
  if (simd_kernels_of(problems.front()).empty()) GTEST_SKIP() << "this host lacks fma";
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const auto kernels = simd_kernels_of(problems[i]);
    EXPECT_GE(kernels.size(), 2U) << problems[i].name();
    for (const SimdKernel& kernel : kernels) {
      const Operands operands(problems[i]);
      ASSERT_EQ(run(kernel, problems[i], operands), CONVOKE_OK);
      EXPECT_EQ(digest_line(digest(operands.out), problems[i].name()), golden[i]) << kernel.name;
    }
  }
}

}  // namespace
}  // namespace convoke::kernel_tests

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "base/file.hpp"
#include "kernels/common/kernel.h"

namespace convoke {
namespace {

TEST(Host, DescribesThisMachine) {
  const Host& here = host();
  EXPECT_EQ(&here, &host());
  EXPECT_THAT(here.cpu, testing::Not(testing::IsEmpty()));
  EXPECT_THAT(here.arch, testing::AnyOf("x86_64", "aarch64", "unknown"));
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(here.cores, CPU_COUNT(&set));
  for (const std::int64_t size : {here.l1d, here.l2, here.l3}) EXPECT_GE(size, 0);
  if (here.l1d > 0 && here.l2 > 0) {
    EXPECT_LE(here.l1d, here.l2);
  }
}

#if defined(__x86_64__)
// The system's own list of features is the second opinion.
TEST(Host, AgreesWithTheSystemOnInstructionSets) {
  const std::string text = read_file("/proc/cpuinfo").value_or("");
  const std::size_t at = text.find("flags");
  if (at == std::string::npos) GTEST_SKIP() << "this host lacks a list of flags in /proc/cpuinfo";
  const std::string flags = text.substr(at, text.find('\n', at) - at) + " ";
  const auto has = [&](const char* flag) { return flags.find(std::string(" ") + flag + " ") != std::string::npos; };
  const bool v3 = has("avx2") && has("fma") && has("f16c") && has("bmi1") && has("bmi2") && has("movbe") && has("abm");
  const bool v4 = v3 && has("avx512f") && has("avx512bw") && has("avx512cd") && has("avx512dq") && has("avx512vl");
  EXPECT_EQ((host().isa & CONVOKE_ISA_FMA) != 0, v3);
  EXPECT_EQ((host().isa & CONVOKE_ISA_AVX512) != 0, v4);
  EXPECT_THAT(text, testing::HasSubstr(host().cpu));
}
#endif

TEST(Host, NamesInstructionSets) {
  EXPECT_THAT(isa_names(CONVOKE_ISA_BASELINE), testing::IsEmpty());
  EXPECT_THAT(isa_names(CONVOKE_ISA_FMA | CONVOKE_ISA_AVX512), testing::ElementsAre("fma", "avx512"));
  EXPECT_THAT(isa_names(CONVOKE_ISA_AVX512 | 1u << 31), testing::ElementsAre("avx512", "bit31"));
  EXPECT_EQ(isa_of_name("fma"), std::uint32_t{CONVOKE_ISA_FMA});
  EXPECT_EQ(isa_of_name("avx512"), std::uint32_t{CONVOKE_ISA_AVX512});
  EXPECT_EQ(isa_of_name("baseline"), 0u);
  EXPECT_EQ(isa_of_name("sse9"), ~0u);
}

}  // namespace
}  // namespace convoke

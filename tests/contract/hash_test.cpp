// SPDX-License-Identifier: Apache-2.0 OR MIT
// The public test vectors, on the documents that they were computed from.
#include "contract/hash.hpp"

#include <gtest/gtest.h>

#include <map>

#include "sample.hpp"

namespace convoke::contract::testing {
namespace {

std::map<std::string, std::uint64_t> revisions(const std::string& path) {
  std::map<std::string, std::uint64_t> out;
  for (const Contract& contract : parse_document(read_repository_file(path), path).contracts)
    out[contract.kernel] = contract.revision;
  return out;
}

TEST(RevisionHash, CpuVectors) {
  const std::map<std::string, std::uint64_t> expected = {{"conv2d_f32", 0x9698b0be71e9cd59u},
                                                         {"conv2d_f64", 0x213152f58f2906d6u},
                                                         {"conv2d_bf16", 0x23754a088c3e3387u},
                                                         {"conv2d_f16", 0xa8ef9ee428c546cfu},
                                                         {"conv_transpose2d_f32", 0xd64c14394622d615u},
                                                         {"conv_transpose2d_f64", 0x4a0b266101517242u},
                                                         {"conv_transpose2d_bf16", 0x644d09acc62b862fu},
                                                         {"conv_transpose2d_f16", 0xbdef7fe4fd7e07efu}};
  EXPECT_EQ(revisions("suites/contracts/cpu-conv.fkc.md"), expected);
  EXPECT_EQ(revisions("suites/contracts/flat/cpu-conv.txt"), expected);
}

TEST(RevisionHash, VulkanVectors) {
  const std::map<std::string, std::uint64_t> expected = {
      {"conv2d_f32", 0xc90ae37580f90fdcu}, {"conv2d_bf16", 0x236945856ee88cc0u}, {"conv2d_f16", 0x08c3045fff745654u}};
  EXPECT_EQ(revisions("suites/contracts/vulkan-conv.fkc.md"), expected);
  EXPECT_EQ(revisions("suites/contracts/flat/vulkan-conv.txt"), expected);
}

struct Change {
  std::string_view from, to;
  bool changes_hash;
};

TEST(RevisionHash, CoversTheInterfaceAndTheDigestCoversTheRest) {
  const Contract before = parse_document(sample(), "").contracts.at(0);
  const Change changes[] = {
      {"sample::conv", "sample::conv2", true},
      {"  flops: \"2 *", "  flops: \"3 *", true},
      {"revision_base: \"rev 1\"", "revision_base: \"rev 2\"", true},
      {"strided: rejected", "strided: rejected, start_offset: accepted", true},
      {"rank: 1", "rank: 2", false},
      {"alignment_bytes: 64", "alignment_bytes: 32", false},
      {"notes: \"why\"", "notes: \"because\"", false},
      {"groups != 0", "groups > 0", false},
  };
  for (const Change& change : changes) {
    const ParsedDocument document = parse_document(plant(sample(), change.from, change.to), "");
    ASSERT_EQ(document.contracts.size(), 1u) << rendered(document.diagnostics);
    EXPECT_EQ(document.contracts[0].revision != before.revision, change.changes_hash) << change.to;
    const bool in_block = change.from.find("revision_base") == std::string_view::npos;
    EXPECT_EQ(document.contracts[0].block_digest != before.block_digest, in_block) << change.to;
  }
}

TEST(BlockDigest, IsSha256OfTheLinesWithoutIndentation) {
  EXPECT_EQ(block_digest({"abc"}), "edeaaff3f1774ad2888673770c6d64097e391bc362d7d6fb34982ddf0efd18cb");
  EXPECT_EQ(block_digest({"  abc"}), block_digest({"abc"}));
  EXPECT_NE(block_digest({"ab", "c"}), block_digest({"abc"}));
}

}  // namespace
}  // namespace convoke::contract::testing

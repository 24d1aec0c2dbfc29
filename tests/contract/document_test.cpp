// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reading whole documents: defaults, every field, inheritance, what the importer keeps and what it drops.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dump.hpp"
#include "sample.hpp"

namespace convoke::contract::testing {
namespace {

using ::testing::ElementsAre;

Contract only(const std::string& text) {
  ParsedDocument document = parse_document(text, "sample.fkc.md");
  EXPECT_EQ(rendered(document.diagnostics), "");
  return document.contracts.empty() ? Contract{} : document.contracts.front();
}

TEST(Document, EveryFieldArrives) {
  std::string text = sample();
  text = plant(text, "op_kind: Conv2D", "op_kind: Conv2D\nvariant: tuned\nbackend: Vulkan\nkernel_source: own");
  text = plant(text, "optional: true", "optional: true\n      layout_constraint: \"stride[0] == 1\"");
  text =
      plant(text, "aliasing: none", "aliasing: in_place(x)\n      layout: { contiguous: accepted, strided: accepted }");
  text = plant(text, "alignment_bytes: 64", "alignment_bytes: 64\n  access_granularity_bits: 32");
  text = plant(text, "  class: conv\n",
               "  class: conv\n  bytes_moved: \"n * dtype_bytes\"\n  overhead_ns: 40\n  cost_fn: f\n"
               "  memory: { device_bytes: 1, host_bytes: \"n\", disk_bytes: ~ }\n");
  text = plant(text, "max_ulp: ~", "max_ulp: 2\n  max_relative: 1e-3\n  max_absolute: 0.5");
  text = plant(text, "absent_taps: skip",
               "absent_taps: zero_fill\n  error: { scale: plane, terms: \"groups\", unit: F64 }");
  text = plant(text, "[threads, batch]\n",
               "[threads, batch]\nrequires: { isa: [avx2, fma], device: [coopmat] }\nworkspace_bytes: \"4 * n\"\n"
               "packing: { operand: weight, kernel: pack, bytes: \"8 * n\" }\n");
  const Contract c = only(text);
  EXPECT_EQ(c.section, "conv (a sample)");
  EXPECT_EQ(c.line, line_of(text, "## conv"));
  EXPECT_EQ(c.variant, "tuned");
  EXPECT_EQ(c.backend, Backend::vulkan);
  EXPECT_EQ(c.kernel_source, "own");
  EXPECT_EQ(c.entry_point_at.line, line_of(text, "entry_point"));
  EXPECT_EQ(c.inputs.at(2).layout_constraint->text(), "stride[0] == 1");
  EXPECT_EQ(c.inputs.at(1).strategy, AwkwardStrategy::handles_strided);
  EXPECT_EQ(c.outputs.at(0).aliasing, "in_place(x)");
  EXPECT_TRUE(c.outputs.at(0).layout->strided);
  EXPECT_EQ(c.caps.access_granularity_bits, 32u);
  EXPECT_EQ(c.caps.fast_paths.at(0).when->text(), "groups == 1");
  EXPECT_EQ(c.cost.overhead_ns->text(), "40");
  EXPECT_EQ(c.cost.cost_fn, "f");
  EXPECT_EQ(c.cost.device_bytes->text(), "1");
  EXPECT_FALSE(c.cost.disk_bytes);
  EXPECT_EQ(c.precision.max_ulp, 2u);
  EXPECT_EQ(c.precision.max_relative, 1e-3);
  EXPECT_EQ(c.precision.max_absolute, 0.5);
  EXPECT_EQ(c.numerics->absent_taps, "zero_fill");
  EXPECT_EQ(c.numerics->error->scale, "plane");
  EXPECT_EQ(c.numerics->error->unit, "F64");
  EXPECT_THAT(c.requires_isa, ElementsAre("avx2", "fma"));
  EXPECT_THAT(c.requires_device, ElementsAre("coopmat"));
  EXPECT_EQ(c.workspace_bytes->text(), "4 * n");
  EXPECT_EQ(c.packing->bytes.text(), "8 * n");
}

TEST(Document, AbsentFieldsHaveTheFormatsDefaults) {
  std::string text = sample();
  text = plant(text, "      rank: 1\n", "");
  const std::size_t caps = text.find("caps:");
  text.erase(caps, text.find("cost:") - caps);
  text.erase(text.find("numerics:"), text.rfind("```") - text.find("numerics:"));
  const Contract c = only(text);
  EXPECT_TRUE(c.registrable);
  EXPECT_EQ(c.backend, Backend::cpu);
  EXPECT_EQ(c.kernel_source, "plain");
  EXPECT_EQ(c.inputs.at(2).rank.min, 0);
  EXPECT_FALSE(c.inputs.at(2).rank.max);
  EXPECT_FALSE(c.inputs.at(2).layout);
  EXPECT_EQ(c.inputs.at(0).layout->contiguous, Contiguity::required);
  EXPECT_EQ(c.inputs.at(0).layout->broadcast_stride0, Acceptance::rejected);
  EXPECT_EQ(c.caps.strategy, AwkwardStrategy::requires_contiguous);
  EXPECT_FALSE(c.caps.in_place);
  EXPECT_FALSE(c.caps.alignment_bytes);
  EXPECT_FALSE(c.numerics);
  EXPECT_FALSE(c.packing);
}

TEST(Document, RanksAreRanges) {
  const auto rank = [](std::string_view text) {
    return only(plant(sample(), "rank: 1\n", fmt::format("rank: {}\n", text))).inputs.at(2).rank;
  };
  EXPECT_EQ(rank("1").max, 1);
  EXPECT_EQ(rank("any").max, std::nullopt);
  EXPECT_EQ(rank("\"2..=5\"").min, 2);
  EXPECT_EQ(rank("\"2..=5\"").max, 5);
  EXPECT_EQ(rank("\"3..\"").min, 3);
  EXPECT_EQ(rank("\"3..\"").max, std::nullopt);
}

TEST(Document, ClassesStandForTheirDtypes) {
  const auto dtypes = [](std::string_view text) {
    return only(plant(sample(), "dtypes: [F32]\n      rank: 1", fmt::format("{}\n      rank: 1", text)))
        .inputs.at(2)
        .dtypes;
  };
  EXPECT_THAT(dtypes("dtype_class: int"), ElementsAre("I8", "I16", "I32", "I64"));
  EXPECT_THAT(dtypes("dtype_class: float"), ElementsAre("BF16", "F16", "F32", "F64"));
  EXPECT_THAT(dtypes("dtype_class: int\n      dtypes: [U8]"), ElementsAre("U8"));
}

TEST(Document, AnUnknownCostClassCountsAsGemmLike) {
  const ParsedDocument document = parse_document(plant(sample(), "  class: conv\n", "  class: heavy\n"), "");
  ASSERT_EQ(document.contracts.size(), 1u);
  EXPECT_EQ(document.contracts[0].cost.cost_class, "gemm_like");
}

TEST(Document, AnUnreadableFastPathIsSkippedAndKept) {
  const ParsedDocument document = parse_document(plant(sample(), "\"groups == 1\"", "\"groups ==\""), "");
  ASSERT_EQ(document.contracts.size(), 1u);
  EXPECT_FALSE(document.contracts[0].caps.fast_paths.at(0).when);
  EXPECT_EQ(document.contracts[0].caps.fast_paths.at(0).text, "groups ==");
}

TEST(Document, ARevisionMayBeWritten) {
  EXPECT_EQ(only(plant(sample(), "hash: auto", "hash: \"0x00ff\"")).revision, 0xffu);
  EXPECT_EQ(only(plant(sample(), "hash: auto", "hash: 9698b0be71e9cd59")).revision, 0x9698b0be71e9cd59u);
  EXPECT_EQ(only(plant(sample(), "kernel_revision_hash: auto\n", "")).revision, only(sample()).revision);
}

TEST(Document, LineEndsAndByteOrderMarksDoNotMatter) {
  std::string crlf;
  for (const char c : sample()) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(dump(only(crlf)), dump(only(sample())));
  EXPECT_EQ(dump(only(fmt::format("\xEF\xBB\xBF{}", sample()))), dump(only(sample())));
  std::string unended = sample();
  unended.pop_back();
  EXPECT_EQ(dump(only(unended)), dump(only(sample())));
}

TEST(Document, ErrorsLeaveNoContracts) {
  const std::string broken = plant(std::string(sample_section), "op_kind: Conv2D", "op_kind: Conv9D");
  const std::string good = plant(std::string(sample_section), "kernel: conv", "kernel: other");
  const ParsedDocument document = parse_document(std::string(sample_front) + broken + good, "");
  EXPECT_TRUE(document.has_errors());
  EXPECT_TRUE(document.contracts.empty());
  EXPECT_TRUE(document.provider);
}

TEST(Document, KernelNamesAreUniqueInAFile) {
  const std::string text = sample() + std::string(sample_section);
  const ParsedDocument document = parse_document(text, "");
  ASSERT_EQ(document.diagnostics.size(), 1u) << rendered(document.diagnostics);
  EXPECT_EQ(document.diagnostics[0].name, "DuplicateKernel");
}

TEST(Document, WithoutSectionsThereAreNoKernels) {
  const ParsedDocument document = parse_document(sample_front, "");
  EXPECT_TRUE(document.diagnostics.empty());
  EXPECT_TRUE(document.contracts.empty());
  EXPECT_EQ(document.provider->name, "sample");
}

TEST(Inheritance, FillsWhatTheFileLacks) {
  const InheritedProvider parent{"dir/_provider.fkc.md",
                                 "---\nfkc_version: 1\nprovider:\n  name: parent\n  backend: Cuda\n"
                                 "  kernel_source: theirs\n  revision_base: base\n---\n"};
  const std::string text = fmt::format("---\nprovider:\n  backend: Vulkan\n---\n{}", sample_section);
  const ParsedDocument document = parse_document(text, "dir/a.fkc.md", &parent);
  EXPECT_EQ(rendered(document.diagnostics), "");
  ASSERT_TRUE(document.provider);
  EXPECT_EQ(document.provider->name, "parent");
  EXPECT_EQ(document.provider->backend, Backend::vulkan);
  EXPECT_EQ(document.provider->kernel_source, "theirs");
  EXPECT_EQ(document.provider->revision_base, "base");
  EXPECT_FALSE(document.provider->link_registry);
  // Without the parent each required field is missing, and all are told.
  EXPECT_EQ(count_errors(parse_document(text, "dir/a.fkc.md").diagnostics), 3u);
}

TEST(Inheritance, TheParentNeedNotBeComplete) {
  const std::string parent = "---\nprovider:\n  kernel_source: theirs\n---\n";
  EXPECT_TRUE(parse_document(parent, "dir/_provider.fkc.md").diagnostics.empty());
  EXPECT_EQ(count_errors(parse_document(parent, "dir/other.fkc.md").diagnostics), 3u);
}

TEST(Inheritance, FaultsOfTheParentAreToldUnderItsPath) {
  const InheritedProvider parent{"dir/_provider.fkc.md", "---\nprovider: { backend: Tpu }\n---\n"};
  const ParsedDocument document = parse_document(sample(), "dir/a.fkc.md", &parent);
  ASSERT_EQ(document.diagnostics.size(), 1u) << rendered(document.diagnostics);
  EXPECT_EQ(document.diagnostics[0].path, "dir/_provider.fkc.md");
  EXPECT_EQ(document.diagnostics[0].name, "UnknownBackend");
}

struct Lowering {
  std::string text;
  PrecisionClaim claim;
  bool bit_stable;
};

// Format section 9, row by row.
TEST(Precision, LowersAsTheFormatSays) {
  const Lowering rows[] = {
      {"bit_stable_on_same_hardware: true\n  max_ulp: 1\n  audited: false", PrecisionClaim::bounded, true},
      {"bit_stable_on_same_hardware: true\n  max_relative: 0.0", PrecisionClaim::bounded, true},
      {"bit_stable_on_same_hardware: true\n  audited: false", PrecisionClaim::unaudited, false},
      {"bit_stable_on_same_hardware: true\n  audited: true", PrecisionClaim::stable, true},
      {"bit_stable_on_same_hardware: true", PrecisionClaim::stable, true},
  };
  const std::string_view was = "bit_stable_on_same_hardware: true\n  max_ulp: ~\n  audited: true";
  for (const Lowering& row : rows) {
    const Contract c = only(plant(sample(), was, row.text));
    EXPECT_EQ(c.precision.claim, row.claim) << row.text;
    EXPECT_EQ(c.precision.bit_stable, row.bit_stable) << row.text;
  }
  const std::string loose = plant(sample(), "determinism: same_hardware_bitwise", "determinism: nondeterministic");
  const Contract none = only(plant(loose, was, "bit_stable_on_same_hardware: false\n  audited: true"));
  EXPECT_EQ(none.precision.claim, PrecisionClaim::none);
  EXPECT_EQ(none.precision.notes, "why");
}

}  // namespace
}  // namespace convoke::contract::testing

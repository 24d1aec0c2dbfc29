// SPDX-License-Identifier: Apache-2.0 OR MIT
// One planted fault a row: the sample without it has no finding, with it exactly the one that the row names, there.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace convoke::contract::testing {
namespace {

struct Fault {
  std::string_view id;    ///< of the test
  std::string_view from;  ///< occurs once in the sample
  std::string_view to;
  std::string_view rule;
  std::string_view name;
  std::string_view at;  ///< text on the line that the finding must point to, in the changed document
  Severity severity = Severity::error;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.id; }

constexpr auto warning = Severity::warning;

constexpr Fault faults[] = {
    // Front matter, rules 1 and 2.
    {"version", "fkc_version: 1", "fkc_version: 2", "1", "UnsupportedVersion", "fkc_version: 2"},
    {"no_version", "fkc_version: 1\n", "", "2", "MissingField", "---"},
    {"version_word", "fkc_version: 1", "fkc_version: one", "3", "BadScalarType", "fkc_version: one"},
    {"no_provider_name", "  name: sample\n", "", "2", "MissingField", "  backend: Cpu"},
    {"backend", "backend: Cpu", "backend: Tpu", "", "UnknownBackend", "backend: Tpu"},
    {"front_key", "fkc_version: 1", "fkc_version: 1\nauthor: me", "", "UnknownKey", "author: me", warning},
    // Anatomy.
    {"no_front_matter", "---\nfkc_version", "\nfkc_version", "", "MalformedFrontMatter", "\n"},
    {"orphan", "# Sample\n", "# Sample\n```fkc\na: b\n```\n", "", "OrphanFkcBlock", "```fkc"},
    {"no_block", "```fkc", "```yaml", "", "MissingFkcBlock", "## conv"},
    {"two_blocks", "## conv", "## conv\nOne line of prose.\n```fkc\na: b\n```\nx", "", "MultipleFkcBlocks",
     "```fkc\nkernel"},
    // Restricted YAML, rule 12.
    {"anchor", "dtypes: [F32]\n      rank: 1", "dtypes: &a [F32]\n      rank: 1", "12", "YamlAnchorDisallowed", "&a"},
    {"anchor_in_flow", "[threads, batch]", "[&a threads, batch]", "12", "YamlAnchorDisallowed", "&a"},
    {"alias", "in_place: false", "in_place: *a", "12", "YamlAnchorDisallowed", "*a"},
    {"alias_in_flow", "[threads, batch]", "[threads, *a]", "12", "YamlAnchorDisallowed", "*a"},
    {"merge", "caps:\n", "caps:\n  <<: { in_place: true }\n", "12", "YamlAnchorDisallowed", "<<:"},
    {"pointer", "\"sample::conv\"", "\"0x7f00dead\"", "12", "PointerDisallowed", "0x7f00dead"},
    {"tag", "in_place: false", "in_place: !!bool false", "", "YamlTagDisallowed", "!!bool"},
    {"duplicate_key", "op_kind: Conv2D", "op_kind: Conv2D\nop_kind: Conv2D", "", "DuplicateKey",
     "op_kind: Conv2D\nblurb"},
    {"duplicate_in_flow", "{ when: \"groups == 1\"", "{ when: \"groups == 1\", when: \"depthwise\"", "", "DuplicateKey",
     "when: \"depthwise\""},
    {"tab", "  in_place: false", "\tin_place: false", "", "YamlTabIndent", "\tin_place"},
    {"norway", "aliasing: none", "aliasing: No", "", "NorwayToken", "aliasing: No"},
    {"norway_in_flow", "[threads, batch]", "[threads, off]", "", "NorwayToken", "off"},
    {"syntax", "in_place: false", "in_place: false: true", "", "YamlSyntax", "in_place"},
    // Rule 2.
    {"no_kernel", "kernel: conv\n", "", "2", "MissingField", "```fkc"},
    {"no_target", "op_kind: Conv2D\n", "", "2", "OpTargetAmbiguous", "kernel: conv"},
    {"two_targets", "op_kind: Conv2D", "op_kind: Conv2D\nfused_op: CONV2D", "2", "OpTargetAmbiguous", "fused_op"},
    {"no_blurb", "blurb: \"One line of prose.\"\n", "", "2", "MissingBlurb", "```fkc"},
    {"no_entry_point", "entry_point: \"sample::conv\"\n", "", "2", "MissingField", "```fkc"},
    {"no_dtypes", "      dtypes: [F32]\n      rank: 1", "      rank: 1", "2", "MissingField", "- name: bias"},
    {"no_dtype_rule", "      dtype_rule: passthrough(x)\n", "", "2", "MissingField", "- name: out"},
    {"no_determinism", "determinism: same_hardware_bitwise\n", "", "2", "MissingField", "```fkc"},
    {"no_accept_inputs",
     "  outputs:\n    - name: out\n      dtype_rule: passthrough(x)\n      shape_rule: conv2d(params)\n      "
     "layout_guarantee: contiguous\n      aliasing: none\n",
     "  outputs: []\n", "2", "MissingField", "outputs: []"},
    {"no_cost", "cost:\n  provenance: judge_measured\n  class: conv\n  flops: \"2 * out_shape[0] * groups\"\n", "", "2",
     "MissingField", "```fkc"},
    {"no_precision",
     "precision:\n  bit_stable_on_same_hardware: true\n  max_ulp: ~\n  audited: true\n  notes: \"why\"\n", "", "2",
     "MissingField", "```fkc"},
    // Rule 3.
    {"op_kind", "op_kind: Conv2D", "op_kind: Conv9D", "3", "UnknownOpKind", "Conv9D"},
    {"fused_op", "op_kind: Conv2D", "fused_op: CONV9D", "3", "UnknownFusedOp", "CONV9D"},
    {"dtype", "dtypes: [F32]\n      rank: 1", "dtypes: [F33]\n      rank: 1", "3", "BadDType", "F33"},
    {"dtype_class", "optional: true", "optional: true\n      dtype_class: floats", "3", "BadDType", "floats"},
    {"fixed_dtype", "passthrough(x)", "fixed(F33)", "3", "BadDType", "F33"},
    {"accumulator", "accumulator: F32", "accumulator: F33", "3", "BadDType", "F33"},
    {"bool_in_quotes", "audited: true", "audited: \"true\"", "3", "BadScalarType", "audited"},
    {"list_for_word", "aliasing: none", "aliasing: [none]", "3", "BadScalarType", "aliasing"},
    {"negative_ulp", "max_ulp: ~", "max_ulp: -1", "3", "BadScalarType", "max_ulp"},
    {"bare_hash", "kernel_revision_hash: auto", "kernel_revision_hash: 1234567890123456", "3", "BadScalarType",
     "kernel_revision_hash"},
    {"sub_byte", "dtypes: [F32]\n      rank: 1", "dtypes: [F4]\n      rank: 1", "3", "QuantIncoherent", "- name: bias"},
    // Rule 4.
    {"layout_word", "strided: rejected", "strided: maybe", "4", "BadLayoutFlag", "maybe"},
    {"no_layout", "contiguous: required, strided: rejected", "contiguous: n/a, strided: rejected", "4",
     "LayoutIncoherent", "n/a"},
    {"broadcast", "strided: rejected", "strided: rejected, broadcast_stride0: accepted", "4", "LayoutIncoherent",
     "broadcast_stride0"},
    {"reverse", "strided: rejected", "strided: rejected, reverse_strides: accepted", "4", "LayoutIncoherent",
     "reverse_strides"},
    {"no_axes", "strided: rejected", "strided: rejected, broadcast_stride0: required", "4", "LayoutIncoherent",
     "broadcast_stride0"},
    {"needless_axes", "strided: rejected", "strided: rejected, broadcast_axes: [0]", "4", "LayoutIncoherent",
     "broadcast_axes"},
    // Rule 5: on an override, on the value in force, on an unknown word at either place.
    {"strategy", "awkward_layout_strategy: handles_strided", "awkward_layout_strategy: requires_contiguous", "5",
     "AwkwardStrategyIncoherent", "contiguous: accepted"},
    {"inherited_strategy", ", awkward_layout_strategy: handles_strided", "", "5", "AwkwardStrategyIncoherent",
     "contiguous: accepted"},
    {"default_strategy", "  awkward_layout_strategy: requires_contiguous\n  fast_paths",
     "  awkward_layout_strategy: contiguize_internally\n  fast_paths", "5", "AwkwardStrategyIncoherent",
     "contiguous: required"},
    {"strategy_word", "awkward_layout_strategy: handles_strided", "awkward_layout_strategy: strided", "5",
     "AwkwardStrategyIncoherent", "awkward_layout_strategy: strided"},
    {"kernel_wide_word", "awkward_layout_strategy: requires_contiguous", "awkward_layout_strategy: strided", "5",
     "AwkwardStrategyIncoherent", "awkward_layout_strategy: strided"},
    // Rule 6.
    {"ggml_without_dtype", "optional: true", "optional: true\n      fdx: { quant: { family: GGML_BLOCK } }", "6",
     "QuantIncoherent", "fdx"},
    {"ggml_with_scale", "optional: true",
     "optional: true\n      fdx: { quant: { family: GGML_BLOCK, ggml_dtype: Q4_0, scale_operand: x } }", "6",
     "ScaleDoubleDeclared", "fdx"},
    {"scale_nowhere", "optional: true",
     "optional: true\n      fdx: { quant: { family: AFFINE_INT, granularity: PerTensor, scale_operand: s } }", "6",
     "ScaleDoubleDeclared", "fdx"},
    {"affine_per_block", "optional: true",
     "optional: true\n      fdx: { quant: { family: AFFINE_INT, granularity: PerBlock } }", "6", "QuantIncoherent",
     "fdx"},
    {"mx", "optional: true", "optional: true\n      fdx: { quant: { family: MX, granularity: PerBlock } }", "6",
     "MxNotYetRegistrable", "fdx"},
    {"mx_per_tensor", "optional: true", "optional: true\n      fdx: { quant: { family: MX, granularity: PerTensor } }",
     "6", "QuantIncoherent", "fdx"},
    // Rule 7.
    {"shape_constraint", "weight.dim[1] == x.dim[1] / groups", "divisible(x.dim[1], weight.dim[1]", "7",
     "ShapeConstraintParse", "divisible"},
    {"variant", "variant: Conv2D", "variant: Conv9D", "7", "BadOpParamsVariant", "variant"},
    {"variant_namespace", "variant: Conv2D", "variant: FusedLinear", "7", "BadOpParamsVariant", "variant"},
    {"misspelt_field", "      dilation:", "      dilatation: { kind: usize }\n      dilation:", "7",
     "BadOpParamsVariant", "dilatation"},
    {"missing_field", "      dilation: { kind: \"(usize, usize)\" }\n", "", "7", "BadOpParamsVariant", "x_shape"},
    {"prose_constraint", "weight.dim[1] == x.dim[1] / groups", "as the caller pleases", "", "ProseConstraint",
     "as the caller", warning},
    // Rule 8.
    {"cost_syntax", "2 * out_shape[0] * groups", "2 * out_shape[0", "8", "CostExprParse", "flops"},
    {"cost_zero", "2 * out_shape[0] * groups", "out_shape[0] / 0", "8", "CostExprParse", "flops"},
    {"workspace", "determinism: same", "workspace_bytes: \"4 *\"\ndeterminism: same", "8", "CostExprParse",
     "workspace"},
    {"cost_scope", "2 * out_shape[0] * groups", "2 * out_shap[0] * groups", "8", "UnknownSymbol", "2 * out_shap[0]",
     warning},
    {"cost_operand", "2 * out_shape[0] * groups", "2 * w.dim[0]", "8", "UnknownSymbol", "w.dim", warning},
    {"cost_index", "2 * out_shape[0] * groups", "2 * out_shape[4]", "8", "UnknownSymbol", "out_shape[4]", warning},
    {"cost_scalar_index", "2 * out_shape[0] * groups", "groups[0]", "8", "UnknownSymbol", "groups[0]", warning},
    {"workspace_scope", "determinism: same", "workspace_bytes: \"tiles\"\ndeterminism: same", "8", "UnknownSymbol",
     "tiles", warning},
    {"packing_threads", "determinism: same",
     "packing: { operand: weight, kernel: pack, bytes: \"n * threads\" }\ndeterminism: same", "8", "UnknownSymbol",
     "threads", warning},
    {"constraint_threads", "groups != 0", "groups <= threads", "7", "UnknownSymbol", "threads", warning},
    {"shape_scope", "x.dim[1] / groups", "x.dim[1] / group", "7", "UnknownSymbol", "x.dim[1] / group", warning},
    {"shape_axis", "weight.dim[1] == x.dim[1]", "dim[4] == x.dim[1]", "7", "UnknownSymbol", "dim[4]", warning},
    {"field_scope", "groups != 0", "Cinn % groups == 0", "7", "UnknownSymbol", "Cinn", warning},
    {"shape_rule", "conv2d(params)", "conv3d(params)", "", "UnknownShapeRule", "conv3d", warning},
    {"shape_rule_bare", "conv2d(params)", "conv2d", "", "UnknownShapeRule", "conv2d", warning},
    {"bidi_kernel", "kernel: conv", "kernel: \"conv\u202e\"", "", "BadName", "kernel: \"conv"},
    {"escape_entry_point", "sample::conv", "sample::\\e[1mconv", "", "BadName", "entry_point"},
    {"escape_provider", "name: sample", "name: \"s\\e\"", "", "BadName", "name: \"s"},
    {"bidi_source", "kernel_source: \"plain\"", "kernel_source: \"\u2066plain\"", "", "BadName", "kernel_source"},
    // Rule 8a.
    {"no_provenance", "  provenance: judge_measured\n", "", "8a", "CostProvenanceMissing", "  class: conv\n"},
    {"provenance_word", "judge_measured", "measured", "8a", "CostProvenanceMissing", "provenance"},
    {"placeholder_cost", "  provenance: judge_measured\n  class: conv\n  flops: \"2 * out_shape[0] * groups\"\n",
     "  provenance: declared\n  class: conv\n", "8a", "PlaceholderCost", "provenance: declared"},
    {"cost_class", "  class: conv\n", "  class: heavy\n", "", "UnknownCostClass", "heavy", warning},
    // Rule 9.
    {"determinism_word", "determinism: same_hardware_bitwise", "determinism: always", "9", "UnknownAdmissibilityEnum",
     "determinism: always"},
    {"unstable_bitwise", "bit_stable_on_same_hardware: true", "bit_stable_on_same_hardware: false", "9",
     "DeterminismIncoherent", "bit_stable"},
    {"stable_nondeterministic", "determinism: same_hardware_bitwise", "determinism: nondeterministic", "9",
     "DeterminismIncoherent", "bit_stable"},
    {"placeholder_precision", "  bit_stable_on_same_hardware: true\n  max_ulp: ~\n  audited: true\n  notes: \"why\"\n",
     "  max_ulp: ~\n", "9", "PlaceholderPrecision", "  max_ulp: ~"},
    {"unaudited", "true\n  max_ulp: ~\n  audited: true\n  notes: \"why\"\ndeterminism: same_hardware_bitwise",
     "false\n  audited: false\n  notes: \"why\"\ndeterminism: nondeterministic", "9", "UnauditedPrecision", "audited"},
    {"bounded_nondeterministic",
     "true\n  max_ulp: ~\n  audited: true\n  notes: \"why\"\ndeterminism: same_hardware_bitwise",
     "false\n  max_ulp: 1\n  audited: true\n  notes: \"why\"\ndeterminism: nondeterministic", "9",
     "DeterminismIncoherent", "bit_stable", warning},
    // Rule 11.
    {"blurb", "blurb: \"One line", "blurb: \"Another line", "11", "BlurbMismatch", "One line of prose.\n", warning},
    // Rule 13.
    {"bundle_rank", "  outputs:\n    - name: out\n", "  bundle:\n    - name: out\n      shape: [1, 2, 3, 4, 5, 6, 7]\n",
     "13", "BundleSlotRankExceeded", "shape: ["},
    // Rule 14.
    {"gather", "optional: true", "optional: true\n      fdx: { requires_ext: true, gather: { kind: paged_blocks } }",
     "14", "GatherIncoherent", "fdx"},
    {"gather_role", "optional: true",
     "optional: true\n      fdx: { requires_ext: true, symbolic_extent: required, gather: { kind: paged_blocks, "
     "block_table: nowhere } }",
     "14", "GatherIncoherent", "fdx"},
    {"gather_kind", "optional: true", "optional: true\n      fdx: { gather: { kind: ragged } }", "14",
     "UnknownAdmissibilityEnum", "fdx"},
    // Rule 15.
    {"extent", "optional: true", "optional: true\n      fdx: { extent_kind: range }", "15", "UnknownAdmissibilityEnum",
     "fdx"},
    {"symbolic", "optional: true", "optional: true\n      fdx: { symbolic_extent: maybe }", "15",
     "UnknownAdmissibilityEnum", "fdx"},
    // Rule 16.
    {"family", "optional: true", "optional: true\n      fdx: { quant: { family: GGUF } }", "16", "FdxTokenNotInTable",
     "fdx"},
    {"ggml_dtype", "optional: true", "optional: true\n      fdx: { quant: { family: GGML_BLOCK, ggml_dtype: Q4_K_M } }",
     "16", "FdxTokenNotInTable", "fdx"},
    {"granularity", "optional: true",
     "optional: true\n      fdx: { quant: { family: AFFINE_INT, granularity: PerRow } }", "16", "FdxTokenNotInTable",
     "fdx"},
    {"sub_byte_token", "optional: true", "optional: true\n      fdx: { sub_byte: F5 }", "16", "FdxTokenNotInTable",
     "fdx"},
    // Format section 10.
    {"fan_out",
     "dtypes: [F32]\n      layout: { contiguous: required, strided: rejected }\n      rank: 4\n    - name: weight\n    "
     "  "
     "dtypes: [F32]",
     "dtypes: [F32, F64]\n      layout: { contiguous: required, strided: rejected }\n      rank: 4\n    - name: "
     "weight\n "
     "     dtypes: [F64, F32]",
     "", "FanoutDtypeMismatch", "  inputs:"},
    {"optional_first", "rank: \"4..=4\"", "rank: \"4..=4\"\n      optional: true", "", "OptionalOperandNotLast",
     "- name: weight"},
    {"optional_passthrough", "passthrough(x)", "passthrough(bias)", "", "PassthroughNamesOptionalOperand",
     "passthrough"},
    {"unknown_role", "passthrough(x)", "passthrough(y)", "", "UnknownRole", "passthrough"},
    {"dtype_rule", "passthrough(x)", "same(x)", "", "UnknownDtypeRule", "same(x)"},
    {"rank", "rank: 1", "rank: one", "", "BadRank", "rank: one"},
    {"rank_range", "\"4..=4\"", "\"4..=3\"", "", "BadRank", "4..=3"},
    {"same_role", "- name: weight", "- name: x", "", "DuplicateRole",
     "- name: x\n      dtypes: [F32]\n      layout: { contiguous: accepted"},
    // Hints: a warning, and the hint is not used.
    {"fast_path", "\"groups == 1\"", "\"groups ==\"", "", "FastPathSkipped", "groups ==\"", warning},
    {"fast_path_empty", "{ when: \"groups == 1\", class: conv }", "{ class: conv }", "", "FastPathSkipped",
     "{ class: conv }", warning},
    {"alignment", "alignment_bytes: 64", "alignment_bytes: 48", "", "BadHint", "alignment_bytes", warning},
    {"unknown_key", "in_place: false", "in_place: false\n  mood: good", "", "UnknownKey", "mood", warning},
    // Our additions.
    {"absent_taps", "absent_taps: skip", "absent_taps: keep", "", "UnknownAdmissibilityEnum", "keep"},
    {"invariant", "[threads, batch]", "[threads, weather]", "", "UnknownAdmissibilityEnum", "weather"},
    {"bound_scale", "absent_taps: skip", "absent_taps: skip\n  error: { scale: row, terms: \"1\", unit: F32 }", "",
     "UnknownAdmissibilityEnum", "scale: row"},
    {"bound_terms", "absent_taps: skip", "absent_taps: skip\n  error: { scale: output, unit: F32 }", "2",
     "MissingField", "error:"},
    {"packing", "determinism: same", "packing: { operand: z, kernel: p, bytes: 1 }\ndeterminism: same", "",
     "UnknownRole", "packing"},
};

class Rules : public ::testing::TestWithParam<Fault> {};

TEST(Sample, HasNoFinding) {
  const ParsedDocument document = parse_document(sample(), "sample.fkc.md");
  EXPECT_EQ(rendered(document.diagnostics), "");
  EXPECT_EQ(document.contracts.size(), 1u);
  EXPECT_TRUE(cross_check({document}).empty());
}

TEST_P(Rules, OneFaultIsOneFinding) {
  const Fault& fault = GetParam();
  const std::string text = plant(sample(), fault.from, fault.to);
  const ParsedDocument document = parse_document(text, "sample.fkc.md");
  ASSERT_EQ(document.diagnostics.size(), 1u) << rendered(document.diagnostics);
  const Diagnostic& found = document.diagnostics.front();
  EXPECT_EQ(found.rule, fault.rule) << render(found);
  EXPECT_EQ(found.name, fault.name) << render(found);
  EXPECT_EQ(found.severity, fault.severity) << render(found);
  EXPECT_EQ(found.line, line_of(text, fault.at)) << render(found);
  EXPECT_GE(found.column, 1);
  EXPECT_EQ(document.contracts.empty(), fault.severity == Severity::error);
  // What broke a language says in its message what was expected there.
  const bool language = fault.name.ends_with("Parse") || fault.name == "YamlSyntax" ||
                        fault.name == "ProseConstraint" || fault.name == "FastPathSkipped";
  EXPECT_TRUE(language || !found.accepted.empty()) << render(found);
}

Diagnostic only_finding(std::string_view from, std::string_view to) {
  const std::vector<Diagnostic> found = parse_document(plant(sample(), from, to), "").diagnostics;
  EXPECT_EQ(found.size(), 1u) << rendered(found);
  return found.empty() ? Diagnostic{} : found.front();
}

TEST(Rules, AnUnknownSymbolIsShownWhereItStandsWithTheNearestName) {
  const Diagnostic found = only_finding("2 * out_shape[0] * groups", "2 * out_shap[0] * groups");
  EXPECT_EQ(found.column, 15);
  EXPECT_NE(found.message.find("did you mean `out_shape`?"), std::string::npos) << found.message;
}

TEST(Rules, CostClassesOfOursAreKnown) {
  for (const char* word : {"strided_conv", "blocked_conv", "pixel_conv", "depthwise_conv", "strided_blocked_conv",
                           "strided_pixel_conv", "strided_depthwise_conv"}) {
    const ParsedDocument document =
        parse_document(plant(sample(), "  class: conv\n", fmt::format("  class: {}\n", word)), "");
    EXPECT_EQ(rendered(document.diagnostics), "");
    EXPECT_EQ(document.contracts.at(0).cost.cost_class, word);
  }
}

TEST(Rules, OtherOperatorsHaveNamesOfTheirOwn) {
  std::string text = plant(sample(), "2 * out_shape[0] * groups", "2 * blocks * head_dim");
  text = plant(plant(text, "op_kind: Conv2D", "op_kind: MatMul"), "variant: Conv2D", "variant: None");
  EXPECT_EQ(rendered(parse_document(text, "").diagnostics), "");
}

TEST(Rules, WhatABlockIsNotIsToldWhereItStands) {
  const std::string list = std::string(sample_front) + "## a\n```fkc\n- a\n```\n";
  const auto found = parse_document(list, "").diagnostics;
  ASSERT_EQ(found.size(), 1u) << rendered(found);
  EXPECT_EQ(found[0].message, "a list where a mapping must stand");
  const std::string open = std::string(sample_front) + "## a\n\n```fkc\nkernel: a\n";
  const auto unclosed = parse_document(open, "").diagnostics;
  ASSERT_EQ(unclosed.size(), 1u) << rendered(unclosed);
  EXPECT_EQ(unclosed[0].name, "MissingFkcBlock");
  EXPECT_EQ(unclosed[0].line, line_of(open, "```fkc"));
}

TEST(Rules, NotesNameTheNearestWord) {
  EXPECT_EQ(only_finding("variant: Conv2D", "variant: Conv2DD").accepted, "Conv2D");
  EXPECT_EQ(only_finding("in_place: false", "in_place: false\n  fast_path: []").accepted, "fast_paths");
  EXPECT_EQ(only_finding("optional: true", "optional: yes").accepted, "true or false");
  EXPECT_EQ(only_finding("aliasing: none", "aliasing: no").accepted, "\"no\", in quotes");
}

TEST(Rules, FusedCostHasNoDtypes) {
  const std::string fused = plant(sample(), "op_kind: Conv2D", "fused_op: CONV2D");
  EXPECT_EQ(rendered(parse_document(fused, "").diagnostics), "");
  const std::string longer = plant(fused, "* groups\"", "* my_dtype_bytes\"");
  EXPECT_EQ(rendered(parse_document(longer, "").diagnostics), "");
  const ParsedDocument document = parse_document(plant(fused, "* groups\"", "* dtype_bytes\""), "");
  ASSERT_EQ(document.diagnostics.size(), 1u) << rendered(document.diagnostics);
  EXPECT_EQ(document.diagnostics[0].name, "CostTargetMismatch");
  EXPECT_EQ(document.diagnostics[0].rule, "8");
  EXPECT_EQ(document.diagnostics[0].column, 30);
  EXPECT_EQ(document.diagnostics[0].severity, Severity::warning);
}

// Rule 17: what only matters to a section that is bound is not asked of one that is only described.
TEST(Rules, DescribedSectionsAreExempt) {
  const std::string described = plant(sample(), "op_kind: Conv2D\n", "registrable: false\n");
  const ParsedDocument document = parse_document(described, "");
  EXPECT_EQ(rendered(document.diagnostics), "");
  ASSERT_EQ(document.contracts.size(), 1u);
  EXPECT_FALSE(document.contracts[0].registrable);
  EXPECT_TRUE(keys(document.contracts[0]).empty());
  const std::string_view bias = "optional: true";
  for (const std::string_view more : {"optional: true\n      fdx: { quant: { family: MX, granularity: PerBlock } }"})
    EXPECT_EQ(rendered(parse_document(plant(described, bias, more), "").diagnostics), "");
  EXPECT_EQ(rendered(parse_document(plant(described, "variant: Conv2D", "variant: Anything"), "").diagnostics), "");
  // Its description must be sound all the same.
  EXPECT_EQ(count_errors(parse_document(plant(described, "strided: rejected", "strided: maybe"), "").diagnostics), 1u);
}

TEST(Rules, EveryNameIsExplained) {
  const std::string text = read_repository_file("docs/format.md");
  for (const Fault& fault : faults)
    EXPECT_NE(text.find(fmt::format("`{}`", fault.name)), std::string::npos) << fault.name;
}

TEST(Rules, FaultsOfTheFrontMatterAreToldTogether) {
  std::string text = plant(sample(), "fkc_version: 1", "fkc_version: one");
  text = plant(plant(text, "backend: Cpu", "backend: Tpu"), "  name: sample\n", "");
  std::vector<std::string> names;
  for (const Diagnostic& found : parse_document(text, "").diagnostics) names.push_back(found.name);
  EXPECT_THAT(names, ::testing::ElementsAre("BadScalarType", "MissingField", "UnknownBackend"));
}

TEST(Rules, ManyFaultsAreToldInOneRun) {
  std::string text = sample();
  text = plant(text, "op_kind: Conv2D", "op_kind: Conv9D");
  text = plant(text, "strided: rejected", "strided: maybe");
  text = plant(text, "2 * out_shape[0] * groups", "2 *");
  text = plant(text, "provenance: judge_measured", "provenance: guessed");
  text = plant(text, "determinism: same_hardware_bitwise", "determinism: always");
  const std::string second = plant(std::string(sample_section), "kernel: conv", "kernel: other");
  text += plant(second, "op_kind: Conv2D", "op_kind: Conv8D");
  std::vector<std::string> names;
  int line = 0;
  for (const Diagnostic& found : parse_document(text, "").diagnostics) {
    names.push_back(found.name);
    EXPECT_GE(found.line, line);
    line = found.line;
  }
  EXPECT_THAT(names, ::testing::ElementsAre("UnknownOpKind", "BadLayoutFlag", "CostExprParse",
                                            "UnknownAdmissibilityEnum", "UnknownOpKind"));
}

INSTANTIATE_TEST_SUITE_P(Format, Rules, ::testing::ValuesIn(faults),
                         [](const auto& row) { return std::string(row.param.id); });

}  // namespace
}  // namespace convoke::contract::testing

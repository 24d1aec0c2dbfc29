// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "program.hpp"

namespace convoke::apps_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string front_matter = R"(---
fkc_version: 1
provider:
  name: test
  backend: Cpu
  kernel_source: plain
---
)";

// One kernel with an optional bias: two keys.
const std::string section = R"doc(
## conv2d_f32

Direct convolution in plain loops.

```fkc
kernel: conv2d_f32
op_kind: Conv2D
blurb: "Direct convolution in plain loops."
entry_point: "test::conv2d_f32"
kernel_revision_hash: auto
accept:
  inputs:
    - name: x
      dtypes: [F32]
      layout: { contiguous: required, strided: rejected }
      rank: 4
    - name: weight
      dtypes: [F32]
      layout: { contiguous: required, strided: rejected }
      rank: 4
      shape_constraint: "weight.dim[1] == x.dim[1] / groups"
    - name: bias
      dtypes: [F32]
      optional: true
      layout: { contiguous: required, strided: rejected }
      rank: 1
  op_params:
    variant: Conv2D
    fields:
      x_shape: { kind: "[usize; 4]" }
      w_shape: { kind: "[usize; 4]" }
      out_shape: { kind: "[usize; 4]" }
      stride: { kind: "(usize, usize)" }
      padding: { kind: "(usize, usize)" }
      dilation: { kind: "(usize, usize)" }
      groups: { kind: usize, constraint: "groups != 0" }
return:
  outputs:
    - name: out
      dtype_rule: "passthrough(x)"
      shape_rule: "conv2d(params)"
      layout_guarantee: contiguous
      aliasing: none
caps:
  awkward_layout_strategy: requires_contiguous
cost:
  provenance: judge_measured
  class: conv
precision:
  bit_stable_on_same_hardware: true
  audited: true
determinism: same_hardware_bitwise
```
)doc";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "no such text: " + from : text.replace(at, from.size(), to);
}

int line_of(const std::string& text, const std::string& part) {
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(part)), '\n'));
}

const std::string document = front_matter + section;
const std::string faulty = with(document, "determinism: same_hardware_bitwise", "determinism: sometimes");

TEST(ContractsCheck, CountsKernelsAndKeys) {
  const Scratch scratch;
  const std::string path = scratch.write("any.name", document);
  const Ran ran = convoke({"contracts", "check", path});
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, EndsWith(path + ": 1 kernel, 2 keys\n"));
}

TEST(ContractsCheck, PointsAtTheFault) {
  const Scratch scratch;
  const std::string path = scratch.write("faulty.md", faulty);
  const Ran ran = convoke({"contracts", "check", path});
  EXPECT_EQ(ran.exit, 1);
  const int line = line_of(faulty, "determinism:");
  EXPECT_THAT(ran.out, AllOf(HasSubstr(path + ":" + std::to_string(line) + ":"), HasSubstr("error"),
                             HasSubstr("determinism: sometimes"), HasSubstr("^"), HasSubstr("1 error")));
}

TEST(ContractsCheck, GivesJson) {
  const Scratch scratch;
  const std::string good = scratch.write("good.md", with(document, "kernel_source: plain", "kernel_source: other"));
  const std::string bad = scratch.write("bad.md", with(faulty, "name: test", "name: another"));
  const Ran ran = convoke({"contracts", "check", "--json", good, bad});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.err, IsEmpty());
  const Json json = json_of(ran);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_THAT(keys_of(json), ElementsAre("documents"));
  ASSERT_EQ(json.at("documents").size(), 2U);
  const Json& first = json.at("documents").at(0);
  EXPECT_THAT(keys_of(first), ElementsAre("path", "kernels", "keys", "findings"));
  EXPECT_EQ(first.at("path"), good);
  EXPECT_EQ(first.at("kernels"), 1);
  EXPECT_EQ(first.at("keys"), 2);
  const Json& finding = json.at("documents").at(1).at("findings").at(0);
  EXPECT_THAT(keys_of(finding), ElementsAre("rule", "name", "severity", "line", "column", "message"));
  EXPECT_EQ(finding.at("severity"), "error");
  EXPECT_EQ(finding.at("line"), line_of(faulty, "determinism:"));
}

TEST(ContractsCheck, WarningsAloneAreWell) {
  const Scratch scratch;
  const std::string path = scratch.write("warned.md", with(document, "\nDirect convolution in", "\nSomething else in"));
  const Ran ran = convoke({"contracts", "check", "--json", path});
  EXPECT_EQ(ran.exit, 0);
  const Json findings = json_of(ran).at("documents").at(0).at("findings");
  ASSERT_EQ(findings.size(), 1U) << ran.out;
  EXPECT_EQ(findings.at(0).at("severity"), "warning");
  EXPECT_EQ(findings.at(0).at("name"), "BlurbMismatch");
  EXPECT_EQ(findings.at(0).at("rule"), "11");
}

TEST(ContractsCheck, WalksFoldersInOrderAndAddsUp) {
  const Scratch scratch;
  scratch.write("docs/b.md", document);
  scratch.write("docs/a/deep.md", with(document, "kernel_source: plain", "kernel_source: plain\n  link_registry: r"));
  scratch.write("docs/note.txt", "not a document");
  const Ran ran = convoke({"contracts", "check", scratch.at("docs")});
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("a/deep.md: "), HasSubstr("total: 2 documents"), testing::Not(HasSubstr("note.txt"))));
  EXPECT_LT(ran.out.find("a/deep.md: 1"), ran.out.find("b.md: 1"));
}

TEST(ContractsCheck, InheritsTheProviderOfItsFolder) {
  const Scratch scratch;
  const std::string bare = with(document, "  backend: Cpu\n  kernel_source: plain\n", "");
  const std::string path = scratch.write("docs/bare.md", bare);
  EXPECT_EQ(convoke({"contracts", "check", path}).exit, 1) << "the front matter lacks what no one supplies";
  scratch.write("docs/_provider.fkc.md", front_matter);
  const Ran file = convoke({"contracts", "check", path});
  EXPECT_EQ(file.exit, 0) << file.out;
  const Ran folder = convoke({"contracts", "check", scratch.at("docs")});
  EXPECT_EQ(folder.exit, 0) << folder.out;
  EXPECT_THAT(folder.out, EndsWith("bare.md: 1 kernel, 2 keys\n"));
}

TEST(ContractsCheck, CannotRunWithoutDocuments) {
  const Scratch scratch;
  for (const std::string& path : {scratch.at("none.md"), scratch.path().native()}) {
    const Ran ran = convoke({"contracts", "check", path});
    EXPECT_EQ(ran.exit, 2);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, AllOf(StartsWith("convoke: error: "), HasSubstr(path)));
  }
}

TEST(ContractsCheck, ChecksTheOthersWhereAPathCannotBeRead) {
  const Scratch scratch;
  const std::string good = scratch.write("good.md", document), none = scratch.at("none.md");
  const Ran text = convoke({"contracts", "check", none, good});
  EXPECT_EQ(text.exit, 2);
  EXPECT_THAT(text.out, EndsWith(good + ": 1 kernel, 2 keys\n"));
  EXPECT_THAT(text.err, AllOf(StartsWith("convoke: error: "), HasSubstr(none)));
  const Json documents = json_of(convoke({"contracts", "check", "--json", none, good})).at("documents");
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents.at(0).at("keys"), 2);
  EXPECT_EQ(documents.at(1).at("path"), none);
  const Json& finding = documents.at(1).at("findings").at(0);
  EXPECT_THAT(keys_of(finding), ElementsAre("rule", "name", "severity", "line", "column", "message"));
  EXPECT_EQ(finding.at("rule"), "");
  EXPECT_EQ(finding.at("name"), "Io");
  EXPECT_EQ(finding.at("line"), 0);
}

TEST(ContractsCheck, ShowsNoControlCharactersOfADocument) {
  const Scratch scratch;
  const std::string path = scratch.write("evil.md", with(faulty, "sometimes", "\"some\x1b[2Jtimes\""));
  const Ran ran = convoke({"contracts", "check", path});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("\x1b")));
}

TEST(ContractsCheck, StaysJsonWhateverTheBytes) {
  const Scratch scratch;
  const std::string path = scratch.write("bytes.md", with(document, "name: test", "name: \xff\xfe\x80"));
  EXPECT_TRUE(json_of(convoke({"contracts", "check", "--json", path})).is_object());
}

TEST(ContractsList, ListsTheBuiltInKernels) {
  const Ran ran = convoke({"contracts", "list"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("KERNEL"), HasSubstr("DETERMINISM"), HasSubstr("ENTRY POINT"),
                             HasSubstr("cpu/portable/conv2d_f32/f32,f32,f32,f32#"),
                             HasSubstr("cpu/portable/conv_transpose2d_bf16/bf16,bf16,bf16#")));
}

TEST(ContractsList, ListsADocumentWithoutLinkingIt) {
  const Scratch scratch;
  const std::string path = scratch.write("mine.md", document);
  const Ran text = convoke({"contracts", "list", path});
  EXPECT_EQ(text.exit, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("cpu/plain/conv2d_f32/f32,f32,f32,f32#"), HasSubstr("test::conv2d_f32"),
                              HasSubstr("same_hardware_bitwise"), EndsWith("1 kernel, 2 keys\n")));
  const Json json = json_of(convoke({"contracts", "list", "--json", path}));
  const Json& contract = json.at("contracts").at(0);
  EXPECT_EQ(contract.at("kernel"), "conv2d_f32");
  ASSERT_EQ(contract.at("keys").size(), 2U);
  const std::string hash = contract.at("hash");
  ASSERT_EQ(hash.size(), 16U);
  EXPECT_EQ(contract.at("keys").at(1).at("id"), "cpu/plain/conv2d_f32/f32,f32,f32#" + hash.substr(0, 8));
}

TEST(ContractsList, ListsTheGoodAndNamesTheBroken) {
  const Scratch scratch;
  const std::string good = scratch.write("good.md", document), bad = scratch.write("bad.md", faulty);
  const Ran ran = convoke({"contracts", "list", bad, good});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, AllOf(HasSubstr(good), EndsWith("1 kernel, 2 keys\n")));
  EXPECT_THAT(ran.err,
              AllOf(StartsWith("convoke: error: "), HasSubstr(bad + ": 1 error; run 'convoke contracts check")));
  EXPECT_EQ(json_of(convoke({"contracts", "list", bad, good, "--json"})).at("contracts").size(), 1U);
}

TEST(ContractsShow, KeepsLabelsAndValuesApart) {
  const Ran ran = convoke({"contracts", "show", "conv_transpose2d_f32"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("  output_padding "));
  EXPECT_THAT(ran.out, testing::Not(HasSubstr(" 1 bytes")));
}

TEST(ContractsShow, ShowsOneContract) {
  const Scratch scratch;
  const std::string path = scratch.write("mine.md", document);
  for (const char* name : {"conv2d_f32", "cpu/plain/conv2d_f32/*"}) {
    const Ran ran = convoke({"contracts", "show", name, "--contracts", path});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(StartsWith("conv2d_f32: Direct convolution in plain loops.\n"),
                               HasSubstr("weight.dim[1] == x.dim[1] / groups"), HasSubstr("F32, optional"),
                               HasSubstr("same_hardware_bitwise"), HasSubstr(path + ":")));
  }
  const Ran none = convoke({"contracts", "show", "conv3d"});
  EXPECT_EQ(none.exit, 2);
  EXPECT_THAT(none.err, HasSubstr("'convoke contracts list'"));
}

TEST(Contracts, RunNamesTheFaultsOfAForeignDocument) {
  const Scratch scratch;
  const std::string path = scratch.write("faulty.md", faulty);
  const Ran ran = convoke({"run", "conv2d", "x=1x1x3x3", "weight=1x1x2x2", "--contracts", path});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, AllOf(StartsWith("convoke: error: the contract documents have errors"),
                             HasSubstr(path + ":" + std::to_string(line_of(faulty, "determinism:")) + ":")));
}

// The document as someone would have it whose editor dropped every leading blank.
std::string flattened(const std::string& text) {
  std::string flat;
  bool start = true;
  for (const char c : text) {
    if (start && c == ' ') continue;
    start = c == '\n';
    flat += c;
  }
  return flat;
}

TEST(ContractsFmt, GivesALostIndentationBack) {
  const Scratch scratch;
  const std::string path = scratch.write("flat.md", flattened(document));
  const Ran print = convoke({"contracts", "fmt", path});
  ASSERT_EQ(print.exit, 0) << print.err;
  EXPECT_EQ(read_bytes(path), flattened(document)) << "fmt without --write only prints";
  EXPECT_THAT(print.out, HasSubstr("\n  inputs:\n"));
  EXPECT_EQ(convoke({"contracts", "fmt", "--check", path}).exit, 1);
  EXPECT_EQ(read_bytes(path), flattened(document)) << "--check changes nothing";

  EXPECT_EQ(convoke({"contracts", "fmt", "--write", path}).exit, 0);
  EXPECT_EQ(read_bytes(path), print.out);
  EXPECT_EQ(scratch.entries(), 1U) << "a temporary file was left";
  EXPECT_EQ(convoke({"contracts", "fmt", "--check", path}).exit, 0);
  const Ran check = convoke({"contracts", "check", path});
  EXPECT_EQ(check.exit, 0);
  EXPECT_THAT(check.out, EndsWith(": 1 kernel, 2 keys\n"));
}

TEST(ContractsFmt, LeavesEveryFileWhereOneIsFaulty) {
  const Scratch scratch;
  const std::string flat = scratch.write("flat.md", flattened(document));
  const std::string broken = with(document, "fkc_version: 1", "fkc_version: [1");
  const std::string bad = scratch.write("bad.md", broken);
  const Ran ran = convoke({"contracts", "fmt", "--write", flat, bad});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, HasSubstr("bad.md:"));
  EXPECT_EQ(read_bytes(flat), flattened(document));
  EXPECT_EQ(read_bytes(bad), broken);
}

TEST(ContractsFmt, PrintsOneDocumentAtATime) {
  const Scratch scratch;
  const std::string first = scratch.write("a.md", document), second = scratch.write("b.md", document);
  EXPECT_EQ(convoke({"contracts", "fmt", first, second}).exit, 2);
  EXPECT_EQ(convoke({"contracts", "fmt", "--write", "--check", first}).exit, 2);
}

}  // namespace
}  // namespace convoke::apps_test

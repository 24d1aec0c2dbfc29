// SPDX-License-Identifier: Apache-2.0 OR MIT
// A small document without a single finding, and the means to plant a fault in it.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "contract/contract.hpp"
#include "contract/text.hpp"

namespace convoke::contract::testing {

inline constexpr std::string_view sample_front = R"doc(---
fkc_version: 1
provider:
  name: sample
  backend: Cpu
  kernel_source: "plain"
  link_registry: sample::TABLE
  revision_base: "rev 1"
---
# Sample

Prose about everything.

)doc";

inline constexpr std::string_view sample_section = R"doc(## conv (a sample)
One line of prose.

```fkc
kernel: conv
op_kind: Conv2D
blurb: "One line of prose."
entry_point: "sample::conv"
kernel_revision_hash: auto
accept:
  inputs:
    - name: x
      dtypes: [F32]
      layout: { contiguous: required, strided: rejected }
      rank: 4
    - name: weight
      dtypes: [F32]
      layout: { contiguous: accepted, strided: accepted, awkward_layout_strategy: handles_strided }
      rank: "4..=4"
      shape_constraint: "weight.dim[1] == x.dim[1] / groups"
    - name: bias
      dtypes: [F32]
      rank: 1
      optional: true
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
      dtype_rule: passthrough(x)
      shape_rule: conv2d(params)
      layout_guarantee: contiguous
      aliasing: none
caps:
  awkward_layout_strategy: requires_contiguous
  fast_paths:
    - { when: "groups == 1", class: conv }
  in_place: false
  alignment_bytes: 64
cost:
  provenance: judge_measured
  class: conv
  flops: "2 * out_shape[0] * groups"
precision:
  bit_stable_on_same_hardware: true
  max_ulp: ~
  audited: true
  notes: "why"
determinism: same_hardware_bitwise
numerics:
  order: law
  accumulator: F32
  absent_taps: skip
  invariant_to: [threads, batch]
```
)doc";

inline std::string sample() { return std::string(sample_front) + std::string(sample_section); }

/// `text` with its only occurrence of `from` replaced; a fault that cannot be planted is a failure of the test.
inline std::string plant(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) {
    ADD_FAILURE() << "`" << from << "` does not occur exactly once";
    return text;
  }
  return text.replace(at, from.size(), to);
}

/// `text` as copying from a page leaves it: without the blanks that lines begin with.
inline std::string flattened(std::string_view text) {
  std::string out;
  for (const std::string_view line : split_lines(text)) out += fmt::format("{}\n", trim_left(line));
  return out;
}

/// Number of the first line of `text` that contains `part`; 0: none does.
inline int line_of(std::string_view text, std::string_view part) {
  const std::size_t at = text.find(part);
  if (at == std::string_view::npos) return 0;
  return static_cast<int>(std::ranges::count(text.substr(0, at), '\n')) + 1;
}

/// All findings as a compiler would print them.
inline std::string rendered(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) out += render(diagnostic);
  return out;
}

inline std::size_t count_errors(const std::vector<Diagnostic>& diagnostics) {
  return static_cast<std::size_t>(std::ranges::count(diagnostics, Severity::error, &Diagnostic::severity));
}

/// A file of the repository.
inline std::string read_repository_file(const std::string& path) {
  std::ifstream file(std::string(CONVOKE_SOURCE_DIR "/") + path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace convoke::contract::testing

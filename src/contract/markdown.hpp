// SPDX-License-Identifier: Apache-2.0 OR MIT
// The anatomy of a document (docs/format.md, A document): front matter, `## ` sections, and the fences in them. cmark
// says what is a fence or a heading and what only looks like one (inside another fence, a comment, an indented block);
// text is always taken from the source, so that places stay those of the file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace convoke::contract {

/// A closed ```` ```fkc ```` fence. Lines of the file; the YAML is what lies between them.
struct Fence {
  int open_line = 0;
  int close_line = 0;
};

/// What stands under one `## ` heading.
struct Section {
  std::string title;
  int line = 0;
  int prose_line = 0;  ///< first line of the first paragraph when that opens the section; 0: none does
  std::vector<Fence> fences = {};
  std::vector<int> unclosed = {};  ///< lines that open a ```` ```fkc ```` fence that nothing closes
};

struct Outline {
  bool has_front_matter = false;
  int front_begin = 0, front_end = 0;  ///< lines of the two `---` rules
  std::vector<Fence> orphans;          ///< fences before the first section
  std::vector<Section> sections;
};

/// Never fails; `lines` are those of the whole file, without a byte order mark.
Outline read_outline(const std::vector<std::string_view>& lines);

}  // namespace convoke::contract

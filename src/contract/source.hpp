// SPDX-License-Identifier: Apache-2.0 OR MIT
// A document's text taken apart, before anything in it is understood; what reading and formatting have in common.
#pragma once

#include <string_view>
#include <vector>

#include "contract/markdown.hpp"
#include "contract/report.hpp"
#include "contract/yaml.hpp"

namespace convoke::contract {

/// Bytes a document may have; real ones have up to a quarter of a million.
inline constexpr std::size_t max_document_bytes = std::size_t{4} << 20;

/// Views into the text that was taken apart.
struct Source {
  std::vector<std::string_view> lines;
  Outline outline;
  Chunk front;
  std::vector<std::vector<Chunk>> blocks;  ///< of each section, one for each fence
  int flattened = 0;                       ///< a line that shows that the indentation was lost; 0: it was not
};

/// The lines of `text` without a byte order mark; empty where the text is too large to be looked at.
std::vector<std::string_view> source_lines(std::string_view text);

/// Why `text` cannot be a document at all (size, encoding, control characters), reported; true: it can.
bool check_text(std::string_view text, Report& report);

/// Takes a text apart that check_text() let through, and recovers lost indentation.
Source take_apart(std::vector<std::string_view> lines);

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The restricted YAML of a contract (docs/format.md, A document) as a small tree in which every key and value knows its
// place in the file. Anchors, aliases, merge keys, tags, tabs in indentation, duplicate keys, deep nesting, huge
// scalars and the words that YAML 1.1 takes for booleans are errors here, so nothing later has to think of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/report.hpp"
#include "contract/text.hpp"

namespace convoke::contract {

/// One stretch of YAML in a document: the front matter or a block.
struct Chunk {
  std::vector<std::string_view> lines;
  int first_line = 0;       ///< line of the file that `lines[0]` is
  std::vector<int> indent;  ///< blanks that recovery puts before each line; empty: none
};

struct YamlNode {
  enum class Kind { null, scalar, sequence, map };

  Kind kind = Kind::null;
  bool plain = false;  ///< a scalar without quotes
  std::string value;
  Position at;
  std::string key;  ///< in a map: under which key this node stands
  Position key_at;
  std::vector<YamlNode> items;  ///< of a sequence or a map, in the order of the file

  /// Value of `wanted` in a map; nullptr where there is none.
  const YamlNode* find(std::string_view wanted) const noexcept;
  bool is_null() const noexcept { return kind == Kind::null; }
};

inline constexpr std::size_t max_chunk_bytes = std::size_t{256} << 10;
inline constexpr std::size_t max_scalar_bytes = std::size_t{16} << 10;
inline constexpr std::size_t max_depth = 16;

/// The root map of `chunk`; nullopt after any error, which is in `report`. An empty chunk is an empty map.
std::optional<YamlNode> parse_yaml(const Chunk& chunk, Report& report);

/// The text of a chunk with its recovered indentation, each line ended by LF.
std::string text_of(const Chunk& chunk);

}  // namespace convoke::contract

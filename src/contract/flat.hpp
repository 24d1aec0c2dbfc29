// SPDX-License-Identifier: Apache-2.0 OR MIT
// Documents whose leading blanks were lost in transit. What encloses a key is recoverable, because no key of the format
// means two things below the same enclosing key (docs/format.md, Documents without indentation).
#pragma once

#include <vector>

#include "contract/yaml.hpp"

namespace convoke::contract {

enum class ChunkKind { front_matter, block };

/// Line of the file where a mapping such as `accept:` is followed by its keys without indentation although no line of
/// any chunk has any; 0: the document is as it should be.
int find_flattened(const std::vector<Chunk>& chunks);

/// Sets `chunk.indent` from the schema, line by line: the number of blanks each line stood behind, in the indentation
/// that the format's documents use (two a level, list items two behind their key).
void recover_indent(Chunk& chunk, ChunkKind kind);

}  // namespace convoke::contract

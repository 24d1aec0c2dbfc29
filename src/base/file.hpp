// SPDX-License-Identifier: Apache-2.0 OR MIT
// Files as whole strings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "convoke/error.hpp"

namespace convoke {

inline constexpr std::size_t max_text_bytes = std::size_t{64} << 20;

/// All bytes of a file. Errors: io (not there, a directory, unreadable, longer than `max_bytes`), rule `file`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = max_text_bytes);

/// Writes a file whole or not at all: a temporary file beside it, synced, then renamed over it. Errors: io, rule
/// `file`; an older file at `path` is then as it was. A path that names a device or pipe is written directly.
Result<void> write_file_whole(const std::string& path, std::string_view bytes);

/// Paths (`dir/name`) of the regular files in `dir` whose names end in `suffix`, sorted bytewise; not recursive.
/// Errors: io, rule `file`.
Result<std::vector<std::string>> list_files(const std::string& dir, std::string_view suffix);

/// Whether `path` is a directory.
bool is_directory(const std::string& path) noexcept;

}  // namespace convoke

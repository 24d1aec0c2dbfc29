// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/source.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "contract/flat.hpp"

namespace convoke::contract {
namespace {

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// The lines strictly between two lines of the file.
Chunk chunk_between(const std::vector<std::string_view>& lines, int open, int close) {
  Chunk chunk;
  chunk.first_line = open + 1;
  for (int line = open + 1; line < close; ++line) chunk.lines.push_back(lines[static_cast<std::size_t>(line) - 1]);
  return chunk;
}

void recover(Source& source) {
  std::vector<Chunk> chunks{source.front};
  for (const auto& section : source.blocks) chunks.insert(chunks.end(), section.begin(), section.end());
  source.flattened = find_flattened(chunks);
  if (source.flattened == 0) return;
  recover_indent(source.front, ChunkKind::front_matter);
  for (auto& section : source.blocks)
    for (Chunk& block : section) recover_indent(block, ChunkKind::block);
}

}  // namespace

std::vector<std::string_view> source_lines(std::string_view text) {
  if (text.size() > max_document_bytes) return {};
  return split_lines(without_mark(text));
}

bool check_text(std::string_view text, Report& report) {
  if (text.size() > max_document_bytes) {
    report.error({1, 1},
                 {"", "DocumentTooLarge", fmt::format("{} bytes; the limit is {}", text.size(), max_document_bytes),
                  fmt::format("at most {} bytes", max_document_bytes)});
    return false;
  }
  text = without_mark(text);
  const auto bad = find_bad_byte(text);
  if (!bad) return true;
  const std::string_view before = text.substr(0, *bad);
  const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  report.error(
      {line, static_cast<int>(*bad - start) + 1},
      {"", "BadEncoding", fmt::format("the byte 0x{:02x} cannot stand here", static_cast<unsigned char>(text[*bad])),
       "UTF-8 text without control characters"});
  return false;
}

Source take_apart(std::vector<std::string_view> lines) {
  Source source;
  source.lines = std::move(lines);
  source.outline = read_outline(source.lines);
  if (source.outline.has_front_matter)
    source.front = chunk_between(source.lines, source.outline.front_begin, source.outline.front_end);
  for (const Section& section : source.outline.sections) {
    std::vector<Chunk>& blocks = source.blocks.emplace_back();
    for (const Fence& fence : section.fences)
      blocks.push_back(chunk_between(source.lines, fence.open_line, fence.close_line));
  }
  recover(source);
  return source;
}

}  // namespace convoke::contract

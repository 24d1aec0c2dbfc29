// SPDX-License-Identifier: Apache-2.0 OR MIT
// Writing a document out: recovered indentation, LF line ends, no byte order mark. Lines stay lines, prose stays prose.
#include <exception>
#include <string>

#include "contract/contract.hpp"
#include "contract/source.hpp"

namespace convoke::contract {
namespace {

/// Puts the chunk's lines, indented, in place of the source's.
void overlay(const Chunk& chunk, std::vector<std::string>& lines) {
  for (std::size_t i = 0; i < chunk.lines.size(); ++i) {
    const std::string_view text = trim_right(chunk.lines[i]);
    const int blanks = text.empty() || i >= chunk.indent.size() ? 0 : chunk.indent[i];
    const std::size_t at = static_cast<std::size_t>(chunk.first_line) - 1 + i;
    lines[at] = std::string(static_cast<std::size_t>(blanks), ' ');
    lines[at] += text;
  }
}

std::string write(const Source& source) {
  std::vector<std::string> lines(source.lines.begin(), source.lines.end());
  overlay(source.front, lines);
  for (const auto& section : source.blocks)
    for (const Chunk& block : section) overlay(block, lines);
  std::string out;
  for (const std::string& line : lines) {
    out += line;
    out += '\n';
  }
  return out;
}

/// Formatting needs no more of a document than that its YAML can be read.
void check_readable(const Source& source, Report& report) {
  if (!source.outline.has_front_matter) {
    report.error({1, 1}, {"", "MalformedFrontMatter", "the document has no front matter", "`---` as the first line"});
    return;
  }
  parse_yaml(source.front, report);
  for (const auto& section : source.blocks)
    for (const Chunk& block : section) parse_yaml(block, report);
}

}  // namespace

tl::expected<std::string, std::vector<Diagnostic>> format_document(std::string_view text, std::string_view path) {
  try {
    const std::vector<std::string_view> lines = source_lines(text);
    Report report(path, lines);
    if (!check_text(text, report)) return tl::unexpected(report.take());
    const Source source = take_apart(lines);
    check_readable(source, report);
    if (report.errors() > 0) return tl::unexpected(report.take());
    return write(source);
  } catch (const std::exception& error) {
    Diagnostic failure;
    failure.name = "ReaderFailure";
    failure.message = error.what();
    failure.path = path;
    return tl::unexpected(std::vector<Diagnostic>{failure});
  }
}

}  // namespace convoke::contract

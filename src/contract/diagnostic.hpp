// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace convoke::contract {

enum class Severity { warning, error };

/// Bytes of a source line that a diagnostic shows; longer lines are cut around the column.
inline constexpr std::size_t source_width = 120;

/// A place in a document, with the text of its line for people (cut around the column where it is long).
struct Place {
  int line = 0;    ///< 1-based line of the file; 0: the file as a whole
  int column = 0;  ///< 1-based column in bytes
  std::string source_line;
  int source_column = 0;  ///< where `column` lies in `source_line`
};

/// One finding in a document, in a compiler's manner.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string rule;      ///< number of the format's rule as text (`4`, `8a`), or empty
  std::string name;      ///< error name, such as `LayoutIncoherent`
  std::string message;   ///< what is wrong, with the values
  std::string accepted;  ///< what would be accepted; may be empty
  std::string path;
  int line = 0;    ///< 1-based line of the file; 0: the file as a whole
  int column = 0;  ///< 1-based column in bytes
  std::string source_line;
  int source_column = 0;  ///< where `column` lies in `source_line`; 0: at `column` itself, the line is whole
};

/// Puts findings in the order of path, line and column; those of one place stay as they were, and those about a file as
/// a whole come behind its others.
void sort_by_place(std::vector<Diagnostic>& diagnostics);

/// `path:line:column: error: message [4 LayoutIncoherent]`, the source line, a caret, and a note with what is accepted;
/// each on a line of its own, every line with its end.
std::string render(const Diagnostic& diagnostic);

}  // namespace convoke::contract

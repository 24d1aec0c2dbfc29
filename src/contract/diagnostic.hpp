// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string>
#include <vector>

namespace convoke::contract {

enum class Severity { warning, error };

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
};

/// `path:line:column: error: message [4 LayoutIncoherent]`, the source line, a caret, and a note with what is accepted.
std::string render(const Diagnostic& diagnostic);

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Any bytes are a document: reading and formatting them ends, says what is wrong, and never contradicts itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "contract/contract.hpp"
#include "contract/report.hpp"

namespace {

using namespace convoke::contract;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_findings(const std::vector<Diagnostic>& found) {
  require(found.size() <= 2 * Report::max_findings + 1);
  for (const Diagnostic& diagnostic : found) require(!render(diagnostic).empty());
}

void check_format(std::string_view text) {
  const auto once = format_document(text, "fuzz");
  if (!once) return check_findings(once.error());
  const auto twice = format_document(*once, "fuzz");
  require(twice && *twice == *once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<ParsedDocument> documents;
  documents.push_back(parse_document(text, "fuzz"));
  const ParsedDocument& document = documents.front();
  check_findings(document.diagnostics);
  require(!document.has_errors() || document.contracts.empty());
  for (const Contract& contract : document.contracts) require(contract.registrable || keys(contract).empty());
  check_findings(cross_check(documents));
  check_format(text);
  return 0;
}

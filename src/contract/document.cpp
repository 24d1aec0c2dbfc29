// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reading one document from its bytes to its contracts.
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <new>

#include "contract/block.hpp"
#include "contract/contract.hpp"
#include "contract/front_matter.hpp"
#include "contract/hash.hpp"
#include "contract/source.hpp"

namespace convoke::contract {
namespace {

bool is_provider_file(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1) == provider_file;  // npos + 1 is 0
}

/// nullopt: there is none that could be read, which is reported.
std::optional<FrontMatter> read_own_front_matter(const Source& source, Report& report) {
  if (!source.outline.has_front_matter) {
    const bool opened = !source.lines.empty() && trim(source.lines[0]) == "---";
    report.error({1, 1}, {"", "MalformedFrontMatter",
                          opened ? "the front matter is never closed" : "the document has no front matter",
                          "`---` as the first line and `---` behind the front matter"});
    return std::nullopt;
  }
  const std::optional<YamlNode> root = parse_yaml(source.front, report);
  if (!root) return std::nullopt;
  return read_front_matter(*root, report);
}

/// The inherited values; what is wrong with them is told under their own path.
FrontMatter read_inherited(const InheritedProvider& inherited, std::vector<Diagnostic>& found) {
  std::vector<std::string_view> lines = source_lines(inherited.text);
  Report report(inherited.path, lines);
  FrontMatter front;
  if (check_text(inherited.text, report))
    front = read_own_front_matter(take_apart(lines), report).value_or(FrontMatter{});
  if (report.errors() > 0) found = report.take();
  return front;
}

/// One document on its way from text to contracts.
class Importer {
 public:
  Importer(const Source& source, const Provider* provider, Report& report)
      : source_(&source), provider_(provider), report_(&report) {}

  std::vector<Contract> read() {
    for (const Fence& orphan : source_->outline.orphans)
      report_->error({orphan.open_line, 1},
                     {"", "OrphanFkcBlock", "a block before the first section", "a `## ` heading above it"});
    std::vector<Contract> contracts;
    for (std::size_t i = 0; i < source_->outline.sections.size(); ++i) {
      const Section& section = source_->outline.sections[i];
      if (check_count(section)) read_section(section, source_->blocks[i].front(), contracts);
    }
    return contracts;
  }

 private:
  bool check_count(const Section& section) {
    if (section.fences.size() == 1) return true;
    if (section.fences.size() > 1) {
      report_->error({section.fences[1].open_line, 1},
                     {"", "MultipleFkcBlocks", fmt::format("the section has {} blocks", section.fences.size()),
                      "one block a section"});
      return false;
    }
    const std::string why =
        section.unclosed.empty() ? "the section has no block" : std::string("this fence is never closed");
    const int line = section.unclosed.empty() ? section.line : section.unclosed[0];
    report_->error({line, 1}, {"", "MissingFkcBlock", why, "one ```fkc fence, closed by ```"});
    return false;
  }

  void read_section(const Section& section, const Chunk& block, std::vector<Contract>& contracts) {
    std::optional<YamlNode> root = parse_yaml(block, *report_);
    if (!root) return;
    // What the block lacks as a whole is told at its fence.
    root->at = {section.fences.front().open_line, 1};
    Contract contract = read_block(*root, provider_, *report_);
    contract.section = section.title;
    contract.line = section.line;
    contract.block_digest = block_digest(block.lines);
    check_blurb(section, contract);
    check_name(*root, contract);
    contracts.push_back(std::move(contract));
  }

  void check_blurb(const Section& section, const Contract& contract) {
    if (contract.blurb.empty()) return;
    const int line = section.prose_line;
    if (line > 0 && trim(source_->lines[static_cast<std::size_t>(line) - 1]) == contract.blurb) return;
    report_->warning({line > 0 ? line : section.line, 1},
                     {"11", "BlurbMismatch", "the first line of prose is not the blurb", contract.blurb});
  }

  void check_name(const YamlNode& root, const Contract& contract) {
    if (contract.kernel.empty()) return;
    const YamlNode* name = root.find("kernel");
    const auto [first, inserted] = names_.emplace(contract.kernel, name->at.line);
    if (inserted) return;
    report_->error(name->at, {"", "DuplicateKernel",
                              fmt::format("`{}` is already the kernel at line {}", contract.kernel, first->second),
                              "a name that no other section has"});
  }

  const Source* source_;
  const Provider* provider_;
  Report* report_;
  std::map<std::string, int> names_;  ///< kernels so far, and their lines
};

std::optional<Provider> find_provider(const Source& source, std::string_view path, const FrontMatter& own,
                                      const InheritedProvider* inherited, Report& report,
                                      std::vector<Diagnostic>& elsewhere) {
  if (!is_provider_file(path))
    return complete(inherited == nullptr ? own : inherit(own, read_inherited(*inherited, elsewhere)), report);
  // A file of values to inherit may leave some of them to the files that inherit.
  const bool partial = source.outline.sections.empty() && own.fkc_version.value_or(0) <= newest_version;
  return partial ? std::nullopt : complete(own, report);
}

ParsedDocument read(std::string_view text, std::string_view path, const InheritedProvider* inherited) {
  ParsedDocument document;
  document.path = path;
  const std::vector<std::string_view> lines = source_lines(text);
  Report report(path, lines);
  std::vector<Diagnostic> elsewhere;
  if (check_text(text, report)) {
    const Source source = take_apart(lines);
    const std::optional<FrontMatter> front = read_own_front_matter(source, report);
    const bool too_new = front && front->fkc_version.value_or(0) > newest_version;
    if (front) document.provider = find_provider(source, path, *front, inherited, report, elsewhere);
    if (source.flattened > 0)
      report.warning(
          {source.flattened, 1},
          {"", "IndentationLost", "the leading blanks of this document were lost; its keys are read by their names",
           "the document that `convoke contracts fmt` writes"});
    const Provider* provider = document.provider ? &*document.provider : nullptr;
    if (!too_new) document.contracts = Importer(source, provider, report).read();
  }
  document.diagnostics = report.take();
  std::ranges::move(elsewhere, std::back_inserter(document.diagnostics));
  if (document.has_errors()) document.contracts.clear();
  return document;
}

ParsedDocument failed(std::string_view path, std::string_view name, std::string message) {
  ParsedDocument document;
  document.path = path;
  Diagnostic diagnostic;
  diagnostic.name = name;
  diagnostic.message = std::move(message);
  diagnostic.path = path;
  document.diagnostics.push_back(std::move(diagnostic));
  return document;
}

}  // namespace

bool ParsedDocument::has_errors() const noexcept {
  return std::ranges::any_of(diagnostics, [](const Diagnostic& d) { return d.severity == Severity::error; });
}

ParsedDocument parse_document(std::string_view text, std::string_view path, const InheritedProvider* inherited) {
  try {
    return read(text, path, inherited);
  } catch (const std::bad_alloc&) {
    return failed(path, "OutOfMemory", "not enough memory to read the document");
  } catch (const std::exception& error) {
    return failed(path, "ReaderFailure", fmt::format("a library failed on this document: {}", error.what()));
  }
}

}  // namespace convoke::contract

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Typed access to the keys of one mapping. Each value that is asked for is checked for its type; what nobody asked for
// is reported at the end as an unknown key, which later versions of the format may know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/report.hpp"
#include "contract/yaml.hpp"

namespace convoke::contract {

/// A word with its place.
struct Word {
  std::string text;
  Position at;
};

class Reader {
 public:
  /// `path` names the mapping in messages, such as `cost.memory`; empty: the block itself. A node that is no mapping is
  /// reported and read as an empty one; nullptr and null are empty without a report.
  Reader(const YamlNode* node, std::string_view path, Report& report);

  /// Where the mapping stands.
  Position at() const noexcept { return at_; }
  /// `path.key`.
  std::string name(std::string_view key) const;
  /// The place of a key or, where it is absent, of the mapping.
  Position place(std::string_view key) const;

  /// The value of `key` whatever its type; nullptr: absent or `~`.
  const YamlNode* get(std::string_view key);
  /// A word or text, trimmed. Numbers and booleans are words here, as YAML's types do not count.
  std::optional<std::string> text(std::string_view key);
  /// As text(), but absence is `MissingField`; an empty text counts as absent.
  std::optional<std::string> required(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  std::optional<std::uint64_t> natural(std::string_view key);
  std::optional<double> real(std::string_view key);
  /// A list of words; a key with another value is reported. Absent: empty.
  std::vector<Word> words(std::string_view key);
  /// A mapping whose keys are free; absent: nullptr.
  const YamlNode* map(std::string_view key);
  /// The items of a list; absent: nullptr.
  const std::vector<YamlNode>* list(std::string_view key);

  /// Reports a required key that is not there.
  void missing(std::string_view key);
  void error(std::string_view key, Finding finding) { report_->error(place(key), std::move(finding)); }
  void warning(std::string_view key, Finding finding) { report_->warning(place(key), std::move(finding)); }
  Report& report() noexcept { return *report_; }

  /// Warns about every key that nobody asked for.
  void finish();

 private:
  void bad_type(const YamlNode& node, std::string_view key, std::string_view wanted);
  const YamlNode* scalar(std::string_view key, std::string_view wanted);

  const YamlNode* node_;
  std::string path_;
  Report* report_;
  Position at_;
  std::vector<bool> used_;               ///< for each entry of the node
  std::vector<std::string_view> asked_;  ///< keys that somebody asked for; they are literals
};

/// The column of byte `offset` of a scalar's value, where the value stands in the source as it is; else that of the
/// scalar.
Position inside(const YamlNode& scalar, std::size_t offset);

}  // namespace convoke::contract

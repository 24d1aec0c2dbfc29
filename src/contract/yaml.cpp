// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/yaml.hpp"

#include <fmt/core.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <stdexcept>
#include <unordered_set>

namespace convoke::contract {
namespace {

/// Thrown through yaml-cpp to end a parse that has already been reported; never leaves parse_yaml.
struct Stop : std::runtime_error {
  Stop() : std::runtime_error("stop") {}
};

bool is_norway(std::string_view word) {
  constexpr std::array<std::string_view, 6> words = {"no", "yes", "on", "off", "n", "y"};
  if (word.empty() || word.size() > 3) return false;
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return std::ranges::find(words, lower) != words.end();
}

/// The keys whose values are true or false (format section 2).
bool is_truth_value(std::string_view key) {
  constexpr std::array<std::string_view, 6> keys = {"registrable", "optional", "requires_ext",
                                                    "in_place",    "audited",  "bit_stable_on_same_hardware"};
  return std::ranges::find(keys, key) != keys.end();
}

constexpr std::string_view written_out = "the value itself, written out in each place";

/// Builds the tree from yaml-cpp's events; refuses what the format forbids where it stands.
class Builder : public YAML::EventHandler {
 public:
  Builder(const Chunk& chunk, Report& report) : chunk_(&chunk), report_(&report) {}

  YamlNode take() { return std::move(root_); }

  /// The file's place of a mark: the line moved by where the chunk starts, the column by what recovery put in.
  Position place(const YAML::Mark& mark) const {
    if (mark.line < 0) return {chunk_->first_line, 1};
    const auto line =
        std::min(static_cast<std::size_t>(mark.line), chunk_->lines.empty() ? 0 : chunk_->lines.size() - 1);
    const int added = line < chunk_->indent.size() ? chunk_->indent[line] : 0;
    return {chunk_->first_line + static_cast<int>(line), std::max(1, mark.column - added + 1)};
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add(node_at(mark, YamlNode::Kind::null));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "12", "YamlAnchorDisallowed", "an alias (`*name`) is not allowed in a contract",
           std::string(written_out));
    add(node_at(mark, YamlNode::Kind::null));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    const bool quoted = tag == "!" && starts_quoted(mark);
    if (!quoted) refuse_tag(mark, tag);
    if (value.size() > max_scalar_bytes) {
      refuse(mark, "", "ScalarTooLong",
             fmt::format("a scalar of {} bytes; the limit is {}", value.size(), max_scalar_bytes),
             fmt::format("at most {} bytes", max_scalar_bytes));
      throw Stop();
    }
    YamlNode node = node_at(mark, YamlNode::Kind::scalar);
    node.plain = !quoted;
    node.value = value;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::sequence);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, anchor, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    std::unordered_set<std::string> keys;
    std::string key;  ///< waits for its value
    Position key_at;
    bool has_key = false;
    bool skip = false;  ///< the pending key is a duplicate or no scalar: its value is dropped
  };

  void refuse(const YAML::Mark& mark, std::string_view rule, std::string_view name, std::string message,
              std::string accepted = {}) {
    report_->error(place(mark), {rule, name, std::move(message), std::move(accepted)});
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0)
      refuse(mark, "12", "YamlAnchorDisallowed", "an anchor (`&name`) is not allowed in a contract",
             std::string(written_out));
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?") return;
    refuse(mark, "", "YamlTagDisallowed", fmt::format("the tag `{}` is not allowed in a contract", tag),
           "the value without a tag");
  }

  /// yaml-cpp gives a quoted or block scalar and one with the tag `!` the same tag; the source tells them apart.
  bool starts_quoted(const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(mark.line);
    if (mark.line < 0 || line >= chunk_->lines.size()) return true;
    const int added = line < chunk_->indent.size() ? chunk_->indent[line] : 0;
    const auto column = static_cast<std::size_t>(std::max(0, mark.column - added));
    return column >= chunk_->lines[line].size() || chunk_->lines[line][column] != '!';
  }

  YamlNode node_at(const YAML::Mark& mark, YamlNode::Kind kind) const {
    YamlNode node;
    node.kind = kind;
    node.at = place(mark);
    return node;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YamlNode::Kind kind) {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (frames_.size() >= max_depth) {
      refuse(mark, "", "NestingTooDeep", fmt::format("nested more than {} levels deep", max_depth),
             fmt::format("at most {} levels", max_depth));
      throw Stop();
    }
    frames_.emplace_back();
    frames_.back().node = node_at(mark, kind);
  }

  void close() {
    YamlNode done = std::move(frames_.back().node);
    frames_.pop_back();
    add(std::move(done));
  }

  void add(YamlNode node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.kind == YamlNode::Kind::map) {
      frame.has_key ? add_value(frame, std::move(node)) : add_key(frame, node);
    } else {
      check_norway(node, {});
      frame.node.items.push_back(std::move(node));
    }
  }

  void add_key(Frame& frame, const YamlNode& node) {
    frame.has_key = true;
    frame.skip = true;
    frame.key = node.value;
    frame.key_at = node.at;
    if (node.kind != YamlNode::Kind::scalar) {
      report_->error(node.at, {"3", "BadScalarType", "a key of a mapping must be a word", "`key: value`"});
    } else if (node.value == "<<" && node.plain) {
      report_->error(node.at, {"12", "YamlAnchorDisallowed", "a merge key (`<<`) is not allowed in a contract",
                               std::string(written_out)});
    } else if (!frame.keys.insert(node.value).second) {
      report_->error(node.at,
                     {"", "DuplicateKey", fmt::format("the key `{}` occurs twice here", node.value), "each key once"});
    } else {
      frame.skip = false;
    }
  }

  void add_value(Frame& frame, YamlNode node) {
    frame.has_key = false;
    if (frame.skip) return;
    // A key without value has the mark of whatever follows; its own place is of more use.
    if (node.is_null() && node.at.line != frame.key_at.line) node.at = frame.key_at;
    check_norway(node, frame.key);
    node.key = std::move(frame.key);
    node.key_at = frame.key_at;
    frame.node.items.push_back(std::move(node));
  }

  void check_norway(const YamlNode& node, std::string_view key) {
    if (node.kind != YamlNode::Kind::scalar || !node.plain || key == "name" || !is_norway(node.value)) return;
    report_->error(
        node.at,
        {"", "NorwayToken", fmt::format("bare `{}` is a boolean to some YAML readers and a word to others", node.value),
         is_truth_value(key) ? "true or false" : fmt::format("\"{}\", in quotes", node.value)});
  }

  const Chunk* chunk_;
  Report* report_;
  std::vector<Frame> frames_;
  YamlNode root_;
};

/// Tabs are found before YAML is read: its own message for them says little.
bool check_lines(const Chunk& chunk, Report& report) {
  std::size_t bytes = 0;
  bool good = true;
  for (std::size_t i = 0; i < chunk.lines.size(); ++i) {
    const std::string_view line = chunk.lines[i];
    bytes += line.size() + 1;
    const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
    const std::size_t tab = line.substr(0, first).find('\t');
    if (tab == std::string_view::npos || first == line.size()) continue;
    report.error({chunk.first_line + static_cast<int>(i), static_cast<int>(tab) + 1},
                 {"", "YamlTabIndent", "a tab in the indentation", "blanks"});
    good = false;
  }
  if (bytes <= max_chunk_bytes) return good;
  report.error({chunk.first_line, 1},
               {"", "BlockTooLarge", fmt::format("{} bytes of YAML; the limit is {}", bytes, max_chunk_bytes),
                fmt::format("at most {} bytes", max_chunk_bytes)});
  return false;
}

void read_events(const Chunk& chunk, Builder& builder, Report& report) {
  try {
    std::string text = text_of(chunk);
    // yaml-cpp takes a quote that nothing closes for closed when a line end is the last it sees.
    text.resize(text.find_last_not_of(" \t\n") + 1);
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return;
    Builder rest(chunk, report);
    if (parser.HandleNextDocument(rest))
      report.error({chunk.first_line, 1}, {"", "YamlSyntax", "more than one YAML document here", "one mapping"});
  } catch (const Stop&) {
    return;  // already reported
  } catch (const YAML::Exception& error) {
    // An alias to nothing is an exception of yaml-cpp, and the same offence as an alias to something.
    if (error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR || error.msg.starts_with(YAML::ErrorMsg::UNKNOWN_ANCHOR))
      builder.OnAlias(error.mark, 0);
    else
      report.error(builder.place(error.mark),
                   {"", "YamlSyntax", fmt::format("not readable as YAML: {}", error.msg), {}});
  }
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view wanted) const noexcept {
  if (kind != Kind::map) return nullptr;
  const auto item = std::ranges::find(items, wanted, &YamlNode::key);
  return item == items.end() ? nullptr : &*item;
}

std::string text_of(const Chunk& chunk) {
  std::string text;
  for (std::size_t i = 0; i < chunk.lines.size(); ++i) {
    if (i < chunk.indent.size() && !chunk.lines[i].empty()) text.append(static_cast<std::size_t>(chunk.indent[i]), ' ');
    text += chunk.lines[i];
    text += '\n';
  }
  return text;
}

std::optional<YamlNode> parse_yaml(const Chunk& chunk, Report& report) {
  const std::size_t before = report.errors();
  if (!check_lines(chunk, report)) return std::nullopt;
  Builder builder(chunk, report);
  read_events(chunk, builder, report);
  if (report.errors() != before) return std::nullopt;
  YamlNode root = builder.take();
  if (root.is_null()) {
    root.kind = YamlNode::Kind::map;
    root.at = {chunk.first_line, 1};
  }
  if (root.kind != YamlNode::Kind::map) {
    const std::string_view found = root.kind == YamlNode::Kind::sequence ? "a list" : "a single value";
    report.error(root.at,
                 {"", "YamlSyntax", fmt::format("{} where a mapping must stand", found), "`key: value` lines"});
    return std::nullopt;
  }
  return root;
}

}  // namespace convoke::contract

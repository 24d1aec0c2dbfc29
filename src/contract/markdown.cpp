// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/markdown.hpp"

#include <cmark.h>

#include <memory>
#include <set>

#include "contract/text.hpp"

namespace convoke::contract {
namespace {

struct FreeNode {
  void operator()(cmark_node* node) const noexcept { cmark_node_free(node); }
};
using Tree = std::unique_ptr<cmark_node, FreeNode>;

bool opens_block(std::string_view line) { return trim(line) == "```fkc"; }

bool closes_fence(std::string_view line) {
  line = trim(line);
  return line.size() >= 3 && line.find_first_not_of('`') == std::string_view::npos;
}

/// Three backticks and the name of a language; longer fences may enclose such lines as text.
bool opens_other(std::string_view line) {
  line = trim(line);
  return line.size() > 3 && line.starts_with("```") && line.find('`', 3) == std::string_view::npos;
}

bool is_rule(std::string_view line) { return trim_right(line) == "---"; }

/// Lines that open a fence which the next block, or the end of the file, leaves unclosed. CommonMark would let such a
/// fence swallow the sections behind it.
std::set<std::size_t> unclosed_openers(const std::vector<std::string_view>& lines, std::size_t first) {
  enum class Next { end, block, other, close };
  std::set<std::size_t> out;
  Next next = Next::end;
  for (std::size_t i = lines.size(); i-- > first;) {
    if (opens_block(lines[i])) {
      if (next != Next::close) out.insert(i);
      next = Next::block;
    } else if (opens_other(lines[i])) {
      if (next == Next::end || next == Next::block)
        out.insert(i);
      else
        next = Next::other;
    } else if (closes_fence(lines[i])) {
      next = Next::close;
    }
  }
  return out;
}

/// Appends `line` for cmark, which shall see block structure only. Characters that matter to inline text alone become
/// letters, and so do container markers beyond any use: both are what cmark can be made slow with.
void append_structure(std::string_view line, std::string& out) {
  constexpr std::string_view leading = " \t>*_-+0123456789.)#`~=<!/?";
  constexpr std::string_view inline_only = "*_[]&\\!:";
  constexpr std::size_t max_markers = 32;
  std::size_t markers = 0;
  bool leads = true;
  for (const char c : line) {
    leads = leads && leading.find(c) != std::string_view::npos;
    const bool container = c == '>' || c == '*' || c == '-' || c == '+' || c == '.' || c == ')';
    if (leads && container && ++markers > max_markers) leads = false;
    const bool plain = leads || inline_only.find(c) == std::string_view::npos;
    const bool too_deep = markers > max_markers && container;
    out.push_back(plain && !too_deep && c != '\r' ? c : 'x');
  }
  out.push_back('\n');
}

Tree parse(const std::vector<std::string_view>& lines, std::size_t first, const std::set<std::size_t>& plain) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // Lines of the front matter and unclosed openers count, but say nothing.
    if (i < first)
      text += '\n';
    else if (plain.contains(i))
      text += "x\n";
    else
      append_structure(lines[i], text);
  }
  return Tree(cmark_parse_document(text.data(), text.size(), CMARK_OPT_DEFAULT));
}

/// A walk over the blocks of a tree that fills an Outline.
class Walk {
 public:
  Walk(const std::vector<std::string_view>& lines, Outline& outline) : lines_(&lines), outline_(&outline) {}

  /// Line of a fence that runs to the end of the file; 0: none.
  int unclosed_line() const noexcept { return unclosed_line_; }

  void read(cmark_node* root) {
    const std::unique_ptr<cmark_iter, void (*)(cmark_iter*)> iter(cmark_iter_new(root), cmark_iter_free);
    for (cmark_event_type event = cmark_iter_next(iter.get()); event != CMARK_EVENT_DONE;
         event = cmark_iter_next(iter.get()))
      if (event == CMARK_EVENT_ENTER) visit(cmark_iter_get_node(iter.get()));
  }

 private:
  std::string_view line(int number) const {
    const auto index = static_cast<std::size_t>(number) - 1;
    return number >= 1 && index < lines_->size() ? (*lines_)[index] : std::string_view();
  }

  void visit(cmark_node* node) {
    switch (cmark_node_get_type(node)) {
      case CMARK_NODE_HEADING:
        heading(node);
        break;
      case CMARK_NODE_PARAGRAPH:
        paragraph(node);
        break;
      case CMARK_NODE_CODE_BLOCK:
        code(node);
        break;
      case CMARK_NODE_LIST:
      case CMARK_NODE_BLOCK_QUOTE:
      case CMARK_NODE_HTML_BLOCK:
      case CMARK_NODE_THEMATIC_BREAK:
        fresh_ = false;
        break;
      default:
        break;
    }
  }

  void heading(cmark_node* node) {
    const int number = cmark_node_get_start_line(node);
    const bool top = cmark_node_get_type(cmark_node_parent(node)) == CMARK_NODE_DOCUMENT;
    if (!top || cmark_node_get_heading_level(node) != 2 || !line(number).starts_with("## ")) return;
    outline_->sections.push_back({.title = std::string(trim(line(number).substr(3))), .line = number});
    fresh_ = true;
  }

  void paragraph(cmark_node* node) {
    if (outline_->sections.empty() || !fresh_) return;
    fresh_ = false;
    outline_->sections.back().prose_line = cmark_node_get_start_line(node);
  }

  void code(cmark_node* node) {
    const int open = cmark_node_get_start_line(node);
    const int close = cmark_node_get_end_line(node);
    const std::string_view opener = trim_left(line(open));
    fresh_ = false;
    if (!opener.starts_with("```") && !opener.starts_with("~~~")) return;
    if (std::string_view(cmark_node_get_literal(node)).starts_with(opener)) return;  // an indented block shows its text
    if (close == open || !closes(opener.front(), line(close))) {
      unclosed_line_ = open;
      return;
    }
    if (!opens_block(line(open))) return;
    auto& fences = outline_->sections.empty() ? outline_->orphans : outline_->sections.back().fences;
    fences.push_back({open, close});
  }

  static bool closes(char mark, std::string_view text) {
    // A fence in a quote closes behind the quote's own marker.
    while (!text.empty() && (text.front() == '>' || text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    text = trim(text);
    return text.size() >= 3 && text.find_first_not_of(mark) == std::string_view::npos;
  }

  const std::vector<std::string_view>* lines_;
  Outline* outline_;
  bool fresh_ = false;  ///< nothing stands in the current section yet
  int unclosed_line_ = 0;
};

void find_front_matter(const std::vector<std::string_view>& lines, Outline& outline) {
  if (lines.empty() || !is_rule(lines[0])) return;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (!is_rule(lines[i])) continue;
    outline.has_front_matter = true;
    outline.front_begin = 1;
    outline.front_end = static_cast<int>(i) + 1;
    return;
  }
}

/// Tells each section which of its fences were never closed, for the message about a missing block.
void attribute_unclosed(const std::vector<std::string_view>& lines, const std::set<std::size_t>& unclosed,
                        Outline& outline) {
  std::size_t next = 0;
  for (const std::size_t index : unclosed) {
    if (!opens_block(lines[index])) continue;
    const int number = static_cast<int>(index) + 1;
    while (next < outline.sections.size() && outline.sections[next].line < number) ++next;
    if (next > 0) outline.sections[next - 1].unclosed.push_back(number);
  }
}

}  // namespace

Outline read_outline(const std::vector<std::string_view>& lines) {
  Outline front;
  find_front_matter(lines, front);
  const auto first = static_cast<std::size_t>(front.front_end);
  std::set<std::size_t> plain = unclosed_openers(lines, first);
  const std::set<std::size_t> unclosed = plain;
  // A fence of another language that runs to the end of the file counts as none, too: each turn makes one of them text.
  constexpr int max_turns = 4;
  for (int turn = 0;; ++turn) {
    Outline outline = front;
    Walk walk(lines, outline);
    const Tree tree = parse(lines, first, plain);
    if (tree) walk.read(tree.get());
    if (walk.unclosed_line() == 0 || turn == max_turns) {
      attribute_unclosed(lines, unclosed, outline);
      return outline;
    }
    plain.insert(static_cast<std::size_t>(walk.unclosed_line()) - 1);
  }
}

}  // namespace convoke::contract

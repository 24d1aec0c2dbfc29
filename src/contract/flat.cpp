// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/flat.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

namespace convoke::contract {
namespace {

enum class Shape { map, list, fields, words };

/// A key that encloses others, and what it admits. `list` holds items of such keys; `fields` holds `name: { ... }`
/// lines; `words` is a list of plain words.
struct Context {
  std::string_view key;
  Shape shape;
  std::string_view admits;  ///< keys between blanks
};

constexpr std::array contexts = {
    Context{"<front matter>", Shape::map, " fkc_version provider "},
    Context{"<block>", Shape::map,
            " kernel registrable op_kind fused_op blurb backend kernel_source entry_point kernel_revision_hash variant "
            "accept return caps cost precision determinism numerics requires workspace_bytes packing "},
    Context{"provider", Shape::map, " name backend kernel_source link_registry revision_base "},
    Context{"accept", Shape::map, " inputs op_params "},
    Context{
        "inputs", Shape::list,
        " name optional dtypes dtype_class layout rank shape_constraint layout_constraint fdx device substrate notes "
        "note variadic "},
    Context{
        "layout", Shape::map,
        " contiguous strided broadcast_stride0 start_offset reverse_strides broadcast_axes awkward_layout_strategy "},
    Context{"fdx", Shape::map, " requires_ext quant sub_byte symbolic_extent extent_kind gather "},
    Context{"quant", Shape::map, " family ggml_dtype granularity role scale_operand block_shape "},
    Context{"gather", Shape::map, " kind block_table context_lens "},
    Context{"op_params", Shape::map, " variant fields "},
    Context{"fields", Shape::fields, ""},
    Context{"return", Shape::map, " outputs bundle "},
    Context{"outputs", Shape::list,
            " name dtype_rule shape_rule layout_guarantee aliasing layout layout_constraint fdx notes note "},
    Context{"bundle", Shape::list, " name dtype_rule shape_rule layout_guarantee aliasing shape rank notes note "},
    Context{"caps", Shape::map,
            " awkward_layout_strategy fast_paths in_place alignment_bytes access_granularity_bits notes "},
    Context{"fast_paths", Shape::list, " when class note effect "},
    Context{"cost", Shape::map, " provenance class flops bytes_moved overhead_ns memory cost_fn flops_hint notes "},
    Context{"memory", Shape::map, " device_bytes host_bytes disk_bytes "},
    Context{"precision", Shape::map, " bit_stable_on_same_hardware max_ulp max_relative max_absolute audited notes "},
    Context{"numerics", Shape::map, " order accumulator absent_taps invariant_to error "},
    Context{"error", Shape::map, " scale terms unit "},
    Context{"requires", Shape::map, " isa device "},
    Context{"packing", Shape::map, " operand kernel bytes "},
};
constexpr Context word_list{"<words>", Shape::words, ""};

const Context* find_context(std::string_view key) {
  const auto found = std::ranges::find(contexts, key, &Context::key);
  return found == contexts.end() ? nullptr : &*found;
}

bool admits(const Context& context, std::string_view key) {
  return context.admits.find(fmt::format(" {} ", key)) != std::string_view::npos;
}

/// What one line says.
struct Line {
  bool item = false;       ///< begins with `- `
  std::string_view key;    ///< empty: none
  std::string_view value;  ///< what stands behind the key; the whole line where there is none
};

Line read_line(std::string_view text) {
  Line out;
  text = trim(text);
  if (text == "-" || text.starts_with("- ")) {
    out.item = true;
    text = trim_left(text.substr(1));
  }
  out.value = text;
  const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
  if (end == 0 || end == std::string_view::npos || text[end] != ':') return out;
  const std::string_view rest = text.substr(end + 1);
  if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t') return out;
  out.key = text.substr(0, end);
  out.value = trim(rest);
  if (out.value.starts_with('#')) out.value = {};
  return out;
}

bool is_comment_or_empty(std::string_view line) {
  line = trim_left(line);
  return line.empty() || line.front() == '#';
}

/// Follows brackets and quotes from line to line: a line that begins inside them continues a value.
class OpenValue {
 public:
  bool open() const noexcept { return depth_ > 0 || quote_ != 0; }

  /// Inside a plain value brackets and quotes are text.
  void begin(std::string_view value) {
    if (value.find_first_of("[{\"'") == 0) feed(value);
  }

  void feed(std::string_view line) {
    char before = ' ';
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quote_ != 0) {
        if (quote_ == '"' && c == '\\')
          ++i;
        else if (c == quote_)
          quote_ = 0;
      } else if (c == '#' && (before == ' ' || before == '\t')) {
        return;
      } else if ((c == '"' || c == '\'') && starts_token(before)) {
        quote_ = c;
      } else if ((c == '[' || c == '{') && starts_token(before)) {
        ++depth_;
      } else if ((c == ']' || c == '}') && depth_ > 0) {
        --depth_;
      }
      before = c;
    }
  }

 private:
  /// So they are inside a plain scalar of a flow mapping (`out[0]`, `it's`).
  static bool starts_token(char before) noexcept {
    return std::string_view(" \t[{,:-").find(before) != std::string_view::npos;
  }

  int depth_ = 0;
  char quote_ = 0;
};

/// A stack of contexts that gives each line its indentation.
class Recovery {
 public:
  explicit Recovery(const Context& root) { stack_.push_back({&root, 0}); }

  int indent_of(std::string_view text) {
    if (value_.open()) {
      value_.feed(text);
      return stack_.back().indent + 4;
    }
    const Line line = read_line(text);
    const int indent = line.item ? item(line) : key(line);
    value_.begin(line.value);
    return indent;
  }

 private:
  struct Level {
    const Context* context = nullptr;
    int indent = 0;        ///< of the keys in it, or of the dashes of a list
    bool is_item = false;  ///< the keys of one item of a list
  };

  static bool takes_items(const Level& level) {
    const Shape shape = level.context->shape;
    return !level.is_item && (shape == Shape::list || shape == Shape::words);
  }

  int item(const Line& line) {
    // The nearest list that is open takes the item; without one it stays where it is.
    for (std::size_t i = stack_.size(); i-- > 0;) {
      if (!takes_items(stack_[i])) continue;
      stack_.resize(i + 1);
      break;
    }
    const Level list = stack_.back();
    if (takes_items(list) && list.context->shape == Shape::list && !line.key.empty()) {
      stack_.push_back({list.context, list.indent + 2, true});
      enter(line, list.indent + 2);
    }
    return list.indent;
  }

  int key(const Line& line) {
    if (line.key.empty()) return stack_.back().indent;
    for (std::size_t i = stack_.size(); i-- > 0;) {
      if (!takes_key(stack_[i], line)) continue;
      stack_.resize(i + 1);
      const int indent = stack_.back().indent;
      enter(line, indent);
      return indent;
    }
    // A key nobody knows: it stays in the innermost mapping.
    while (stack_.size() > 1 && takes_items(stack_.back())) stack_.pop_back();
    return stack_.back().indent;
  }

  static bool takes_key(const Level& level, const Line& line) {
    if (takes_items(level)) return false;
    if (level.context->shape != Shape::fields) return admits(*level.context, line.key);
    const Context& block = contexts[1];
    const bool encloses = find_context(line.key) != nullptr && admits(block, line.key);
    return line.value.starts_with('{') && !encloses;
  }

  void enter(const Line& line, int indent) {
    if (!line.value.empty()) return;
    const Context* context = find_context(line.key);
    stack_.push_back({context != nullptr ? context : &word_list, indent + 2});
  }

  std::vector<Level> stack_;
  OpenValue value_;
};

}  // namespace

int find_flattened(const std::vector<Chunk>& chunks) {
  int sign = 0;
  for (const Chunk& chunk : chunks) {
    int opener = 0;
    for (std::size_t i = 0; i < chunk.lines.size(); ++i) {
      const std::string_view text = chunk.lines[i];
      if (is_comment_or_empty(text)) continue;
      if (text.front() == ' ') return 0;
      const Line line = read_line(text);
      if (opener != 0 && sign == 0 && !line.item && !line.key.empty()) sign = opener;
      const Context* context = line.value.empty() ? find_context(line.key) : nullptr;
      const bool encloses = context != nullptr && context->shape != Shape::list;
      opener = encloses ? chunk.first_line + static_cast<int>(i) : 0;
    }
  }
  return sign;
}

void recover_indent(Chunk& chunk, ChunkKind kind) {
  Recovery recovery(contexts[kind == ChunkKind::front_matter ? 0 : 1]);
  chunk.indent.assign(chunk.lines.size(), 0);
  for (std::size_t i = 0; i < chunk.lines.size(); ++i)
    if (!is_comment_or_empty(chunk.lines[i])) chunk.indent[i] = recovery.indent_of(chunk.lines[i]);
  // A comment stands where the line after it does.
  for (std::size_t i = chunk.lines.size(); i-- > 0;)
    if (is_comment_or_empty(chunk.lines[i]) && i + 1 < chunk.lines.size()) chunk.indent[i] = chunk.indent[i + 1];
}

}  // namespace convoke::contract

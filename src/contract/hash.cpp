// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "contract/hash.hpp"

#include <fmt/core.h>

#include <initializer_list>

#include "base/fnv1a.hpp"
#include "base/sha256.hpp"
#include "contract/text.hpp"

namespace convoke::contract {
namespace {

/// The node at a path of keys; nullptr where one of them is absent.
const YamlNode* descend(const YamlNode* node, std::initializer_list<std::string_view> path) {
  for (const std::string_view key : path)
    if (node != nullptr) node = node->find(key);
  return node;
}

/// The value as written; empty where it is absent.
std::string_view word(const YamlNode* node, std::initializer_list<std::string_view> path = {}) {
  node = descend(node, path);
  return node == nullptr ? std::string_view() : std::string_view(node->value);
}

bool present(const YamlNode* node) { return node != nullptr && !node->is_null(); }

/// The text that is hashed: `key=value` pairs, each ended by a record separator.
class Canon {
 public:
  void push(std::string_view key, std::string_view value) {
    text_ += key;
    text_ += '=';
    text_ += trim(value);
    text_ += '\x1e';
  }
  /// Values of `keys` in `node`, joined by a bar.
  void push_joined(std::string_view key, const YamlNode* node, std::initializer_list<std::string_view> keys) {
    std::string value;
    for (const std::string_view each : keys) {
      if (each != *keys.begin()) value += '|';
      value += word(node, {each});
    }
    push(key, value);
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

std::string joined_dtypes(const YamlNode& input) {
  std::string out;
  const YamlNode* dtypes = input.find("dtypes");
  if (dtypes == nullptr) return out;
  for (std::size_t i = 0; i < dtypes->items.size(); ++i) {
    if (i > 0) out += ',';
    out += dtypes->items[i].value;
  }
  return out;
}

void push_inputs(const YamlNode* accept, Canon& canon) {
  const YamlNode* inputs = descend(accept, {"inputs"});
  if (inputs == nullptr) return;
  for (std::size_t i = 0; i < inputs->items.size(); ++i) {
    const YamlNode& input = inputs->items[i];
    canon.push(fmt::format("in{}.name", i), word(&input, {"name"}));
    canon.push(fmt::format("in{}.dtypes", i), joined_dtypes(input));
    canon.push(fmt::format("in{}.dtype_class", i), word(&input, {"dtype_class"}));
    if (const YamlNode* layout = input.find("layout"); present(layout))
      canon.push_joined(fmt::format("in{}.layout", i), layout,
                        {"contiguous", "strided", "broadcast_stride0", "start_offset", "reverse_strides"});
    if (const YamlNode* quant = descend(&input, {"fdx", "quant"}); present(quant))
      canon.push_joined(fmt::format("in{}.quant", i), quant,
                        {"family", "ggml_dtype", "granularity", "role", "scale_operand"});
  }
}

}  // namespace

std::uint64_t revision_hash(const YamlNode& block, std::string_view revision_base) {
  Canon canon;
  for (const std::string_view key : {"op_kind", "fused_op", "backend", "kernel_source", "entry_point", "determinism"})
    canon.push(key, word(&block, {key}));
  const YamlNode* accept = block.find("accept");
  push_inputs(accept, canon);
  if (const YamlNode* params = descend(accept, {"op_params"}); present(params))
    canon.push("op_params.variant", word(params, {"variant"}));
  if (const YamlNode* cost = block.find("cost"); present(cost))
    for (const std::string_view key : {"flops", "bytes_moved", "class", "provenance"})
      canon.push(fmt::format("cost.{}", key), word(cost, {key}));
  std::uint64_t hash = fnv1a(trim(word(&block, {"entry_point"})));
  hash = fnv1a("\x1f", hash);
  hash = fnv1a(trim(revision_base), hash);
  hash = fnv1a("\x1f", hash);
  return fnv1a(canon.text(), hash);
}

std::string block_digest(const std::vector<std::string_view>& lines) {
  Sha256 digest;
  for (const std::string_view line : lines) {
    digest.update(trim_left(line));
    digest.update("\n");
  }
  return digest.hex();
}

}  // namespace convoke::contract

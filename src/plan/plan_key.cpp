// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/plan_key.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace convoke::planner {
namespace {

using Key = std::vector<std::uint64_t>;

// Every list and text starts with its length, so that no two arguments can run into each other.
void append(Key& key, std::int64_t value) { key.push_back(static_cast<std::uint64_t>(value)); }

void append(Key& key, const Dims& dims) {
  append(key, dims.rank());
  for (const std::int64_t value : dims) append(key, value);
}

void append(Key& key, std::string_view text) {
  append(key, static_cast<std::int64_t>(text.size()));
  for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(8, text.size()))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), std::min<std::size_t>(8, text.size()));
    key.push_back(word);
  }
}

void append(Key& key, const std::vector<std::string>& texts) {
  append(key, static_cast<std::int64_t>(texts.size()));
  for (const std::string& text : texts) append(key, text);
}

void append(Key& key, const TensorSpec& spec) {
  append(key, static_cast<std::int64_t>(spec.dtype));
  append(key, spec.shape);
  append(key, spec.strides);
  append(key, spec.offset);
  append(key, static_cast<std::int64_t>(spec.align));
}

void append(Key& key, const ConvParams& params) {
  for (const std::int64_t value :
       {params.stride.h, params.stride.w, params.padding.top, params.padding.left, params.padding.bottom,
        params.padding.right, static_cast<std::int64_t>(params.padding.same), params.dilation.h, params.dilation.w,
        params.output_padding.h, params.output_padding.w, params.groups})
    append(key, value);
}

void append(Key& key, const std::optional<Demand>& demand) {
  append(key, static_cast<std::int64_t>(demand.has_value()));
  if (!demand) return;
  append(key, static_cast<std::int64_t>(demand->kind));
  append(key, demand->name);
  key.push_back(std::bit_cast<std::uint64_t>(demand->factor));
  append(key, static_cast<std::int64_t>(demand->plane));
}

void append(Key& key, const PlanOptions& options) {
  append(key, options.demand);
  append(key, options.kernel);
  append(key, options.forbid);
  append(key, options.backends);
  append(key, static_cast<std::int64_t>(options.workspace_cap.has_value()));
  key.push_back(options.workspace_cap.value_or(0));
  append(key, options.threads);
  append(key, static_cast<std::int64_t>(options.packed_weight));
  key.push_back(options.rates == nullptr ? 0 : options.rates->fingerprint());
}

}  // namespace

void append_key(const Arguments& arguments, std::vector<std::uint64_t>& key) {
  append(key, static_cast<std::int64_t>(arguments.op));
  append(key, arguments.x);
  append(key, arguments.weight);
  append(key, static_cast<std::int64_t>(arguments.bias.has_value()));
  if (arguments.bias) append(key, *arguments.bias);
  append(key, arguments.out);
  append(key, arguments.params);
  append(key, arguments.options);
}

}  // namespace convoke::planner

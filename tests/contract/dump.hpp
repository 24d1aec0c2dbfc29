// SPDX-License-Identifier: Apache-2.0 OR MIT
// A contract as text, every field of it, so that two contracts can be compared and a difference can be read.
#pragma once

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>

#include "contract/contract.hpp"

namespace convoke::contract::testing {

template <class T>
std::string text_of(const std::optional<T>& value) {
  if (!value) return "~";
  if constexpr (requires { value->text(); }) {
    return value->text();
  } else {
    return fmt::format("{}", *value);
  }
}

inline std::string text_of(const std::optional<LayoutFlags>& flags) {
  if (!flags) return "~";
  return fmt::format("{}/{}/{}/{}/{}/{}", static_cast<int>(flags->contiguous), flags->strided,
                     static_cast<int>(flags->broadcast_stride0), flags->start_offset, flags->reverse_strides,
                     fmt::join(flags->broadcast_axes, ","));
}

inline std::string dump(const Operand& o) {
  return fmt::format(
      "in {} optional={} dtypes={} class={} layout={} strategy={} rank={}..{} shape={} layout_constraint={}\n", o.name,
      o.optional, fmt::join(o.dtypes, ","), o.dtype_class, text_of(o.layout),
      o.strategy ? static_cast<int>(*o.strategy) : -1, o.rank.min, text_of(o.rank.max), text_of(o.shape_constraint),
      text_of(o.layout_constraint));
}

inline std::string dump(const Output& o) {
  return fmt::format("out {} {} {} guarantee={} {} layout={} layout_constraint={}\n", o.name, o.dtype_rule,
                     o.shape_rule, static_cast<int>(o.layout_guarantee), o.aliasing, text_of(o.layout),
                     text_of(o.layout_constraint));
}

inline std::string dump(const Cost& c) {
  return fmt::format("cost {} {} flops={} bytes={} overhead={} device={} host={} disk={} fn={}\n",
                     static_cast<int>(c.provenance), c.cost_class, text_of(c.flops), text_of(c.bytes_moved),
                     text_of(c.overhead_ns), text_of(c.device_bytes), text_of(c.host_bytes), text_of(c.disk_bytes),
                     text_of(c.cost_fn));
}

inline std::string dump(const Precision& p) {
  return fmt::format("precision claim={} stable={} ulp={} rel={} abs={} audited={} notes={}\n",
                     static_cast<int>(p.claim), p.bit_stable, text_of(p.max_ulp), text_of(p.max_relative),
                     text_of(p.max_absolute), text_of(p.audited), p.notes);
}

inline std::string dump(const Numerics& n) {
  std::string out = fmt::format("numerics order={} accumulator={} absent_taps={} invariant={}", text_of(n.order),
                                text_of(n.accumulator), text_of(n.absent_taps), fmt::join(n.invariant_to, ","));
  if (n.error) out += fmt::format(" error={}/{}/{}", n.error->scale, n.error->terms.text(), n.error->unit);
  return out + "\n";
}

inline std::string dump(const Contract& c) {
  std::string out =
      fmt::format("{} / {} registrable={} op={} fused={} blurb={} backend={} source={} entry={} variant={}\n",
                  c.section, c.kernel, c.registrable, text_of(c.op_kind), text_of(c.fused_op), c.blurb,
                  static_cast<int>(c.backend), c.kernel_source, c.entry_point, c.variant);
  for (const Operand& operand : c.inputs) out += dump(operand);
  for (const Output& output : c.outputs) out += dump(output);
  out += fmt::format("bundle={} params={}\n", c.bundle, c.params_variant);
  for (const Field& f : c.fields)
    out += fmt::format("field {} {} {} {}\n", f.name, f.kind, f.note, text_of(f.constraint));
  out += fmt::format("caps {} in_place={} alignment={} granularity={}\n", static_cast<int>(c.caps.strategy),
                     c.caps.in_place, text_of(c.caps.alignment_bytes), text_of(c.caps.access_granularity_bits));
  for (const FastPath& p : c.caps.fast_paths)
    out += fmt::format("fast {} {} {} {}\n", text_of(p.when), p.text, text_of(p.cost_class), p.note);
  out += dump(c.cost) + dump(c.precision);
  out += fmt::format("determinism={} isa={} device={} workspace={}\n", static_cast<int>(c.determinism),
                     fmt::join(c.requires_isa, ","), fmt::join(c.requires_device, ","), text_of(c.workspace_bytes));
  if (c.numerics) out += dump(*c.numerics);
  if (c.packing)
    out += fmt::format("packing {} {} {}\n", c.packing->operand, c.packing->kernel, c.packing->bytes.text());
  out += fmt::format("revision={:016x} digest={}\n", c.revision, c.block_digest);
  for (const Key& key : keys(c))
    out += fmt::format("key {} {} {}\n", key.symbol, fmt::join(key.dtypes, ","), key.optional_present);
  return out;
}

}  // namespace convoke::contract::testing

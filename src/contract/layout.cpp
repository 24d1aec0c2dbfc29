// SPDX-License-Identifier: Apache-2.0 OR MIT
// Layout flags and their coherence: rule 4 of the format.
#include <fmt/core.h>

#include <charconv>

#include "contract/block_parts.hpp"

namespace convoke::contract {
namespace {

constexpr std::array contiguous_words = {
    Meaning<Contiguity>{"required", Contiguity::required},
    Meaning<Contiguity>{"accepted", Contiguity::accepted},
    Meaning<Contiguity>{"n/a", Contiguity::not_applicable},
};
constexpr std::array broadcast_words = {
    Meaning<Acceptance>{"accepted", Acceptance::accepted},
    Meaning<Acceptance>{"rejected", Acceptance::rejected},
    Meaning<Acceptance>{"required", Acceptance::required},
};
constexpr std::array accepted_words = {Meaning<bool>{"accepted", true}, Meaning<bool>{"rejected", false}};

void read_axes(Reader& layout, LayoutFlags& flags) {
  for (const Word& word : layout.words("broadcast_axes")) {
    int axis = 0;
    const char* end = word.text.data() + word.text.size();
    const auto [stop, error] = std::from_chars(word.text.data(), end, axis);
    if (error == std::errc() && stop == end)
      flags.broadcast_axes.push_back(axis);
    else
      layout.report().error(word.at,
                            {"3", "BadScalarType", fmt::format("`{}` is no axis", word.text), "whole numbers"});
  }
}

}  // namespace

LayoutFlags read_layout(Reader& layout, bool& coherent) {
  const std::size_t before = layout.report().errors();
  const auto flag = [&](std::string_view key, const auto& table, auto absent) {
    return read_choice(layout, key, table, "4", "BadLayoutFlag").value_or(absent);
  };
  LayoutFlags flags;
  flags.contiguous = flag("contiguous", contiguous_words, Contiguity::not_applicable);
  flags.strided = flag("strided", accepted_words, false);
  flags.broadcast_stride0 = flag("broadcast_stride0", broadcast_words, Acceptance::rejected);
  flags.start_offset = flag("start_offset", accepted_words, false);
  flags.reverse_strides = flag("reverse_strides", accepted_words, false);
  const bool has_axes = layout.get("broadcast_axes") != nullptr;
  read_axes(layout, flags);
  if (layout.report().errors() != before) {
    coherent = false;
    return flags;  // a flag that was not understood says nothing about the others
  }
  const auto incoherent = [&](std::string_view key, std::string message, std::string accepted) {
    layout.error(key, {"4", "LayoutIncoherent", std::move(message), std::move(accepted)});
    coherent = false;
  };
  if (flags.contiguous == Contiguity::not_applicable && !flags.strided)
    incoherent("contiguous", "the operand accepts no layout: neither contiguous nor strided",
               "`contiguous: required`, `contiguous: accepted` or `strided: accepted`");
  if (flags.broadcast_stride0 == Acceptance::accepted && !flags.strided)
    incoherent("broadcast_stride0", "`broadcast_stride0: accepted` needs `strided: accepted`",
               "`broadcast_stride0: rejected`, or `strided: accepted` beside it");
  if (flags.reverse_strides && !flags.strided)
    incoherent("reverse_strides", "`reverse_strides: accepted` needs `strided: accepted`",
               "`reverse_strides: rejected`, or `strided: accepted` beside it");
  const bool needs_axes = flags.broadcast_stride0 == Acceptance::required;
  if (needs_axes && flags.broadcast_axes.empty())
    incoherent("broadcast_stride0", "`broadcast_stride0: required` needs `broadcast_axes`, the axes it speaks of",
               "`broadcast_axes` with at least one axis, such as [0]");
  if (has_axes && !needs_axes)
    incoherent("broadcast_axes", "`broadcast_axes` means something only with `broadcast_stride0: required`",
               "`broadcast_stride0: required`, or no `broadcast_axes`");
  return flags;
}

}  // namespace convoke::contract

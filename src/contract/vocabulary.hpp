// SPDX-License-Identifier: Apache-2.0 OR MIT
// The words of the format that stand for something outside a document.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace convoke::contract {

bool is_dtype(std::string_view token) noexcept;
/// An element takes less than a byte: such an operand must say how it is packed.
bool is_sub_byte(std::string_view dtype) noexcept;

/// A primitive operator that the public documents use, or one of ours (`CopyOut`, `Pack`, `Upload`, `Download`).
bool is_op_kind(std::string_view token) noexcept;
bool is_fused_op(std::string_view token) noexcept;
std::span<const std::string_view> op_kind_words() noexcept;
std::span<const std::string_view> fused_op_words() noexcept;

/// `op_params.variant` of a section with `op_kind` (primitive) or with `fused_op`.
bool is_primitive_variant(std::string_view token) noexcept;
bool is_fused_variant(std::string_view token) noexcept;
std::span<const std::string_view> variant_words(bool fused) noexcept;

/// Names of the fields that `variant` has, between blanks; empty: not known here.
std::string_view variant_fields(std::string_view variant) noexcept;

/// Quantisation tables of the tensor descriptor that the format builds on.
bool is_quant_family(std::string_view token) noexcept;
bool is_granularity(std::string_view token) noexcept;
bool is_ggml_dtype(std::string_view token) noexcept;

/// The word before the parenthesis of a shape rule.
bool is_shape_rule(std::string_view head) noexcept;
std::span<const std::string_view> shape_rule_words() noexcept;

/// One of the format's eight cost classes.
bool is_cost_class(std::string_view token) noexcept;
/// All of them in one line.
std::string cost_class_list();

}  // namespace convoke::contract

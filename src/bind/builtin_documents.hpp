// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <span>
#include <string_view>

namespace convoke::bind {

/// A contract document of kernels/, embedded at build time.
struct BuiltinDocument {
  std::string_view path;  ///< relative to the project's root
  std::string_view text;
};

/// All built-in documents, sorted by path.
std::span<const BuiltinDocument> builtin_documents() noexcept;

}  // namespace convoke::bind

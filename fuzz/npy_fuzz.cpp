// SPDX-License-Identifier: Apache-2.0 OR MIT
// Any bytes as a .npy file: an error, or an array that is written and read back without losing a bit.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "base/digest.hpp"
#include "base/layout.hpp"
#include "problem/npy.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace convoke;
  const auto file = std::as_bytes(std::span(data, size));
  // As whatever the file says, then as bf16, which the file cannot say.
  for (const std::optional<DType> dtype : {std::optional<DType>{}, std::optional(DType::bf16)}) {
    const auto array = problem::parse_npy(file, dtype, "fuzz");
    if (!array) {
      require(!array.error().message.empty() && array.error().message.find('\n') == std::string::npos);
      continue;
    }
    require(check_layout(array->spec, array->buffer.size(), "array").has_value());
    const std::string written = problem::format_npy(array->view());
    const auto again = problem::parse_npy(std::as_bytes(std::span(written)), array->spec.dtype, "written");
    require(again.has_value() && again->spec.shape == array->spec.shape);
    require(digest_of(again->view()) == digest_of(array->view()));
    require(problem::format_npy(again->view()) == written);
  }
  return 0;
}

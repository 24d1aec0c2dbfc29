// SPDX-License-Identifier: Apache-2.0 OR MIT
// NumPy's `.npy` files, format versions 1.0, 2.0 and 3.0: one array of f32, f64, f16, or of bf16 kept as uint16.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "convoke/error.hpp"
#include "convoke/tensor.hpp"
#include "problem/buffer.hpp"

namespace convoke::problem {

/// An array and the memory that holds it. The data are as the file has them, turned to the host's byte order: Fortran
/// order shows in the strides.
struct Array {
  Buffer buffer;
  TensorSpec spec;

  ConstTensor view() const noexcept { return {buffer.data(), buffer.size(), spec}; }
};

/// Reads `<f4 >f4 <f8 >f8 <f2 >f2 <u2 >u2` of rank 0 to 6 in C or Fortran order. uint16 is accepted only when `dtype`
/// is bf16; any other dtype given must be the file's. `name` is what messages call the file. Errors: invalid_file
/// (`rule` is `magic`, `version`, `header`, `descr`, `fortran_order`, `shape`, `dtype` or `data`), out_of_memory.
[[nodiscard]] Result<Array> parse_npy(std::span<const std::byte> file, std::optional<DType> dtype,
                                      std::string_view name);
/// The same from a file, which is read no further than its first fault. Errors: io besides.
[[nodiscard]] Result<Array> read_npy(const std::string& path, std::optional<DType> dtype = std::nullopt);

/// The tensor as a file: version 1.0, C order, little endian, bf16 as uint16. Requires a layout that check_layout
/// accepts.
std::string format_npy(const ConstTensor& tensor);
/// Writes that file: whole, or not at all. Errors: io.
[[nodiscard]] Result<void> write_npy(const std::string& path, const ConstTensor& tensor);

}  // namespace convoke::problem

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "base/digest.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/dtype.hpp"
#include "base/layout.hpp"
#include "base/sha256.hpp"

namespace convoke {

std::string dense_bytes(const ConstTensor& tensor) {
  static_assert(std::endian::native == std::endian::little, "elements are copied as they lie in memory");
  const TensorSpec& spec = tensor.spec;
  const std::size_t size = size_of(spec.dtype);
  const auto count = static_cast<std::size_t>(element_count(spec.shape).value_or(0));
  std::string bytes(count * size, '\0');
  Dims index = Dims::filled(spec.shape.rank(), 0);
  std::int64_t element = spec.offset;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* address = static_cast<const std::byte*>(tensor.data) + element * static_cast<std::int64_t>(size);
    store_bits(bytes.data() + i * size, spec.dtype, canonical_bits(spec.dtype, load_bits(address, spec.dtype)));
    // An odometer: the last axis that is not at its end goes on, those after it start again.
    for (int axis = spec.shape.rank() - 1; axis >= 0; --axis) {
      if (++index[axis] < spec.shape[axis]) {
        element += spec.strides[axis];
        break;
      }
      element -= (spec.shape[axis] - 1) * spec.strides[axis];
      index[axis] = 0;
    }
  }
  return bytes;
}

std::string digest_of(const ConstTensor& tensor) { return sha256_hex(dense_bytes(tensor)); }

}  // namespace convoke

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/case_check.hpp"

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "problem/walk.hpp"

namespace convoke::problem {
namespace {

std::string place_of(std::int64_t index, const Dims& shape) {
  Dims place = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    place[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return text_of(place);
}

}  // namespace

std::optional<std::string> mismatch(const Case& test, const ConstTensor& out) {
  if (test.expect_error) return fmt::format("computed, but an error about `{}` was expected", *test.expect_error);
  const TensorSpec& spec = out.spec;
  const Dims& wanted_shape = test.expect ? test.expect->shape : *test.expect_shape;
  if (spec.shape != wanted_shape)
    return fmt::format("out is {}, expected {}", text_of(spec.shape), text_of(wanted_shape));
  std::optional<std::string> wrong;
  if (!test.expect) return wrong;
  const auto size = static_cast<std::int64_t>(size_of(spec.dtype));
  const auto* const data = static_cast<const std::byte*>(out.data);
  walk(spec.shape, {spec.strides, dense_strides(spec.shape), spec.offset, 0}, [&](std::int64_t at, std::int64_t index) {
    const std::uint64_t got = canonical_bits(spec.dtype, load_bits(data + at * size, spec.dtype));
    const double expected = test.expect->values[static_cast<std::size_t>(index)];
    const std::uint64_t wanted = canonical_bits(spec.dtype, bits_of_value(spec.dtype, expected));
    if (got != wanted && !wrong)
      wrong = fmt::format("out{} is {:#x} ({}), expected {:#x} ({})", place_of(index, spec.shape), got,
                          value_of_bits(spec.dtype, got), wanted, expected);
  });
  return wrong;
}

std::optional<std::string> mismatch(const Case& test, const Error& refusal) {
  if (!test.expect_error) return fmt::format("refused: {}", refusal.message);
  if (refusal.message.find(*test.expect_error) == std::string::npos)
    return fmt::format("refused, but without the word `{}`: {}", *test.expect_error, refusal.message);
  return std::nullopt;
}

}  // namespace convoke::problem

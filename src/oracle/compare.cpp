// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "oracle/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/dtype.hpp"
#include "base/random.hpp"
#include "oracle/law.hpp"
#include "oracle/taps.hpp"

namespace convoke::oracle {
namespace {

enum class Class { finite, infinite, nan };

Class class_of(DType dtype, std::uint64_t bits) noexcept {
  if (is_nan_bits(dtype, bits)) return Class::nan;
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  const std::uint64_t infinity = canonical_nan(dtype) & (canonical_nan(dtype) << 1);  // without the quiet bit
  return (bits & ~sign) == infinity ? Class::infinite : Class::finite;
}

const char* name_of(Class which) noexcept {
  return which == Class::finite ? "finite" : which == Class::infinite ? "infinite" : "NaN";
}

/// Row-major numbers of the outputs to compare, rising.
std::vector<std::int64_t> sample(const Geometry& g, const Sampling& sampling) {
  const std::int64_t count = output_count(g);
  std::vector<std::int64_t> numbers;
  if (sampling.limit <= 0 || count <= sampling.limit) {
    numbers.resize(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = i;
    return numbers;
  }
  for (unsigned corner = 0; corner < 16; ++corner) {
    const auto end = [corner](unsigned bit, std::int64_t size) { return (corner >> bit & 1u) != 0 ? size - 1 : 0; };
    numbers.push_back(((end(3, g.N) * g.Cout + end(2, g.Cout)) * g.Ho + end(1, g.Ho)) * g.Wo + end(0, g.Wo));
  }
  Random random(sampling.seed);
  while (static_cast<std::int64_t>(numbers.size()) < sampling.limit)
    numbers.push_back(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(count))));
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::string text_of(DType dtype, std::uint64_t bits) {
  const double value = value_of_bits(dtype, bits);
  const auto width = 2 * size_of(dtype);
  if (dtype == DType::f64) return fmt::format("0x{:0{}x} ({})", bits, width, value);
  return fmt::format("0x{:0{}x} ({})", bits, width, static_cast<float>(value));
}

std::uint64_t bits_at(const ConstTensor& out, const At& at) noexcept {
  const Dims& strides = out.spec.strides;
  const std::int64_t element =
      out.spec.offset + at.n * strides[0] + at.co * strides[1] + at.oh * strides[2] + at.ow * strides[3];
  return canonical_bits(out.spec.dtype, load_bits(address_of(out, element), out.spec.dtype));
}

/// What one output is held to, and whether it holds.
struct Judgement {
  bool good = true;
  bool by_class = false;
  std::uint64_t want = 0;
  std::string why;  // after the wanted value; only where not good
};

/// Runs `judge(at, bits)` over the sample and gathers what it says.
template <class Judge>
Comparison compare(const Request& request, const ConstTensor& out, const Sampling& sampling, Judge judge) {
  Comparison comparison;
  const DType dtype = request.dtype();
  for (const std::int64_t number : sample(request.geometry, sampling)) {
    const At at = at_index(request.geometry, number);
    const std::uint64_t got = bits_at(out, at);
    const Judgement judgement = judge(at, got);
    ++comparison.compared;
    comparison.by_class += judgement.by_class ? 1 : 0;
    if (judgement.good) continue;
    ++comparison.wrong;
    if (comparison.first) continue;
    comparison.first = {at, got, judgement.want,
                        fmt::format("out[{},{},{},{}] is {}, want {}{}", at.n, at.co, at.oh, at.ow, text_of(dtype, got),
                                    text_of(dtype, judgement.want), judgement.why)};
  }
  return comparison;
}

Judgement judge_bits(std::uint64_t got, std::uint64_t want, const char* why) {
  return {got == want, false, want, got == want ? "" : why};
}

Judgement judge_class(const Request& request, const At& at, std::uint64_t got,
                      std::optional<DType> accumulator = std::nullopt) {
  const std::uint64_t want = law_output(request, at, accumulator);
  const Class found = class_of(request.dtype(), got), wanted = class_of(request.dtype(), want);
  Judgement judgement{found == wanted, true, want, {}};
  if (!judgement.good) judgement.why = fmt::format(" or any other {} value", name_of(wanted));
  return judgement;
}

}  // namespace

Comparison compare_law(const Request& request, const ConstTensor& out, const Sampling& sampling) {
  return compare(request, out, sampling, [&](const At& at, std::uint64_t got) {
    return judge_bits(got, law_output(request, at), " by the law of the sum");
  });
}

Comparison compare_bound(const Request& request, const ConstTensor& out, const BoundClaim& claim,
                         const Sampling& sampling) {
  double worst = 0;
  Comparison comparison = compare(request, out, sampling, [&](const At& at, std::uint64_t got) {
    const ExactVerdict verdict = judge_output(request, at, got, claim);
    if (verdict.how == Verifiable::by_class) return judge_class(request, at, got, claim.accumulator);
    worst = std::max(worst, verdict.error_over_bound);
    Judgement judgement{verdict.within, false, verdict.rounded, {}};
    if (!verdict.within)
      judgement.why = fmt::format(" within {:.6g}, but it is off by {:.6g}", verdict.bound, verdict.error);
    return judgement;
  });
  comparison.worst_error_over_bound = worst;
  return comparison;
}

Comparison compare_exact(const Request& request, const ConstTensor& out, const Sampling& sampling) {
  return compare(request, out, sampling, [&](const At& at, std::uint64_t got) {
    const std::optional<std::uint64_t> want = exact_output(request, at);
    return want ? judge_bits(got, *want, ", the exact sum rounded once") : judge_class(request, at, got);
  });
}

}  // namespace convoke::oracle

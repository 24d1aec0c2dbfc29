// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "problem/workload.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "problem/values.hpp"
#include "problem/walk.hpp"

namespace convoke::problem {
namespace {

// FNV-1a over words of 8 bytes: every bit counts, and a large tensor takes no longer than filling it.
std::uint64_t digest(std::span<const std::byte> bytes) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32;
  }
  return hash;
}

bool is_untouched(const Buffer& buffer, std::uint64_t as_made) {
  return buffer.slack_intact() && digest(buffer.bytes()) == as_made;
}

tl::unexpected<Error> touched_error(std::string_view operand) {
  return fail(ErrorCode::kernel_failure, std::string(operand), {},
              "{}: memory changed that is no element of the output", operand);
}

bool gaps_intact(const Buffer& buffer, const TensorSpec& spec) {
  const auto size = static_cast<std::int64_t>(size_of(spec.dtype));
  std::vector<bool> element(buffer.size());
  walk(spec.shape, {spec.strides, spec.strides, spec.offset, 0}, [&](std::int64_t at, std::int64_t) {
    for (std::int64_t byte = at * size; byte < (at + 1) * size; ++byte) element[static_cast<std::size_t>(byte)] = true;
  });
  std::vector<std::byte> poisoned(buffer.size());
  poison(poisoned);
  for (std::size_t i = 0; i < buffer.size(); ++i)
    if (!element[i] && buffer.bytes()[i] != poisoned[i]) return false;
  return true;
}

}  // namespace

class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(Guard guard) : guard_(guard) {}

  Result<Workload> build(const Problem& p) {
    auto geometry = geometry_of(p);
    if (!geometry) return tl::unexpected(geometry.error());
    if (p.out_layout == LayoutKind::expanded)
      return fail(ErrorCode::overlap, "out.layout", {}, "out.layout: an expanded output would overlap itself");
    const std::int64_t terms = geometry->terms();
    const auto add = [&](Workload::Input& input, const Dims& shape, LayoutKind kind, Operand operand) {
      return generate(input, lay_out(p.dtype, shape, kind, p.align, p.seed),
                      Values(p.dtype, p.data, p.seed, operand, terms));
    };
    if (auto x = add(made_.x_, p.x, p.x_layout, Operand::x); !x) return tl::unexpected(x.error());
    if (auto weight = add(made_.weight_, p.weight, p.weight_layout, Operand::weight); !weight)
      return tl::unexpected(weight.error());
    if (p.bias)
      if (auto bias = add(made_.bias_.emplace(), {geometry->Cout}, LayoutKind::dense, Operand::bias); !bias)
        return tl::unexpected(bias.error());
    return finish(std::move(geometry),
                  [&](const Dims& shape) { return lay_out(p.dtype, shape, p.out_layout, p.align, p.seed); });
  }

  Result<Workload> build(const Case& c, DType dtype) {
    if (std::ranges::find(c.dtypes, dtype) == c.dtypes.end())
      return fail(ErrorCode::invalid_argument, "dtype", {named("case", c.id)}, "dtype: case `{}` does not list {}",
                  c.id, name_of(dtype));
    if (auto x = copy(made_.x_, c.x, dtype); !x) return tl::unexpected(x.error());
    if (auto weight = copy(made_.weight_, c.weight, dtype); !weight) return tl::unexpected(weight.error());
    std::optional<Dims> bias_shape;
    if (c.bias) {
      if (auto bias = copy(made_.bias_.emplace(), *c.bias, dtype); !bias) return tl::unexpected(bias.error());
      bias_shape = c.bias->tensor.shape;
    }
    return finish(make_geometry(c.op, c.x.tensor.shape, c.weight.tensor.shape, bias_shape, c.params),
                  [&](const Dims& shape) { return lay_out(dtype, shape, LayoutKind::dense, default_align, 0); });
  }

 private:
  Result<void> allocate(Workload::Input& input, const TensorSpec& spec) {
    auto buffer = Buffer::make(bytes_of(spec), spec.align, guard_);
    if (!buffer) return tl::unexpected(buffer.error());
    input.buffer = *std::move(buffer);
    input.tensor = {input.buffer.data(), input.buffer.size(), spec};
    return {};
  }

  Result<void> generate(Workload::Input& input, const TensorSpec& spec, const Values& values) {
    if (auto allocated = allocate(input, spec); !allocated) return allocated;
    const auto size = static_cast<std::int64_t>(size_of(spec.dtype));
    std::byte* const data = input.buffer.data();
    walk(distinct_shape(spec), {spec.strides, dense_strides(spec.shape), spec.offset, 0},
         [&](std::int64_t at, std::int64_t index) {
           store_bits(data + at * size, spec.dtype, values.bits(static_cast<std::uint64_t>(index)));
         });
    input.digest = digest(input.buffer.bytes());
    return {};
  }

  Result<void> copy(Workload::Input& input, const CaseOperand& operand, DType dtype) {
    TensorSpec spec = lay_out(dtype, operand.tensor.shape, LayoutKind::dense, default_align, 0);
    const auto& values = operand.view ? operand.view->base : operand.tensor.values;
    TensorSpec stored = TensorSpec::dense(dtype, {static_cast<std::int64_t>(values.size())});
    stored.align = default_align;
    if (auto allocated = allocate(input, stored); !allocated) return allocated;
    for (std::size_t i = 0; i < values.size(); ++i)
      store_bits(input.buffer.data() + i * size_of(dtype), dtype, bits_of_value(dtype, values[i]));
    if (operand.view) {
      spec.strides = operand.view->strides;
      spec.offset = operand.view->offset;
    }
    input.tensor.spec = spec;
    input.digest = digest(input.buffer.bytes());
    return {};
  }

  template <class LayOut>
  Result<Workload> finish(Result<Geometry> geometry, const LayOut& lay_out_as_asked) {
    const TensorSpec spec = lay_out_as_asked(geometry ? geometry->out_shape() : Dims{0, 0, 0, 0});
    auto buffer = Buffer::make(bytes_of(spec), spec.align, guard_);
    if (!buffer) return tl::unexpected(buffer.error());
    made_.geometry_ = std::move(geometry);
    made_.out_buffer_ = *std::move(buffer);
    made_.out_ = {made_.out_buffer_.data(), made_.out_buffer_.size(), spec};
    return std::move(made_);
  }

  Guard guard_;
  Workload made_;
};

void Workload::reset_out() noexcept { poison(out_buffer_.bytes()); }

Result<void> Workload::check_untouched() const {
  if (!is_untouched(x_.buffer, x_.digest)) return touched_error("x");
  if (!is_untouched(weight_.buffer, weight_.digest)) return touched_error("weight");
  if (bias_ && !is_untouched(bias_->buffer, bias_->digest)) return touched_error("bias");
  if (!out_buffer_.slack_intact() || !gaps_intact(out_buffer_, out_.spec)) return touched_error("out");
  return {};
}

Result<Workload> make_workload(const Problem& problem, Guard guard) { return WorkloadBuilder(guard).build(problem); }

Result<Workload> make_workload(const Case& test, DType dtype, Guard guard) {
  return WorkloadBuilder(guard).build(test, dtype);
}

}  // namespace convoke::problem

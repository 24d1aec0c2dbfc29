// SPDX-License-Identifier: Apache-2.0 OR MIT
#include <algorithm>
#include <array>
#include <cstddef>

#include "base/layout.hpp"
#include "problem/random_problem.hpp"
#include "problem/values.hpp"
#include "problem/walk.hpp"
#include "problem/workload.hpp"

namespace convoke::problem {
namespace {

// What the tests below look at.
struct Facts {
  const Problem& p;
  const Geometry& g;
  std::uint32_t values;  // bit n: the data hold a value of ValueClass n
};

bool between(std::int64_t low, std::int64_t value, std::int64_t high) { return low < value && value < high; }

bool is_prime(std::int64_t n) {
  if (n < 2) return false;
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}

bool stride_above_kernel(const Facts& f) { return f.g.params.stride.h > f.g.Kh || f.g.params.stride.w > f.g.Kw; }
bool padding_reaches_kernel(const Facts& f) {
  const Padding& pad = f.g.params.padding;
  return std::max(pad.top, pad.bottom) >= f.g.Kh || std::max(pad.left, pad.right) >= f.g.Kw;
}
bool padding_asymmetric(const Facts& f) {
  const Padding& pad = f.g.params.padding;
  return pad.top != pad.bottom || pad.left != pad.right;
}
bool padding_same(const Facts& f) { return f.p.params.padding.same; }
bool dilated(const Facts& f) { return f.g.params.dilation != Extent2(1); }
bool dilated_and_strided(const Facts& f) { return dilated(f) && f.g.params.stride != Extent2(1); }
bool axes_differ(const Facts& f) {
  const ConvParams& p = f.g.params;
  return p.stride.h != p.stride.w || p.dilation.h != p.dilation.w || f.g.Kh != f.g.Kw;
}
bool output_padded(const Facts& f) { return f.g.params.output_padding != Extent2(0); }
bool one_group(const Facts& f) { return f.g.params.groups == 1; }
bool depthwise(const Facts& f) { return !one_group(f) && f.g.params.groups == f.g.Cin && f.g.Cout == f.g.Cin; }
bool depth_multiplier(const Facts& f) { return !one_group(f) && f.g.params.groups == f.g.Cin && f.g.Cout > f.g.Cin; }
bool several_groups(const Facts& f) { return between(1, f.g.params.groups, f.g.Cin); }
bool unit_channels(const Facts& f) { return f.g.Cin == 1 || f.g.Cout == 1; }
bool unit_image(const Facts& f) { return f.g.H == 1 || f.g.W == 1; }
bool unit_kernel(const Facts& f) { return f.g.Kh == 1 && f.g.Kw == 1; }
bool prime_image(const Facts& f) { return f.g.W > 3 && is_prime(f.g.W); }
bool kernel_above_input(const Facts& f) { return f.g.Kh > f.g.H || f.g.Kw > f.g.W; }
bool empty(const Facts& f) {
  return element_count(f.p.x) == 0 || element_count(f.p.weight) == 0 || element_count(f.g.out_shape()) == 0;
}
bool tail_of_8(const Facts& f) { return f.g.Wo > 8 && f.g.Wo % 8 != 0; }
bool tail_of_16(const Facts& f) { return f.g.Wo > 16 && f.g.Wo % 16 != 0; }
bool with_bias(const Facts& f) { return f.p.bias; }
bool without_bias(const Facts& f) { return !f.p.bias; }
bool unaligned(const Facts& f) { return f.p.align < size_of(f.p.dtype); }
bool element_aligned(const Facts& f) { return f.p.align == size_of(f.p.dtype); }
bool over_aligned(const Facts& f) { return f.p.align > size_of(f.p.dtype); }

template <DType dtype>
bool has_dtype(const Facts& f) {
  return f.p.dtype == dtype;
}
template <auto layout, LayoutKind kind>
bool laid_out(const Facts& f) {
  return f.p.*layout == kind;
}
template <DataKind kind>
bool has_data(const Facts& f) {
  return f.p.data == kind;
}
template <ValueClass value>
bool has_value(const Facts& f) {
  return (f.values >> static_cast<unsigned>(value) & 1) != 0;
}

enum class For { both, conv2d, conv_transpose2d };

struct Relation {
  std::string_view name;
  bool (*holds)(const Facts& facts);
  For op = For::both;
};

constexpr auto x_layout = &Problem::x_layout;
constexpr auto weight_layout = &Problem::weight_layout;
constexpr auto out_layout = &Problem::out_layout;

constexpr std::array table = {
    Relation{"stride > kernel", stride_above_kernel},
    Relation{"padding >= kernel", padding_reaches_kernel},
    Relation{"padding asymmetric", padding_asymmetric},
    Relation{"padding same", padding_same, For::conv2d},
    Relation{"output_padding > 0", output_padded, For::conv_transpose2d},
    Relation{"dilation > 1", dilated},
    Relation{"dilation and stride > 1", dilated_and_strided},
    Relation{"axes differ", axes_differ},
    Relation{"kernel > input", kernel_above_input},
    Relation{"kernel 1x1", unit_kernel},
    Relation{"groups 1", one_group},
    Relation{"groups depthwise", depthwise},
    Relation{"groups depth multiplier", depth_multiplier},
    Relation{"groups several", several_groups},
    Relation{"size 0", empty},
    Relation{"size 1 channels", unit_channels},
    Relation{"size 1 image", unit_image},
    Relation{"size prime", prime_image},
    Relation{"tail of 8", tail_of_8},
    Relation{"tail of 16", tail_of_16},
    Relation{"bias", with_bias},
    Relation{"no bias", without_bias},
    Relation{"dtype f32", has_dtype<DType::f32>},
    Relation{"dtype f64", has_dtype<DType::f64>},
    Relation{"dtype bf16", has_dtype<DType::bf16>},
    Relation{"dtype f16", has_dtype<DType::f16>},
    Relation{"x dense", laid_out<x_layout, LayoutKind::dense>},
    Relation{"x channels_last", laid_out<x_layout, LayoutKind::channels_last>},
    Relation{"x sliced", laid_out<x_layout, LayoutKind::sliced>},
    Relation{"x permuted", laid_out<x_layout, LayoutKind::permuted>},
    Relation{"x flipped", laid_out<x_layout, LayoutKind::flipped>},
    Relation{"x expanded", laid_out<x_layout, LayoutKind::expanded>},
    Relation{"x offset", laid_out<x_layout, LayoutKind::offset>},
    Relation{"weight dense", laid_out<weight_layout, LayoutKind::dense>},
    Relation{"weight channels_last", laid_out<weight_layout, LayoutKind::channels_last>},
    Relation{"weight sliced", laid_out<weight_layout, LayoutKind::sliced>},
    Relation{"weight permuted", laid_out<weight_layout, LayoutKind::permuted>},
    Relation{"weight flipped", laid_out<weight_layout, LayoutKind::flipped>},
    Relation{"weight expanded", laid_out<weight_layout, LayoutKind::expanded>},
    Relation{"weight offset", laid_out<weight_layout, LayoutKind::offset>},
    Relation{"out dense", laid_out<out_layout, LayoutKind::dense>},
    Relation{"out channels_last", laid_out<out_layout, LayoutKind::channels_last>},
    Relation{"out sliced", laid_out<out_layout, LayoutKind::sliced>},
    Relation{"out permuted", laid_out<out_layout, LayoutKind::permuted>},
    Relation{"out flipped", laid_out<out_layout, LayoutKind::flipped>},
    Relation{"out offset", laid_out<out_layout, LayoutKind::offset>},
    Relation{"align < element", unaligned},
    Relation{"align = element", element_aligned},
    Relation{"align > element", over_aligned},
    Relation{"data int", has_data<DataKind::integer>},
    Relation{"data normal", has_data<DataKind::normal>},
    Relation{"data special", has_data<DataKind::special>},
    Relation{"value +0", has_value<ValueClass::zero>},
    Relation{"value -0", has_value<ValueClass::negative_zero>},
    Relation{"value +inf", has_value<ValueClass::infinite>},
    Relation{"value -inf", has_value<ValueClass::negative_infinite>},
    Relation{"value NaN", has_value<ValueClass::nan>},
    Relation{"value subnormal", has_value<ValueClass::subnormal>},
    Relation{"value largest finite", has_value<ValueClass::huge>},
};

constexpr bool applies(const Relation& relation, Op op) {
  return relation.op == For::both || (relation.op == For::conv2d) == (op == Op::conv2d);
}

template <Op op>
constexpr auto names = [] {
  constexpr auto count = static_cast<std::size_t>(
      std::ranges::count_if(table, [](const Relation& relation) { return applies(relation, op); }));
  std::array<std::string_view, count> result;
  std::size_t next = 0;
  for (const Relation& relation : table)
    if (applies(relation, op)) result[next++] = relation.name;
  return result;
}();

std::uint32_t classes_in(const TensorSpec& spec, const Values& values) {
  std::uint32_t found = 0;
  walk(distinct_shape(spec), {spec.strides, dense_strides(spec.shape), spec.offset, 0},
       [&](std::int64_t, std::int64_t index) {
         const std::uint64_t bits = values.bits(static_cast<std::uint64_t>(index));
         found |= 1u << static_cast<unsigned>(class_of(spec.dtype, bits));
       });
  return found;
}

std::uint32_t classes_of(const Problem& p, const Geometry& g) {
  const auto classes = [&](const Dims& shape, LayoutKind kind, Operand operand) {
    return classes_in(lay_out(p.dtype, shape, kind, p.align, p.seed),
                      Values(p.dtype, p.data, p.seed, operand, g.terms()));
  };
  return classes(p.x, p.x_layout, Operand::x) | classes(p.weight, p.weight_layout, Operand::weight) |
         (p.bias ? classes({g.Cout}, LayoutKind::dense, Operand::bias) : 0);
}

}  // namespace

std::span<const std::string_view> relation_names(Op op) noexcept {
  if (op == Op::conv2d) return names<Op::conv2d>;
  return names<Op::conv_transpose2d>;
}

std::vector<std::string_view> relations(const Problem& problem) {
  std::vector<std::string_view> shown;
  const auto geometry = geometry_of(problem);
  if (!geometry) return shown;
  const Facts facts{problem, *geometry, classes_of(problem, *geometry)};
  for (const Relation& relation : table)
    if (applies(relation, problem.op) && relation.holds(facts)) shown.push_back(relation.name);
  return shown;
}

}  // namespace convoke::problem

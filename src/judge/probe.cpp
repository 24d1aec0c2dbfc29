// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "bind/binding_table.hpp"
#include "cpu/call.hpp"
#include "judge/check.hpp"
#include "plan/admit.hpp"
#include "plan/plan_impl.hpp"
#include "problem/buffer.hpp"
#include "problem/problem.hpp"
#include "problem/workload.hpp"

namespace convoke::judge {
namespace {

using problem::LayoutKind;
using problem::Workload;

struct Shape {
  const char* words = "";
  bool tiny = false;
};

// Layers of a residual network, a depthwise one, and next to nothing.
constexpr std::array conv_shapes = {
    Shape{"conv2d x=1x64x56x56 weight=64x64x3x3 padding=1"},
    Shape{"conv2d x=1x128x56x56 weight=64x128x3x3 stride=2 padding=1"},
    Shape{"conv2d x=1x256x14x14 weight=64x256x3x3 padding=1"},
    Shape{"conv2d x=1x128x28x28 weight=256x128x1x1"},
    Shape{"conv2d x=1x512x14x14 weight=128x512x1x1"},
    Shape{"conv2d x=1x64x56x56 weight=64x1x3x3 padding=1 groups=64"},
    Shape{"conv2d x=1x2x2x2 weight=2x2x1x1", true},
};
constexpr std::array transposed_shapes = {
    Shape{"conv_transpose2d x=1x64x16x16 weight=64x64x4x4 stride=2 padding=1"},
    Shape{"conv_transpose2d x=1x256x14x14 weight=256x64x2x2 stride=2"},
    Shape{"conv_transpose2d x=1x64x28x28 weight=64x1x4x4 stride=2 padding=1 groups=64"},
    Shape{"conv_transpose2d x=1x2x2x2 weight=2x2x1x1", true},
};
// Of operands that are copied: both kinds of image that a network has, 1 to 4 MB.
struct CopyShape {
  Dims dims;
  bool tiny = false;
};
const std::array copy_shapes = {CopyShape{{1, 64, 88, 88}}, CopyShape{{1, 512, 28, 28}}, CopyShape{{1, 2, 2, 2}, true}};

// Repeated, a number near 1 or near 0.01 in every dtype: no NaN, no subnormal.
constexpr std::byte ordinary_byte{0x3c};

constexpr std::array layouts = {LayoutKind::dense, LayoutKind::channels_last};

Probe named(const bind::Binding& binding, const planner::Price& price, bool tiny) {
  return {.backend = std::string(bind::name_of(binding.contract->backend)),
          .kernel_source = binding.contract->kernel_source,
          .work = fmt::format("{}/{}", bind::token_of(binding.op), price.cost_class),
          .dtype = binding.dtypes.back(),
          .counted = price.work,
          .tiny = tiny,
          .run = {}};
}

Result<problem::Problem> problem_of(const char* words, DType dtype, LayoutKind layout) {
  auto problem = problem::parse_problem(words);
  if (!problem) return problem;
  problem->dtype = dtype;
  problem->x_layout = layout;
  return problem;
}

// What one step needs to be called again and again.
struct Convolution {
  Workload workload;
  Plan plan;

  Result<void> run(int threads) const {
    RunOptions options;
    options.threads = threads;
    return plan.run(workload.x(), workload.weight(), workload.bias(), workload.out(), options);
  }
};

Result<std::shared_ptr<Convolution>> convolution(const problem::Problem& problem, const PlanOptions& options) {
  auto workload = problem::make_workload(problem, problem::Guard::none);
  if (!workload) return tl::unexpected(workload.error());
  auto plan = plan_for(*workload, options);
  if (!plan) return tl::unexpected(plan.error());
  return std::make_shared<Convolution>(Convolution{*std::move(workload), *std::move(plan)});
}

// Every kernel that copies: a route with copies around the convolution says nothing of the convolution alone.
std::vector<std::string> copies_in(const Catalog& catalog) {
  std::vector<std::string> ids;
  for (const bind::Binding& binding : catalog.table().all())
    if (!bind::convolves(binding.op)) ids.push_back(binding.id);
  return ids;
}

Result<void> add_convolution(const Catalog& catalog, const bind::Binding& binding, const Shape& shape,
                             LayoutKind layout, std::vector<Probe>& probes) {
  const auto problem = problem_of(shape.words, binding.dtypes.front(), layout);
  if (!problem) return tl::unexpected(problem.error());
  PlanOptions options;
  options.kernel = binding.id;
  options.catalog = &catalog;
  options.forbid = copies_in(catalog);
  auto made = convolution(*problem, options);
  if (!made && made.error().code == ErrorCode::no_kernel) return {};
  if (!made) return tl::unexpected(made.error());
  const planner::Route& route = (*made)->plan.impl().route;
  probes.push_back(named(binding, route.steps.front().price, shape.tiny));
  probes.back().run = [convolution = *made] { return convolution->run(1); };
  return {};
}

// A copying kernel between two buffers.
struct Copying {
  convoke_host_kernel function;
  problem::Buffer from, to;
  TensorSpec from_spec, to_spec;

  Result<void> run() {
    const std::array inputs = {cpu::to_operand(from_spec, from.data(), from.size())};
    const std::array outputs = {cpu::to_operand(to_spec, to.data(), to.size())};
    cpu::Call call;
    call.function = function;
    call.inputs = inputs;
    call.outputs = outputs;
    if (const int status = cpu::run(call); status != CONVOKE_OK)
      return fail(ErrorCode::kernel_failure, "kernel", {}, "a copying kernel failed with status {}", status);
    return {};
  }
};

// Expressions of a copy may name sizes of the request: any will do.
Result<planner::Request> some_request() {
  const TensorSpec one = TensorSpec::dense(DType::f32, {1, 1, 1, 1});
  return planner::make_request(Op::conv2d, one, one, std::nullopt, one, {});
}

Result<void> add_copy(const bind::Binding& binding, const CopyShape& shape, LayoutKind from_layout,
                      LayoutKind to_layout, std::vector<Probe>& probes) {
  const std::size_t align = problem::default_align;
  const std::vector<TensorSpec> operands = {problem::lay_out(binding.dtypes.front(), shape.dims, from_layout, align, 0),
                                            problem::lay_out(binding.dtypes.back(), shape.dims, to_layout, align, 0)};
  const auto request = some_request();
  if (!request) return tl::unexpected(request.error());
  const auto fit = planner::admit(binding, *request, operands);
  if (!fit || fit->copied[0] || fit->copied[1]) return {};
  auto from = problem::Buffer::make(problem::bytes_of(operands[0]), align, problem::Guard::none);
  auto to = problem::Buffer::make(problem::bytes_of(operands[1]), align, problem::Guard::none);
  if (!from) return tl::unexpected(from.error());
  if (!to) return tl::unexpected(to.error());
  std::ranges::fill(from->bytes(), ordinary_byte);
  probes.push_back(named(binding, planner::price_of(binding, *request, operands, Rates(), 1), shape.tiny));
  auto copying =
      std::make_shared<Copying>(Copying{binding.function, *std::move(from), *std::move(to), operands[0], operands[1]});
  probes.back().run = [copying = std::move(copying)] { return copying->run(); };
  return {};
}

}  // namespace

Result<std::vector<Probe>> probes_of(const Catalog& catalog, const bind::Binding& binding) {
  std::vector<Probe> probes;
  Result<void> ok;
  if (bind::convolves(binding.op)) {
    const std::span<const Shape> shapes = binding.op == bind::Operator::conv2d
                                              ? std::span<const Shape>(conv_shapes)
                                              : std::span<const Shape>(transposed_shapes);
    for (const Shape& shape : shapes)
      for (const LayoutKind layout : layouts)
        if (ok) ok = add_convolution(catalog, binding, shape, layout, probes);
  } else {
    // Nobody spreads a dense result over a dense output.
    const bool spreads = binding.op == bind::Operator::copy_out;
    for (const CopyShape& shape : copy_shapes) {
      if (ok && !spreads) ok = add_copy(binding, shape, LayoutKind::dense, LayoutKind::dense, probes);
      if (ok && !spreads) ok = add_copy(binding, shape, LayoutKind::channels_last, LayoutKind::dense, probes);
      if (ok && spreads) ok = add_copy(binding, shape, LayoutKind::dense, LayoutKind::channels_last, probes);
    }
  }
  if (!ok) return tl::unexpected(ok.error());
  return probes;
}

Result<Subject> threaded_probe(const Catalog& catalog, int threads) {
  const auto problem = problem_of("conv2d x=1x64x56x56 weight=64x64x3x3 padding=1", DType::f32, LayoutKind::dense);
  if (!problem) return tl::unexpected(problem.error());
  PlanOptions options;
  options.catalog = &catalog;
  options.backends = {"cpu"};
  auto made = convolution(*problem, options);
  if (!made) return tl::unexpected(made.error());
  return [convolution = *made, threads] { return convolution->run(threads); };
}

}  // namespace convoke::judge

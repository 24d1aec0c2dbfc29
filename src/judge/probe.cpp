// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/host.hpp"
#include "bind/binding_table.hpp"
#include "cpu/call.hpp"
#include "judge/check.hpp"
#include "plan/admit.hpp"
#include "plan/plan_impl.hpp"
#include "problem/buffer.hpp"
#include "problem/problem.hpp"
#include "problem/workload.hpp"
#include "run/packed_weight.hpp"
#include "run/steps.hpp"

namespace convoke::judge {
namespace {

using problem::LayoutKind;
using problem::Workload;

struct Shape {
  const char* words = "";
  bool tiny = false;
};

// Layers of residual and of mobile networks, chosen to differ in flops for each byte, and next to nothing.
constexpr std::array conv_shapes = {
    Shape{"conv2d x=1x64x56x56 weight=64x64x3x3 padding=1"},
    Shape{"conv2d x=1x128x56x56 weight=64x128x3x3 stride=2 padding=1"},
    Shape{"conv2d x=1x256x14x14 weight=64x256x3x3 padding=1"},
    Shape{"conv2d x=1x128x28x28 weight=256x128x1x1"},
    Shape{"conv2d x=1x512x14x14 weight=128x512x1x1"},
    Shape{"conv2d x=1x256x28x28 weight=256x256x1x1 stride=2"},
    Shape{"conv2d x=1x512x7x7 weight=256x512x3x3 padding=1"},
    Shape{"conv2d x=1x960x7x7 weight=160x960x1x1"},
    Shape{"conv2d x=1x64x56x56 weight=64x1x3x3 padding=1 groups=64"},
    Shape{"conv2d x=1x384x14x14 weight=384x1x3x3 padding=1 groups=384"},
    Shape{"conv2d x=1x240x28x28 weight=240x1x5x5 padding=2 groups=240"},
    Shape{"conv2d x=1x96x56x56 weight=96x1x3x3 stride=2 padding=1 groups=96"},
    Shape{"conv2d x=1x2x2x2 weight=2x2x1x1", true},
};
constexpr std::array transposed_shapes = {
    Shape{"conv_transpose2d x=1x64x16x16 weight=64x64x4x4 stride=2 padding=1"},
    Shape{"conv_transpose2d x=1x256x14x14 weight=256x64x2x2 stride=2"},
    Shape{"conv_transpose2d x=1x128x64x64 weight=128x32x2x2 stride=2"},
    Shape{"conv_transpose2d x=1x256x8x8 weight=256x128x4x4 stride=2 padding=1"},
    Shape{"conv_transpose2d x=1x128x32x32 weight=128x3x4x4 stride=2 padding=1"},
    Shape{"conv_transpose2d x=1x32x32x32 weight=32x1x9x9 stride=4 padding=4"},
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

// Copies of a weight so small that it matters little where it lies.
constexpr std::size_t most_weights = 32;

constexpr std::array layouts = {LayoutKind::dense, LayoutKind::channels_last};

Probe named(const bind::Binding& binding, const planner::Price& price, bool tiny) {
  return {.backend = std::string(bind::name_of(binding.contract->backend)),
          .kernel_source = binding.contract->kernel_source,
          .work = fmt::format("{}/{}", bind::token_of(binding.op), price.cost_class),
          .kernel = binding.contract->kernel,
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

RunOptions on(int threads) {
  RunOptions options;
  options.threads = threads;
  return options;
}

// What one step needs to be called again and again. Of its weight there are as many copies as a core's cache does not
// hold, one for each run in turn: in a network, the weights of all other layers have passed since the last time.
struct Convolution {
  Workload workload;
  Plan plan;
  std::vector<PackedWeight> weights;
  std::size_t next = 0;

  Result<void> run(int threads) {
    const PackedWeight& weight = weights[next++ % weights.size()];
    return plan.run(workload.x(), weight, workload.bias(), workload.out(), on(threads));
  }
  // Into the memory that holds it already: a route's own is warm too.
  Result<void> pack() const {
    const convoke_operand to = weights.front().impl().operand();
    const executor::Operands operands{{}, workload.weight(), {}, {}};
    return executor::run_steps(plan.impl(), executor::Part::weight, operands, &to, on(1));
  }
};

Result<std::shared_ptr<Convolution>> convolution(const problem::Problem& problem, const PlanOptions& options) {
  auto workload = problem::make_workload(problem, problem::Guard::none);
  if (!workload) return tl::unexpected(workload.error());
  auto plan = plan_for(*workload, options);
  if (!plan) return tl::unexpected(plan.error());
  const std::size_t cache = static_cast<std::size_t>(std::max(host().l2, std::int64_t{1} << 20));
  std::vector<PackedWeight> weights;
  for (std::size_t bytes = 0; weights.size() < 2 || (bytes < 2 * cache && weights.size() < most_weights);) {
    auto weight = plan->pack(workload->weight(), on(1));
    if (!weight) return tl::unexpected(weight.error());
    bytes += weight->bytes();
    weights.push_back(*std::move(weight));
  }
  return std::make_shared<Convolution>(Convolution{*std::move(workload), *std::move(plan), std::move(weights)});
}

// Every kernel that copies: a route with copies around the convolution says nothing of the convolution alone. A weight
// is packed before.
std::vector<std::string> copies_in(const Catalog& catalog) {
  std::vector<std::string> ids;
  for (const bind::Binding& binding : catalog.table().all())
    if (!bind::convolves(binding.op) && binding.op != bind::Operator::pack) ids.push_back(binding.id);
  return ids;
}

// Through this kernel and no copy; null where it does not admit that.
Result<std::shared_ptr<Convolution>> through(const Catalog& catalog, const bind::Binding& binding, const Shape& shape,
                                             LayoutKind layout) {
  const auto problem = problem_of(shape.words, binding.dtypes.front(), layout);
  if (!problem) return tl::unexpected(problem.error());
  PlanOptions options;
  options.kernel = binding.id;
  options.catalog = &catalog;
  options.forbid = copies_in(catalog);
  options.threads = 1;
  auto made = convolution(*problem, options);
  if (!made && made.error().code == ErrorCode::no_kernel) return nullptr;
  return made;
}

std::span<const Shape> shapes_of(bind::Operator op) noexcept {
  return op == bind::Operator::conv2d ? std::span<const Shape>(conv_shapes) : std::span<const Shape>(transposed_shapes);
}

Result<void> add_convolution(const Catalog& catalog, const bind::Binding& binding, const Shape& shape,
                             LayoutKind layout, std::vector<Probe>& probes) {
  auto made = through(catalog, binding, shape, layout);
  if (!made) return tl::unexpected(made.error());
  if (*made == nullptr) return {};
  const planner::Route& route = (*made)->plan.impl().route;
  probes.push_back(named(binding, route.steps[route.main_step].price, shape.tiny));
  probes.back().run = [convolution = *made] { return convolution->run(1); };
  return {};
}

// How much a Pack kernel writes, the kernels that it packs for say.
Result<void> add_packs(const Catalog& catalog, const bind::Binding& packer, std::vector<Probe>& probes) {
  for (const bind::Binding& binding : catalog.table().all()) {
    if (!bind::convolves(binding.op) || !binding.contract->packing || binding.input_count() != 2) continue;
    if (binding.contract->packing->kernel != packer.contract->kernel) continue;
    for (const Shape& shape : shapes_of(binding.op)) {
      auto made = through(catalog, binding, shape, LayoutKind::dense);
      if (!made) return tl::unexpected(made.error());
      if (*made == nullptr || (*made)->weights.front().impl().packer != &packer) continue;
      const planner::Route& route = (*made)->plan.impl().route;
      probes.push_back(named(packer, route.steps[route.weight_begin].price, shape.tiny));
      probes.back().run = [convolution = *made] { return convolution->pack(); };
    }
    if (!probes.empty()) return {};
  }
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
    for (const Shape& shape : shapes_of(binding.op))
      for (const LayoutKind layout : layouts)
        if (ok) ok = add_convolution(catalog, binding, shape, layout, probes);
  } else if (binding.op == bind::Operator::pack) {
    ok = add_packs(catalog, binding, probes);
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
  options.threads = threads;
  options.packed_weight = true;
  auto made = convolution(*problem, options);
  if (!made) return tl::unexpected(made.error());
  return [convolution = *made, threads] { return convolution->run(threads); };
}

}  // namespace convoke::judge

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The C face over the C++ API. No exception passes: running out of memory is a code like any other.
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/guard.hpp"
#include "base/layout.hpp"
#include "convoke/convoke.h"
#include "convoke/plan.hpp"

struct convoke_plan {
  convoke::Plan plan;
};

struct convoke_packed_weight {
  convoke::PackedWeight weight;
};

namespace {

using convoke::ConstTensor;
using convoke::Error;
using convoke::ErrorCode;
using convoke::Result;
using convoke::TensorSpec;

struct LastError {
  int code = 0;
  std::string rule, message;
};
thread_local LastError last_error;

int remember(const Error& error) noexcept {
  last_error.code = static_cast<int>(error.code);
  try {
    last_error.rule = error.rule;
    last_error.message = error.message;
  } catch (const std::bad_alloc&) {
    last_error.rule.clear();
    last_error.message.clear();
  }
  return last_error.code;
}

// Runs `body`, which returns a Result, and turns what went wrong into a code.
template <class Body>
int coded(Body body) noexcept {
  const auto result = convoke::guarded(body);
  return result ? CONVOKE_SUCCESS : remember(result.error());
}

tl::unexpected<Error> null_argument(const char* name) {
  return convoke::fail(ErrorCode::invalid_argument, name, {}, "{} must not be null", name);
}

// Structs only ever grow, so one that is smaller was not made for this library, or not made by its functions at all.
Result<void> check_size(std::size_t size, std::size_t needed, const char* what) {
  if (size >= needed) return {};
  return convoke::fail(ErrorCode::invalid_argument, what, {convoke::named("size", size)},
                       "{}: size is {} but this library wants {}; start from convoke_dense_tensor or the defaults",
                       what, size, needed);
}

template <class Params>
Result<void> check_params(const Params* params) {
  return params == nullptr ? Result<void>{} : check_size(params->size, sizeof *params, "params");
}

Result<ConstTensor> view(const convoke_tensor* tensor, const char* role) {
  if (tensor == nullptr) return null_argument(role);
  if (auto ok = check_size(tensor->size, sizeof *tensor, role); !ok) return tl::unexpected(ok.error());
  if (tensor->rank < 0 || tensor->rank > convoke::Dims::max_rank)
    return convoke::fail(ErrorCode::invalid_shape, role, {convoke::named("rank", tensor->rank)},
                         "{} has rank {}, which must be 0 to {}", role, tensor->rank, convoke::Dims::max_rank);
  ConstTensor result{tensor->data, tensor->bytes, {}};
  result.spec.dtype = static_cast<convoke::DType>(tensor->dtype);
  result.spec.offset = tensor->offset;
  if (tensor->data != nullptr) result.spec.align = convoke::planned_alignment_of(tensor->data);
  for (int axis = 0; axis < tensor->rank; ++axis) {
    result.spec.shape.push_back(tensor->shape[axis]);
    result.spec.strides.push_back(tensor->strides[axis]);
  }
  return result;
}

struct Operands {
  ConstTensor x, weight;
  std::optional<ConstTensor> bias;
  convoke::Tensor out;
  std::optional<TensorSpec> bias_spec() const { return bias ? std::optional(bias->spec) : std::nullopt; }
};

// All but the weight.
Result<Operands> operands(const convoke_tensor* x, const convoke_tensor* bias, const convoke_tensor* out) {
  Operands result;
  const auto x_view = view(x, "x"), out_view = view(out, "out");
  for (const auto* one : {&x_view, &out_view})
    if (!*one) return tl::unexpected(one->error());
  result.x = *x_view;
  result.out = {out->data, out->bytes, out_view->spec};
  if (bias != nullptr) {
    const auto bias_view = view(bias, "bias");
    if (!bias_view) return tl::unexpected(bias_view.error());
    result.bias = *bias_view;
  }
  return result;
}

Result<Operands> operands(const convoke_tensor* x, const convoke_tensor* weight, const convoke_tensor* bias,
                          const convoke_tensor* out) {
  auto result = operands(x, bias, out);
  if (!result) return result;
  const auto weight_view = view(weight, "weight");
  if (!weight_view) return tl::unexpected(weight_view.error());
  result->weight = *weight_view;
  return result;
}

convoke::Conv2dParams params_of(const convoke_conv2d_params* p) {
  if (p == nullptr) return {};
  convoke::Padding padding(p->padding[0], p->padding[1], p->padding[2], p->padding[3]);
  if (p->padding_same != 0) padding = convoke::Padding::same_upper();
  return {{p->stride[0], p->stride[1]}, padding, {p->dilation[0], p->dilation[1]}, p->groups};
}

convoke::ConvTranspose2dParams params_of(const convoke_conv_transpose2d_params* p) {
  if (p == nullptr) return {};
  return {{p->stride[0], p->stride[1]},
          {p->padding[0], p->padding[1], p->padding[2], p->padding[3]},
          {p->dilation[0], p->dilation[1]},
          {p->output_padding[0], p->output_padding[1]},
          p->groups};
}

convoke::RunOptions run_options(int threads, void* scratch = nullptr, std::size_t scratch_bytes = 0) {
  convoke::RunOptions options;
  options.threads = threads;
  options.scratch = scratch;
  options.scratch_bytes = scratch_bytes;
  return options;
}

Result<std::vector<std::string>> words_of(const char* const* words, std::size_t count, const char* name) {
  if (words == nullptr && count > 0) return null_argument(name);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i] == nullptr) return null_argument(name);
    result.emplace_back(words[i]);
  }
  return result;
}

Result<convoke::PlanOptions> plan_options(const convoke_plan_options* given) {
  convoke::PlanOptions options;
  if (given == nullptr) return options;
  if (auto ok = check_params(given); !ok) return tl::unexpected(ok.error());
  if (given->demand != nullptr) {
    auto demand = convoke::parse_demand(given->demand);
    if (!demand) return tl::unexpected(demand.error());
    options.demand = *std::move(demand);
  }
  if (given->kernel != nullptr) options.kernel = given->kernel;
  auto forbid = words_of(given->forbid, given->forbid_count, "forbid");
  if (!forbid) return tl::unexpected(forbid.error());
  options.forbid = *std::move(forbid);
  auto backends = words_of(given->backends, given->backend_count, "backends");
  if (!backends) return tl::unexpected(backends.error());
  options.backends = *std::move(backends);
  if (given->has_workspace_cap != 0) options.workspace_cap = given->workspace_cap;
  options.threads = given->threads;
  options.packed_weight = given->packed_weight != 0;
  return options;
}

template <class Params>
int write_shape(const std::int64_t* x, const std::int64_t* weight, const Params* params, std::int64_t* out) noexcept {
  return coded([&]() -> Result<void> {
    if (x == nullptr || weight == nullptr || out == nullptr) return null_argument("x, weight and out shape");
    if (auto ok = check_params(params); !ok) return ok;
    return convoke::output_shape({x[0], x[1], x[2], x[3]}, {weight[0], weight[1], weight[2], weight[3]},
                                 params_of(params))
        .map([&](const convoke::Dims& shape) { std::memcpy(out, shape.begin(), 4 * sizeof *out); });
  });
}

template <class Params>
int make_plan(const convoke_tensor* x, const convoke_tensor* weight, const convoke_tensor* bias,
              const convoke_tensor* out, const Params* params, const convoke_plan_options* given,
              convoke_plan** plan) noexcept {
  return coded([&]() -> Result<void> {
    if (plan == nullptr) return null_argument("plan");
    *plan = nullptr;
    if (auto ok = check_params(params); !ok) return ok;
    const auto tensors = operands(x, weight, bias, out);
    if (!tensors) return tl::unexpected(tensors.error());
    const auto options = plan_options(given);
    if (!options) return tl::unexpected(options.error());
    auto made = convoke::plan(tensors->x.spec, tensors->weight.spec, tensors->bias_spec(), tensors->out.spec,
                              params_of(params), *options);
    if (!made) return tl::unexpected(made.error());
    *plan = new convoke_plan{std::move(*made)};
    return {};
  });
}

}  // namespace

extern "C" {

convoke_tensor convoke_dense_tensor(void* data, int32_t dtype, int32_t rank, const int64_t* shape) {
  convoke_tensor tensor{};
  tensor.size = sizeof tensor;
  tensor.rank = -1;
  if (rank < 0 || rank > convoke::Dims::max_rank || (shape == nullptr && rank > 0)) return tensor;
  convoke::Dims dims;
  for (int axis = 0; axis < rank; ++axis) dims.push_back(shape[axis]);
  const convoke::Dims strides = convoke::dense_strides(dims);
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = rank;
  std::memcpy(tensor.shape, dims.begin(), static_cast<std::size_t>(rank) * sizeof(int64_t));
  std::memcpy(tensor.strides, strides.begin(), static_cast<std::size_t>(rank) * sizeof(int64_t));
  if (dtype >= CONVOKE_DTYPE_F32 && dtype <= CONVOKE_DTYPE_F16)
    tensor.bytes = static_cast<std::size_t>(convoke::element_count(dims).value_or(0)) *
                   convoke::size_of(static_cast<convoke::DType>(dtype));
  return tensor;
}

convoke_conv2d_params convoke_default_conv2d_params(void) {
  return {sizeof(convoke_conv2d_params), {1, 1}, {0, 0, 0, 0}, 0, {1, 1}, 1};
}

convoke_conv_transpose2d_params convoke_default_conv_transpose2d_params(void) {
  return {sizeof(convoke_conv_transpose2d_params), {1, 1}, {0, 0, 0, 0}, {1, 1}, {0, 0}, 1};
}

int convoke_conv2d_output_shape(const int64_t x_shape[4], const int64_t weight_shape[4],
                                const convoke_conv2d_params* params, int64_t out_shape[4]) {
  return write_shape(x_shape, weight_shape, params, out_shape);
}

int convoke_conv_transpose2d_output_shape(const int64_t x_shape[4], const int64_t weight_shape[4],
                                          const convoke_conv_transpose2d_params* params, int64_t out_shape[4]) {
  return write_shape(x_shape, weight_shape, params, out_shape);
}

int convoke_conv2d(const convoke_tensor* x, const convoke_tensor* weight, const convoke_tensor* bias,
                   const convoke_tensor* out, const convoke_conv2d_params* params, int32_t threads) {
  return coded([&]() -> Result<void> {
    if (auto ok = check_params(params); !ok) return ok;
    return operands(x, weight, bias, out).and_then([&](const Operands& t) {
      return convoke::conv2d(t.x, t.weight, t.bias, t.out, params_of(params), {}, run_options(threads));
    });
  });
}

int convoke_conv_transpose2d(const convoke_tensor* x, const convoke_tensor* weight, const convoke_tensor* bias,
                             const convoke_tensor* out, const convoke_conv_transpose2d_params* params,
                             int32_t threads) {
  return coded([&]() -> Result<void> {
    if (auto ok = check_params(params); !ok) return ok;
    return operands(x, weight, bias, out).and_then([&](const Operands& t) {
      return convoke::conv_transpose2d(t.x, t.weight, t.bias, t.out, params_of(params), {}, run_options(threads));
    });
  });
}

int convoke_plan_conv2d(const convoke_tensor* x, const convoke_tensor* weight, const convoke_tensor* bias,
                        const convoke_tensor* out, const convoke_conv2d_params* params,
                        const convoke_plan_options* options, convoke_plan** plan) {
  return make_plan(x, weight, bias, out, params, options, plan);
}

int convoke_plan_conv_transpose2d(const convoke_tensor* x, const convoke_tensor* weight, const convoke_tensor* bias,
                                  const convoke_tensor* out, const convoke_conv_transpose2d_params* params,
                                  const convoke_plan_options* options, convoke_plan** plan) {
  return make_plan(x, weight, bias, out, params, options, plan);
}

int convoke_plan_run(const convoke_plan* plan, const convoke_tensor* x, const convoke_tensor* weight,
                     const convoke_tensor* bias, const convoke_tensor* out, int32_t threads, void* scratch,
                     size_t scratch_bytes) {
  return coded([&]() -> Result<void> {
    if (plan == nullptr) return null_argument("plan");
    return operands(x, weight, bias, out).and_then([&](const Operands& t) {
      return plan->plan.run(t.x, t.weight, t.bias, t.out, run_options(threads, scratch, scratch_bytes));
    });
  });
}

int convoke_plan_pack(const convoke_plan* plan, const convoke_tensor* weight, int32_t threads, void* scratch,
                      size_t scratch_bytes, convoke_packed_weight** packed) {
  return coded([&]() -> Result<void> {
    if (packed == nullptr) return null_argument("packed");
    *packed = nullptr;
    if (plan == nullptr) return null_argument("plan");
    const auto tensor = view(weight, "weight");
    if (!tensor) return tl::unexpected(tensor.error());
    auto made = plan->plan.pack(*tensor, run_options(threads, scratch, scratch_bytes));
    if (!made) return tl::unexpected(made.error());
    *packed = new convoke_packed_weight{*std::move(made)};
    return {};
  });
}

void convoke_packed_weight_free(convoke_packed_weight* packed) { delete packed; }

int convoke_plan_run_packed(const convoke_plan* plan, const convoke_tensor* x, const convoke_packed_weight* weight,
                            const convoke_tensor* bias, const convoke_tensor* out, int32_t threads, void* scratch,
                            size_t scratch_bytes) {
  return coded([&]() -> Result<void> {
    if (plan == nullptr) return null_argument("plan");
    if (weight == nullptr) return null_argument("weight");
    return operands(x, bias, out).and_then([&](const Operands& t) {
      return plan->plan.run(t.x, weight->weight, t.bias, t.out, run_options(threads, scratch, scratch_bytes));
    });
  });
}

size_t convoke_plan_workspace_bytes(const convoke_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.workspace_bytes();
}

size_t convoke_plan_packed_workspace_bytes(const convoke_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.packed_workspace_bytes();
}

const char* convoke_plan_kernel(const convoke_plan* plan) { return plan == nullptr ? "" : plan->plan.kernel().c_str(); }

double convoke_plan_price_ns(const convoke_plan* plan) { return plan == nullptr ? 0 : plan->plan.price_ns(); }

void convoke_plan_destroy(convoke_plan* plan) { delete plan; }

const char* convoke_last_error_message(void) { return last_error.message.c_str(); }
const char* convoke_last_error_rule(void) { return last_error.rule.c_str(); }
int convoke_last_error_code(void) { return last_error.code; }

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bench/peers/onednn.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <omp.h>

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>

#include "base/fail.hpp"

namespace convoke::peers {
namespace {

using Data = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;
using Memory = dnnl::memory;
using Sizes = dnnl::memory::dims;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

dnnl::stream& stream() {
  static dnnl::stream in_order(engine());
  return in_order;
}

Data data_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return Data::f32;
    case DType::f64:
      return Data::f64;
    case DType::bf16:
      return Data::bf16;
    case DType::f16:
      return Data::f16;
  }
  return Data::undef;
}

// dense_desc and any_desc of one operand.
Memory::desc desc(const Sizes& sizes, DType dtype, Tag tag) { return {sizes, data_type(dtype), tag}; }

// Padding at the end such that the output has the size that the geometry says.
std::int64_t end_padding(const Geometry& g, std::int64_t in, std::int64_t out, std::int64_t stride,
                         std::int64_t dilation, std::int64_t kernel, std::int64_t begin) {
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  return g.op == Op::conv2d ? (out - 1) * stride + reach - in - begin : (in - 1) * stride + reach - begin - out;
}

struct Descs {
  Memory::desc x, weight, out;
};

struct Window {
  Sizes stride, dilation, begin, end;
};

Window window_of(const Geometry& g) {
  const ConvParams& p = g.params;
  return {.stride = {p.stride.h, p.stride.w},
          .dilation = {p.dilation.h - 1, p.dilation.w - 1},
          .begin = {p.padding.top, p.padding.left},
          .end = {end_padding(g, g.H, g.Ho, p.stride.h, p.dilation.h, g.Kh, p.padding.top),
                  end_padding(g, g.W, g.Wo, p.stride.w, p.dilation.w, g.Kw, p.padding.left)}};
}

Sizes weight_sizes(const Geometry& g) {
  const std::int64_t groups = g.params.groups;
  if (groups == 1) return {g.Cout, g.Cin, g.Kh, g.Kw};
  return {groups, g.Cout / groups, g.Cin / groups, g.Kh, g.Kw};
}

// The dense layout of our weight: [Cout, Cin/groups, Kh, Kw], transposed [Cin, Cout/groups, Kh, Kw].
Tag weight_tag(const Geometry& g) {
  const bool grouped = g.params.groups > 1;
  if (g.op == Op::conv2d) return grouped ? Tag::goihw : Tag::oihw;
  return grouped ? Tag::giohw : Tag::iohw;
}

template <class Primitive>
std::pair<dnnl::primitive, Descs> prepared(dnnl::algorithm algorithm, const Descs& wanted, const Window& window,
                                           std::string& implementation) {
  const typename Primitive::primitive_desc chosen(engine(), dnnl::prop_kind::forward_inference, algorithm, wanted.x,
                                                  wanted.weight, wanted.out, window.stride, window.dilation,
                                                  window.begin, window.end);
  implementation = chosen.impl_info_str();
  return {Primitive(chosen), {chosen.src_desc(), chosen.weights_desc(), chosen.dst_desc()}};
}

void copy(Memory from, Memory to) {
  dnnl::reorder(from, to).execute(stream(), from, to);
  stream().wait();
}

// The library that a symbol is bound to where every library of this process finds it.
std::string home_of(const char* symbol) {
  void* const address = ::dlsym(RTLD_DEFAULT, symbol);
  Dl_info info{};
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

}  // namespace

struct OneDnn::Impl {
  std::string implementation;
  dnnl::primitive primitive;
  std::unordered_map<int, Memory> arguments;
  Memory out;
  Memory::desc dense_out;
};

OneDnn::OneDnn(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OneDnn::OneDnn(OneDnn&&) noexcept = default;
OneDnn& OneDnn::operator=(OneDnn&&) noexcept = default;
OneDnn::~OneDnn() = default;

Result<std::optional<OneDnn>> OneDnn::make(const problem::Workload& workload, View view) {
  const Geometry& g = *workload.geometry();
  const DType dtype = workload.x().spec.dtype;
  const Tag tag = view == View::plain ? Tag::nchw : Tag::any;
  const Sizes x_sizes{g.N, g.Cin, g.H, g.W}, out_sizes{g.N, g.Cout, g.Ho, g.Wo};
  try {
    const Descs wanted{desc(x_sizes, dtype, tag), desc(weight_sizes(g), dtype, Tag::any), desc(out_sizes, dtype, tag)};
    auto impl = std::make_unique<Impl>();
    const auto [primitive, descs] =
        g.op == Op::conv2d ? prepared<dnnl::convolution_forward>(dnnl::algorithm::convolution_direct, wanted,
                                                                 window_of(g), impl->implementation)
                           : prepared<dnnl::deconvolution_forward>(dnnl::algorithm::deconvolution_direct, wanted,
                                                                   window_of(g), impl->implementation);
    const Memory dense_x(desc(x_sizes, dtype, Tag::nchw), engine(), const_cast<void*>(workload.x().data));
    const Memory dense_weight(desc(weight_sizes(g), dtype, weight_tag(g)), engine(),
                              const_cast<void*>(workload.weight().data));
    const Memory x(descs.x, engine()), weight(descs.weight, engine()), out(descs.out, engine());
    copy(dense_x, x);
    copy(dense_weight, weight);
    impl->primitive = primitive;
    impl->arguments = {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, weight}, {DNNL_ARG_DST, out}};
    impl->out = out;
    impl->dense_out = desc(out_sizes, dtype, Tag::nchw);
    return OneDnn(std::move(impl));
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_unimplemented) return std::nullopt;
    return fail(ErrorCode::kernel_failure, "onednn", {}, "oneDNN: {}", error.what());
  }
}

Result<void> OneDnn::run() const {
  try {
    impl_->primitive.execute(stream(), impl_->arguments);
    stream().wait();
    return {};
  } catch (const dnnl::error& error) {
    return fail(ErrorCode::kernel_failure, "onednn", {}, "oneDNN: {}", error.what());
  }
}

const std::string& OneDnn::implementation() const noexcept { return impl_->implementation; }

bool OneDnn::reference() const noexcept { return impl_->implementation.find("ref") != std::string::npos; }

Result<std::vector<std::byte>> OneDnn::out() const {
  try {
    std::vector<std::byte> bytes(impl_->dense_out.get_size());
    copy(impl_->out, Memory(impl_->dense_out, engine(), bytes.data()));
    return bytes;
  } catch (const dnnl::error& error) {
    return fail(ErrorCode::kernel_failure, "onednn", {}, "oneDNN: {}", error.what());
  }
}

std::string onednn_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{}", version.major, version.minor, version.patch);
}

std::string shared_openmp() {
  // GCC's entry point, which packaged builds of oneDNN call, and Clang's, which ours may.
  const std::string gcc_home = home_of("GOMP_parallel_start"), clang_home = home_of("__kmpc_fork_call");
  return clang_home.empty() || clang_home == gcc_home ? gcc_home : std::string();
}

}  // namespace convoke::peers

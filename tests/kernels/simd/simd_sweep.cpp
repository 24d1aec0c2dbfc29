// SPDX-License-Identifier: Apache-2.0 OR MIT
// simd_sweep [--count N] [--seed S] [--only INDEX]: N random problems of each operation and dtype through every kernel
// of kernels/simd on every instruction set of the host, between guard pages, compared with a portable kernel bit for
// bit. Exit: 0 all equal, 1 some differ, 2 the arguments make no sense, 3 the host runs none of the kernels.
#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <span>

#include "base/dtype.hpp"
#include "base/random.hpp"
#include "cpu/call.hpp"
#include "problem/random_problem.hpp"
#include "problem/workload.hpp"
#include "tests/kernels/guarded.hpp"

namespace convoke::kernel_tests {
namespace {

constexpr int most_failures_shown = 20;
constexpr int most_threads = 3;

struct Arguments {
  std::uint64_t count = 1000, seed = 1;
  std::optional<std::uint64_t> only;
};

std::optional<Arguments> parse(std::span<char*> words) {
  Arguments arguments;
  for (std::size_t i = 1; i < words.size(); i += 2) {
    if (i + 1 == words.size()) return std::nullopt;
    const std::string_view word = words[i], text = words[i + 1];
    std::uint64_t value = 0;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    if (word == "--count") {
      arguments.count = value;
    } else if (word == "--seed") {
      arguments.seed = value;
    } else if (word == "--only") {
      arguments.only = value;
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

convoke_operand operand_of(const ConstTensor& tensor) {
  return cpu::to_operand(tensor.spec, const_cast<void*>(tensor.data), tensor.bytes);
}

CallOperands operands_of(const problem::Workload& workload) {
  const Geometry& geometry = *workload.geometry();
  const ConvParams& p = geometry.params;
  CallOperands call;
  call.x = operand_of(workload.x());
  call.weight = operand_of(workload.weight());
  call.has_bias = workload.bias().has_value();
  if (call.has_bias) call.bias = operand_of(*workload.bias());
  call.out = operand_of(workload.out());
  call.params = {.size = sizeof(convoke_conv_params),
                 .reserved = 0,
                 .stride = {p.stride.h, p.stride.w},
                 .padding = {p.padding.top, p.padding.left},
                 .dilation = {p.dilation.h, p.dilation.w},
                 .groups = p.groups};
  return call;
}

/// The sizes that say how large packed weights are.
Problem sizes_of(const Geometry& geometry, DType dtype) {
  Problem sizes;
  sizes.dtype = static_cast<int>(dtype);
  sizes.Cin = geometry.Cin, sizes.Cout = geometry.Cout, sizes.groups = geometry.params.groups;
  sizes.Kh = geometry.Kh, sizes.Kw = geometry.Kw;
  return sizes;
}

/// A caller's pool on the calling thread that takes one index after the other, the last first.
void run_backwards(void*, std::int64_t count, convoke_range_body body, void* body_context) {
  for (std::int64_t i = count - 1; i >= 0; --i) body(body_context, i, i + 1);
}
constexpr convoke_parallel_for backwards{nullptr, run_backwards};

/// Makes every NaN one.
void unify_nans(std::vector<std::byte>& bytes, const Format& format) {
  const auto size = static_cast<std::size_t>(format.bytes);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    std::uint64_t element = 0;
    std::memcpy(&element, &bytes[at], size);
    if (!format.is_nan(element)) continue;
    element = format.quiet_nan();
    std::memcpy(&bytes[at], &element, size);
  }
}

class Sweep {
 public:
  explicit Sweep(std::uint64_t seed) : seed_(seed) {}

  /// Problem `index` of one operation in one dtype. What went wrong, if anything.
  std::optional<std::string> run(Op op, DType dtype, std::uint64_t index) {
    problem::Problem problem = problem::random_problem(op, seed_, index);
    problem.dtype = dtype;
    problem.align = std::max(problem.align, static_cast<std::size_t>(size_of(dtype)));
    line_ = problem::to_line(problem);
    auto workload = problem::make_workload(problem, index % 2 == 0 ? problem::Guard::end : problem::Guard::front);
    if (!workload) return workload.error().message;
    const CallOperands operands = operands_of(*workload);
    const bool transposed = op == Op::conv_transpose2d;
    if (portable(transposed, dtype, operands) != CONVOKE_OK) return "the portable kernel failed";
    std::vector<std::byte> expected = bytes_of(workload->out());
    for (const SimdKernel& kernel : simd_kernels(transposed, static_cast<int>(dtype))) {
      if (!kernel.admits(sizes_of(*workload->geometry(), dtype))) continue;
      workload->reset_out();
      ++runs_[kernel.name];
      if (auto wrong = compare(kernel, *workload, operands, dtype, index, expected)) return kernel.name + ": " + *wrong;
    }
    return std::nullopt;
  }
  const std::string& line() const { return line_; }
  const std::map<std::string, std::uint64_t>& runs() const { return runs_; }

 private:
  static std::vector<std::byte> bytes_of(const convoke::Tensor& out) {
    const auto* const data = static_cast<const std::byte*>(out.data);
    return {data, data + out.bytes};
  }

  static std::int32_t portable(bool transposed, DType dtype, const CallOperands& operands) {
    const std::string name =
        (transposed ? "conv_transpose2d_" : "conv2d_") + std::string(formats[static_cast<std::size_t>(dtype)].name);
    const convoke_operand* const inputs[] = {&operands.x, &operands.weight, &operands.bias};
    const convoke_operand* const outputs[] = {&operands.out};
    convoke_call call{};
    call.size = sizeof call, call.version = CONVOKE_KERNEL_VERSION;
    call.inputs = inputs, call.input_count = operands.has_bias ? 3 : 2;
    call.outputs = outputs, call.output_count = 1;
    call.params = &operands.params;
    call.threads = 1;
    return rows_of(name).front().function(&call);
  }

  std::optional<std::string> compare(const SimdKernel& kernel, const problem::Workload& workload,
                                     const CallOperands& operands, DType dtype, std::uint64_t index,
                                     std::vector<std::byte>& expected) {
    // Every third problem is cut for two or three workers.
    SimdCall how;
    how.threads = index % 3 == 0 ? 2 + static_cast<int>(index / 3 % 2) : 1;
    how.pool = how.threads > 1 ? &backwards : nullptr;
    const std::size_t bytes = (kernel.packed_bytes(sizes_of(*workload.geometry(), dtype)) + 63) / 64 * 64;
    auto packed = problem::Buffer::make(bytes, 64, problem::Guard::end);
    if (!packed) return packed.error().message;
    const std::size_t scratch_bytes = static_cast<std::size_t>(how.threads) * scratch_per_thread;
    unsigned char* const scratch = scratch_.data() + (scratch_.bytes() - scratch_bytes);  // up to the guard
    if (pack(kernel, operands, packed->data(), bytes, how) != CONVOKE_OK) return "packing failed";
    if (convolve(kernel, operands, packed->data(), bytes, scratch, scratch_bytes, how) != CONVOKE_OK) {
      return "it failed";
    }
    if (const auto untouched = workload.check_untouched(); !untouched) return untouched.error().message;
    if (!packed->slack_intact()) return "it wrote beside the packed weights";
    std::vector<std::byte> found = bytes_of(workload.out());
    if (found == expected) return std::nullopt;
    const Format& format = formats[static_cast<std::size_t>(dtype)];
    unify_nans(found, format);
    unify_nans(expected, format);
    return found == expected ? std::nullopt : std::optional<std::string>("other bits than the portable kernel");
  }

  std::uint64_t seed_;
  std::string line_;
  std::map<std::string, std::uint64_t> runs_;
  Guarded scratch_{most_threads * scratch_per_thread, Side::end};
};

int sweep_all(const Arguments& arguments) {
  Sweep sweep(arguments.seed);
  const bool shows_progress = isatty(STDERR_FILENO) != 0;
  const std::uint64_t first = arguments.only.value_or(0);
  const std::uint64_t last = arguments.only ? first + 1 : arguments.count;
  std::uint64_t failed = 0;
  for (std::uint64_t index = first; index < last; ++index) {
    if (shows_progress && index % 100 == 0) fmt::print(stderr, "\r{} of {}", index, last);
    for (const Op op : {Op::conv2d, Op::conv_transpose2d}) {
      for (const DType dtype : all_dtypes) {
        const auto failure = sweep.run(op, dtype, index);
        if (!failure || ++failed > most_failures_shown) continue;
        fmt::print("FAILED: simd_sweep --seed {} --only {}\n  {}\n  {}\n", arguments.seed, index, sweep.line(),
                   *failure);
      }
    }
  }
  if (shows_progress) fmt::print(stderr, "\r\x1b[K");
  fmt::print("{} problems of each operation and dtype, {} failed; runs:\n", last - first, failed);
  for (const auto& [name, count] : sweep.runs()) fmt::print("  {:>10}  {}\n", count, name);
  if (sweep.runs().empty()) return 3;
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace convoke::kernel_tests

int main(int count, char** words) {
  try {
    const auto arguments = convoke::kernel_tests::parse({words, static_cast<std::size_t>(count)});
    if (arguments) return convoke::kernel_tests::sweep_all(*arguments);
    fmt::print(stderr, "usage: simd_sweep [--count N] [--seed S] [--only INDEX]\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "simd_sweep: {}\n", error.what());
    return 1;
  }
}

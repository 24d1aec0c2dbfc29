// SPDX-License-Identifier: Apache-2.0 OR MIT
// The kernels of kernels/simd by direct calls: weights packed first, scratch as the contracts promise it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/simd/entries.hpp"
#include "tests/kernels/kernel_test.hpp"

namespace convoke::kernel_tests {

/// What each thread gets of a kernel's scratch.
constexpr std::size_t scratch_per_thread = std::size_t{1} << 20;

/// A convolution and the Pack kernel its weights come from, both built for one instruction set.
struct SimdKernel {
  std::string name;  // "conv2d_channels_f32 fma"
  std::uint32_t isa;
  convoke_host_kernel pack;  // null: weights are taken as they come
  convoke_host_kernel convolve;
  std::int64_t lane_block;  // the contract rounds the channels of a group up to this
  bool depthwise;           // takes groups of one input channel only

  bool admits(const Problem& p) const { return !depthwise || p.groups == p.Cin; }
  /// Bytes of packed weights, as the contract says.
  std::size_t packed_bytes(const Problem& p) const {
    if (pack == nullptr) return 0;
    const std::int64_t channels = (p.Cout / p.groups + lane_block - 1) / lane_block * lane_block;
    const std::int64_t sum_bytes = p.dtype == CONVOKE_F64 ? 8 : 4;
    return static_cast<std::size_t>(channels * p.Cin * p.Kh * p.Kw * sum_bytes);
  }
};

inline std::string_view isa_name(std::uint32_t isa) {
  if ((isa & CONVOKE_ISA_AVX512) != 0) return "avx512";
  return (isa & CONVOKE_ISA_FMA) != 0 ? "fma" : "baseline";
}

/// The row of a symbol for exactly this instruction set.
inline const convoke_entry* simd_row(std::string_view symbol, std::uint32_t isa) {
  for (const convoke_entry& entry : simd::entries()) {
    if (entry.symbol == symbol && entry.isa == isa) return &entry;
  }
  return nullptr;
}

/// Every convolution of this operation and dtype, once for each instruction set that this host runs. A kernel's Pack
/// kernel is the one of its name.
inline std::vector<SimdKernel> simd_kernels(bool transposed, int dtype) {
  constexpr std::string_view prefix = "convoke::simd::";
  std::vector<SimdKernel> kernels;
  for (const convoke_entry& entry : simd::entries()) {
    if (entry.op != (transposed ? CONVOKE_CONV_TRANSPOSE2D : CONVOKE_CONV2D) || entry.input_dtype != dtype) continue;
    if (!host_runs(entry.isa)) continue;
    const std::string name = std::string(entry.symbol).substr(prefix.size());
    const convoke_entry* const pack = simd_row(std::string(prefix) + "pack_" + name, entry.isa);
    const bool depthwise = name.find("depthwise") != std::string::npos;
    if ((pack == nullptr) != depthwise) std::abort();  // then this file has to learn what else such a kernel takes
    const bool over_pixels = name.find("pixels") != std::string::npos;
    kernels.push_back({name + " " + std::string(isa_name(entry.isa)), entry.isa, depthwise ? nullptr : pack->function,
                       entry.function, over_pixels ? 8 : 16, depthwise});
  }
  return kernels;
}

/// Those of them that admit the problem.
inline std::vector<SimdKernel> simd_kernels_of(const Problem& p) {
  std::vector<SimdKernel> kernels = simd_kernels(p.transposed, p.dtype);
  std::erase_if(kernels, [&](const SimdKernel& kernel) { return !kernel.admits(p); });
  return kernels;
}

/// Memory from an address aligned to 64 on. The usual filling is NaN as a number and -1 as an index.
class PoisonedMemory {
 public:
  explicit PoisonedMemory(std::size_t bytes, std::uint8_t filling = 0xff) : memory_(bytes + 64, filling) {}
  void* data() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (64 - address % 64) % 64;
  }

 private:
  std::vector<std::uint8_t> memory_;
};

/// How a convolution is called; by default as a plan for one thread would.
struct SimdCall {
  int threads = 1;
  std::optional<std::size_t> scratch_bytes{};  // absent: what so many threads need
  const convoke_parallel_for* pool = nullptr;
  std::uint8_t filling = 0xff;  // of scratch and packed weights before the call
};

/// The operands of a call as the kernel sees them, wherever they lie.
struct CallOperands {
  convoke_operand x{}, weight{}, bias{}, out{};
  bool has_bias = false;
  convoke_conv_params params{};

  CallOperands() = default;
  explicit CallOperands(const Operands& operands)
      : x(operands.x.operand()),
        weight(operands.weight.operand()),
        bias(operands.bias.operand()),
        out(operands.out.operand()),
        has_bias(operands.has_bias),
        params(operands.params) {}
};

/// Packs the weight into `bytes` of memory. Returns the kernel's status.
inline std::int32_t pack(const SimdKernel& kernel, const CallOperands& operands, void* packed, std::size_t bytes,
                         const SimdCall& how = {}) {
  if (kernel.pack == nullptr) return CONVOKE_OK;
  convoke_operand to = operands.weight;
  to.data = packed;
  to.bytes = bytes;
  to.offset = 0;
  const convoke_operand* const inputs[] = {&operands.weight};
  const convoke_operand* const outputs[] = {&to};
  convoke_call call{};
  call.size = sizeof call, call.version = CONVOKE_KERNEL_VERSION;
  call.inputs = inputs, call.input_count = 1;
  call.outputs = outputs, call.output_count = 1;
  call.params = &operands.params;
  call.threads = how.threads, call.parallel_for = how.pool;
  return kernel.pack(&call);
}

/// Convolves with weights packed before.
inline std::int32_t convolve(const SimdKernel& kernel, const CallOperands& operands, void* packed, std::size_t bytes,
                             void* scratch, std::size_t scratch_bytes, const SimdCall& how = {}) {
  convoke_operand weight = operands.weight;
  if (kernel.pack != nullptr) {
    weight.data = packed;
    weight.bytes = bytes;
    weight.offset = 0;
  }
  const convoke_operand* const inputs[] = {&operands.x, &weight, &operands.bias};
  const convoke_operand* const outputs[] = {&operands.out};
  convoke_call call{};
  call.size = sizeof call, call.version = CONVOKE_KERNEL_VERSION;
  call.inputs = inputs, call.input_count = operands.has_bias ? 3 : 2;
  call.outputs = outputs, call.output_count = 1;
  call.params = &operands.params;
  call.scratch = scratch, call.scratch_bytes = scratch_bytes;
  call.threads = how.threads, call.parallel_for = how.pool;
  return kernel.convolve(&call);
}

/// Packs, then convolves. The first status that is not CONVOKE_OK, or CONVOKE_OK.
inline std::int32_t run(const SimdKernel& kernel, const Problem& p, const Operands& operands,
                        const SimdCall& how = {}) {
  const CallOperands call(operands);
  const std::size_t bytes = kernel.packed_bytes(p);
  const std::size_t scratch_bytes =
      how.scratch_bytes.value_or(static_cast<std::size_t>(how.threads) * scratch_per_thread);
  PoisonedMemory packed(bytes, how.filling), scratch(scratch_bytes, how.filling);
  const std::int32_t status = pack(kernel, call, packed.data(), bytes, how);
  if (status != CONVOKE_OK) return status;
  return convolve(kernel, call, packed.data(), bytes, scratch.data(), scratch_bytes, how);
}

}  // namespace convoke::kernel_tests

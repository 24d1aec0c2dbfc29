// SPDX-License-Identifier: Apache-2.0 OR MIT
// Kernels that hold every call to the clauses of their own contract, judged here without the code under test: a broken
// clause is remembered, and the call fails. What they compute, the portable kernels compute.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bind/binding_table.hpp"
#include "kernels/common/kernel.h"

namespace convoke::sweep {

/// What a kernel sees of a convolution. Zeros in the kernels that only copy.
struct Sizes {
  std::int64_t N = 0, Cin = 0, H = 0, W = 0, Cout = 0, Kh = 0, Kw = 0, Ho = 0, Wo = 0, groups = 0;
  std::array<std::int64_t, 2> stride{}, padding{}, dilation{};
  std::int64_t n = 0, weight_count = 0, dtype_bytes = 0;
};

struct Seen {
  const Sizes& sizes;
  const convoke_operand& self;
};

/// A clause as its document words it (`{}`: the role of the first input), and whether it holds.
struct Rule {
  std::string_view text;
  bool (*holds)(const Seen&);
};

/// An expression as its document words it, and its value; nullopt: it has none, so that the kernel must never run.
struct Amount {
  std::string_view text;
  std::optional<std::int64_t> (*value)(const Sizes&);
};

struct Flags {
  enum class Contiguous { not_applicable, accepted, required } contiguous = Contiguous::required;
  bool strided = false, broadcast = false, offset = false, reverse = false;
  std::optional<int> broadcast_axis;  // one that must be broadcast
};

struct OperandClauses {
  std::string role;
  std::optional<Flags> flags;  // absent: dense, at offset 0
  const Rule *layout = nullptr, *shape = nullptr;
  int min_rank = 0, max_rank = 6;
};

struct Field {
  std::string_view name;
  const Rule* rule = nullptr;
};

/// One section of a generated document.
struct Kernel {
  bind::Operator op = bind::Operator::conv2d;
  std::string name;
  bool on_device = false;
  std::vector<OperandClauses> inputs;
  bool bias_is_optional = false;
  OperandClauses output;
  std::vector<DType> dtypes;     // of the inputs; several make a key each
  std::optional<DType> cast_to;  // of the output, where it is another
  std::vector<Field> fields;     // op_params
  std::optional<std::uint64_t> alignment;
  const Amount* workspace = nullptr;
  const Amount* packed_bytes = nullptr;  // of the weight, which `pack_kernel` packs
  std::string pack_kernel;
  std::string never;                     // the clause that no call can meet; empty: none
  std::string costs, claims, more_caps;  // text of the document that no call can break

  std::size_t alignment_of(DType dtype) const noexcept { return alignment.value_or(size_of(dtype)); }
};

/// A kernel in one dtype: what one row of a table of entries stands for.
struct Instance {
  const Kernel* kernel = nullptr;
  DType dtype = DType::f32;
};

/// The functions that instances are bound to; `bound[i]` is what function i takes itself for.
inline constexpr std::size_t most_instances = 96;
convoke_host_kernel function_of(std::size_t index) noexcept;
std::span<Instance> bound() noexcept;

/// Clauses that calls broke since this was asked last.
std::vector<std::string> take_broken();

/// The first clause that the call breaks, operands with host pointers.
std::optional<std::string> broken_clause(const Instance& instance, const convoke_call& call,
                                         std::span<const convoke_operand> inputs, const convoke_operand& output);

}  // namespace convoke::sweep

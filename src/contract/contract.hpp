// SPDX-License-Identifier: Apache-2.0 OR MIT
// What a validated contract says. Only the importer makes these values: holding a Contract means every rule passed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "contract/diagnostic.hpp"
#include "contract/expression.hpp"

namespace convoke::contract {

enum class Backend { cpu, cuda, vulkan, metal };

/// Front matter of a document, after inheritance from `_provider.fkc.md`.
struct Provider {
  std::uint32_t fkc_version = 1;
  std::string name;
  Backend backend = Backend::cpu;
  std::string kernel_source;
  std::optional<std::string> link_registry;
  std::optional<std::string> revision_base;
  std::map<std::string, Place, std::less<>> places;  ///< where each field that the file itself gives stands
};

enum class Contiguity { required, accepted, not_applicable };
enum class Acceptance { rejected, accepted, required };
enum class AwkwardStrategy { requires_contiguous, handles_strided, contiguize_internally };

struct LayoutFlags {
  Contiguity contiguous = Contiguity::not_applicable;
  bool strided = false;
  Acceptance broadcast_stride0 = Acceptance::rejected;
  bool start_offset = false;
  bool reverse_strides = false;
  std::vector<int> broadcast_axes;
};

/// Inclusive; max absent: no upper bound.
struct RankRange {
  std::int64_t min = 0;
  std::optional<std::int64_t> max;
};

struct Operand {
  std::string name;
  bool optional = false;
  std::vector<std::string> dtypes;  ///< tokens as written (`F32`), dtype_class expanded
  std::string dtype_class;
  std::optional<LayoutFlags> layout;
  std::optional<AwkwardStrategy> strategy;  ///< the operand's own override
  RankRange rank;
  std::optional<Constraint> shape_constraint;
  std::optional<Constraint> layout_constraint;  ///< our addition
};

enum class LayoutGuarantee { contiguous, preallocated, same_as, bundle };

struct Output {
  std::string name;
  std::string dtype_rule;  ///< `passthrough(x)`
  std::string shape_rule;
  LayoutGuarantee layout_guarantee = LayoutGuarantee::contiguous;
  std::string aliasing;
  std::optional<LayoutFlags> layout;            ///< our addition: what an out tensor may look like; absent: dense only
  std::optional<Constraint> layout_constraint;  ///< our addition
};

struct Field {
  std::string name;
  std::string kind;
  std::string note;
  std::optional<Constraint> constraint;
};

struct FastPath {
  std::optional<Predicate> when;  ///< absent: unreadable or missing, skipped with a warning
  std::string text;
  std::optional<std::string> cost_class;
  std::string note;
};

struct Caps {
  AwkwardStrategy strategy = AwkwardStrategy::requires_contiguous;
  std::vector<FastPath> fast_paths;
  bool in_place = false;
  std::optional<std::uint64_t> alignment_bytes;
  std::optional<std::uint64_t> access_granularity_bits;
};

enum class Provenance { declared, judge_measured };

struct Cost {
  Provenance provenance = Provenance::declared;
  std::string cost_class;  ///< a word of the format or of ours; an unknown one became gemm_like with a warning
  std::optional<CostExpression> flops, bytes_moved, overhead_ns, device_bytes, host_bytes, disk_bytes;
  std::optional<std::string> cost_fn;
};

enum class PrecisionClaim { unaudited, stable, bounded, none };

struct Precision {
  PrecisionClaim claim = PrecisionClaim::unaudited;
  bool bit_stable = false;  ///< after lowering: dropped where the format drops it
  std::optional<std::uint64_t> max_ulp;
  std::optional<double> max_relative, max_absolute;
  std::optional<bool> audited;
  std::string notes;
};

enum class Determinism { bitwise, same_hardware_bitwise, nondeterministic };

/// The words of a contract for these values: `requires_contiguous`, `bitwise`, ...
std::string_view word_of(AwkwardStrategy strategy) noexcept;
std::string_view word_of(Determinism determinism) noexcept;

/// Our additive field `numerics`.
struct Numerics {
  std::optional<std::string> order;  ///< `law`, a named order, or absent: unknown
  std::optional<std::string> accumulator;
  std::optional<std::string> absent_taps;  ///< `skip` or `zero_fill`
  std::vector<std::string> invariant_to;   ///< of threads batch layout alignment isa device
  struct ErrorBound {
    std::string scale;  ///< `output` or `plane`
    CostExpression terms;
    std::string unit;
  };
  std::optional<ErrorBound> error;
};

/// Our additive field `packing`.
struct Packing {
  std::string operand, kernel;
  CostExpression bytes;
};

/// One `## ` section. `registrable` false: described only, never bound.
struct Contract {
  std::string section;  ///< heading text
  std::string kernel;
  bool registrable = true;
  std::optional<std::string> op_kind, fused_op;
  std::string blurb;
  Backend backend = Backend::cpu;  ///< the block's own, else the provider's
  std::string kernel_source;
  std::string entry_point;
  std::string variant;
  std::vector<Operand> inputs;
  std::vector<Output> outputs;
  bool bundle = false;
  std::string params_variant;
  std::vector<Field> fields;
  Caps caps;
  Cost cost;
  Precision precision;
  Determinism determinism = Determinism::nondeterministic;
  std::optional<Numerics> numerics;
  std::vector<std::string> requires_isa, requires_device;
  std::optional<CostExpression> workspace_bytes;
  std::optional<Packing> packing;
  std::uint64_t revision = 0;  ///< the public hash (docs/format.md, A block), or the block's own hex value
  /// SHA-256, hex, of the block's text with line ends as LF and without leading blanks: a document whose indentation
  /// was lost keeps its digest, as it keeps its meaning.
  std::string block_digest;
  int line = 0;          ///< of the heading
  Place entry_point_at;  ///< where the entry point stands
};

/// One dispatch key of a contract: a dtype variant, with or without the optional last operand. Tokens are the format's
/// (`F32`), inputs first, then outputs. `symbol` is the entry point, with its dtype suffix where the section fans out.
struct Key {
  std::vector<std::string> dtypes;
  std::string symbol;
  bool optional_present = true;
};

/// All keys of a registrable contract, in registration order; none for a describe-only one.
std::vector<Key> keys(const Contract& contract);

/// What reading one document gives: contracts that are free of errors, and everything that was found.
struct ParsedDocument {
  std::string path;
  std::optional<Provider> provider;
  std::vector<Contract> contracts;      ///< empty when `has_errors()`
  std::vector<Diagnostic> diagnostics;  ///< in the order of the file

  bool has_errors() const noexcept;
};

/// Name of the file that supplies front matter to the documents below its folder.
inline constexpr std::string_view provider_file = "_provider.fkc.md";

/// Front-matter values that a folder's `_provider.fkc.md` supplies.
struct InheritedProvider {
  std::string path;
  std::string text;
};

/// Reads, recovers (flat documents) and validates one document. Never throws; bounded in time and memory.
ParsedDocument parse_document(std::string_view text, std::string_view path,
                              const InheritedProvider* inherited = nullptr);

/// Findings across documents of one import: provider fields that disagree, a function's symbol twice at one key.
std::vector<Diagnostic> cross_check(const std::vector<ParsedDocument>& documents);

/// The document written out with indentation; what `contracts fmt` prints. Errors: the document's diagnostics.
tl::expected<std::string, std::vector<Diagnostic>> format_document(std::string_view text, std::string_view path);

}  // namespace convoke::contract

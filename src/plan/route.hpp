// SPDX-License-Identifier: Apache-2.0 OR MIT
// A route: the steps from the caller's operands to the caller's output, copies, casts and transfers included.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bind/binding_table.hpp"
#include "plan/admit.hpp"
#include "plan/price.hpp"
#include "plan/request.hpp"

namespace convoke::planner {

/// Where an operand of a step lies.
enum class Place { x, weight, bias, out, scratch, device };

struct Slot {
  Place place = Place::x;
  std::size_t scratch_offset = 0;  ///< scratch: bytes from its aligned start; device: index into Route::device_bytes
  std::size_t bytes = 0;           ///< only for scratch and device
  TensorSpec spec;
};

/// One kernel call.
struct Step {
  const bind::Binding* binding = nullptr;  ///< owned by the catalog's table
  std::vector<Slot> inputs, outputs;
  std::optional<Slot> workspace = {};  ///< the kernel's own scratch, where it is handed one
  Price price = {};
  std::string_view role = {};            ///< the operand that a step beside the convolution works for
  std::optional<int> most_threads = {};  ///< that its workspace is for, where that depends on them
};

/// Where the weight stands among a convolution's inputs.
inline constexpr std::size_t weight_operand = 1;

struct Route {
  std::vector<Step> steps;
  std::size_t main_step = 0;               ///< index of the step that convolves
  std::size_t weight_begin = 0;            ///< steps that work on the weight alone, which can be done once and kept:
  std::size_t weight_end = 0;              ///< from here up to there; the same where the kernel takes it as it lies
  std::size_t scratch_bytes = 0;           ///< of all host slots and workspaces together, from an aligned start
  std::size_t weight_scratch = 0;          ///< where that of the weight's steps starts, behind what the others need
  std::vector<std::size_t> device_bytes;   ///< one allocation each, made for a run
  const convoke_device* device = nullptr;  ///< where those are made; null: the route stays on the host
  int threads = 1;                         ///< that it is made for
  bool packed_weight = false;              ///< the caller keeps what the weight's steps give: they are priced 0
  double ns = 0;                           ///< sum of its steps' prices
};

/// Alignment of the start of a route's scratch.
inline constexpr std::size_t scratch_alignment = 4096;

/// Host memory of any alignment that suffices for the route's scratch: what a caller hands over, and may put a cap on.
inline std::size_t workspace_bytes(const Route& route) noexcept {
  return route.scratch_bytes == 0 ? 0 : route.scratch_bytes + scratch_alignment - 1;
}

/// The same for a run whose weight is packed already.
inline std::size_t packed_workspace_bytes(const Route& route) noexcept {
  return route.weight_scratch == 0 ? 0 : route.weight_scratch + scratch_alignment - 1;
}

/// Whether the step works on the weight alone.
inline bool is_of_weight(const Route& route, std::size_t step) noexcept {
  return step >= route.weight_begin && step < route.weight_end;
}

/// How a kernel is approached.
struct Variant {
  bool dense = false;            ///< every operand that is not dense is copied, though the kernel may take it as it is
  std::optional<DType> through;  ///< operands are widened to this type, and the result is narrowed from it
};

/// What routes of one request have in common: the kernels there are, which of them may copy, what things cost, and the
/// copies found so far, so that routes that share a step share its search and its price.
class Workshop {
 public:
  struct Options {
    const std::vector<std::string>* forbid = nullptr;  ///< globs over ImplIds; null: none
    const std::vector<std::string>* steps = nullptr;   ///< ImplId of each step of the route; null: the planner's choice
    bool any_copies = false;  ///< copies of foreign documents, and such that do not claim their bits, will do
    const Rates* rates = nullptr;
    int threads = 1;
    std::optional<std::size_t> workspace_cap = {};
    bool packed_weight = false;  ///< as PlanOptions has it
  };
  Workshop(const bind::BindingTable& table, const Request& request, const Options& options)
      : table_(table), request_(request), options_(options) {}

  struct Copy {
    const bind::Binding* binding = nullptr;  ///< null: none takes these operands
    Price price;
    std::optional<TensorSpec> first = {};  ///< what `from` must be copied to before; absent: nothing
  };
  /// The cheapest kernel of a copying operator that takes `from` and `to` as they lie; where none does, of those that
  /// would, had `from` been made dense and aligned first. `step`: number of the step that
  /// it would be. `device`: of Upload, Download and Pack. `packed_for`: of Pack, the kernel whose contract names it;
  /// both are of one backend and kernel_source.
  Copy copy(std::size_t step, bind::Operator op, const TensorSpec& from, const TensorSpec& to,
            const convoke_device* device = nullptr, const bind::Binding* packed_for = nullptr);

  const Request& request() const noexcept { return request_; }
  const Options& options() const noexcept { return options_; }
  Price price(const bind::Binding& binding, const std::vector<TensorSpec>& operands) const;

 private:
  struct Found {
    bind::Operator op = bind::Operator::contiguize;
    TensorSpec from, to;
    const convoke_device* device = nullptr;
    const bind::Binding* packed_for = nullptr;
    Copy copy;
  };
  Copy find(std::size_t step, bind::Operator op, const TensorSpec& from, const TensorSpec& to,
            const convoke_device* device, const bind::Binding* packed_for, bool copied_first) const;
  bool may_copy(const bind::Binding& binding, std::size_t step, bind::Operator op, const convoke_device* device,
                const bind::Binding* packed_for) const noexcept;

  const bind::BindingTable& table_;
  const Request& request_;
  Options options_;
  std::vector<Found> found_;
};

/// The route through `binding`: what its operands need before it (Contiguize, Cast, Upload, Pack), the kernel, and what
/// the result needs after it (Download, Cast, CopyOut).
tl::expected<Route, Clause> build_route(Workshop& workshop, const bind::Binding& binding, const Variant& variant = {});

/// Whether any glob matches the ImplId.
bool is_forbidden(const std::vector<std::string>& forbid, std::string_view id) noexcept;

/// The steps by name, unique for a variant of a kernel: `Contiguize(x) > cpu/portable/conv2d_f32/...#9698b0be`.
std::string text_of(const Route& route);

}  // namespace convoke::planner

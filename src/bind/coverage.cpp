// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "bind/coverage.hpp"

#include "base/dtype.hpp"

namespace convoke::bind {
namespace {

// A switch without default: a new operator does not compile until somebody decides.
bool every_host_needs(Operator op) noexcept {
  switch (op) {
    case Operator::conv2d:
    case Operator::conv_transpose2d:
    case Operator::contiguize:
    case Operator::copy_out:
    case Operator::cast:
      return true;
    case Operator::pack:
    case Operator::upload:
    case Operator::download:
      return false;
  }
  return false;
}

void add_keys(Operator op, DType dtype, std::vector<Coverage>& rows) {
  if (convolves(op)) {
    rows.push_back({op, std::vector<DType>(3, dtype), false, {}, {}});
    rows.push_back({op, std::vector<DType>(4, dtype), true, {}, {}});
  } else if (op == Operator::cast) {
    for (const DType to : all_dtypes)
      if (to != dtype) rows.push_back({op, {dtype, to}, false, {}, {}});
  } else {
    rows.push_back({op, {dtype, dtype}, false, {}, {}});
  }
}

bool is_stable_here(const Binding& binding) noexcept {
  const contract::Contract& contract = *binding.contract;
  return contract.backend == contract::Backend::cpu && binding.function != nullptr && contract.precision.bit_stable &&
         contract.determinism != contract::Determinism::nondeterministic;
}

}  // namespace

std::vector<Coverage> coverage(const BindingTable& table) {
  std::vector<Coverage> rows;
  for (const Operator op : all_operators())
    for (const DType dtype : all_dtypes)
      if (every_host_needs(op)) add_keys(op, dtype, rows);
  for (const Binding& binding : table.all())
    for (Coverage& row : rows)
      if (binding.op == row.op && binding.dtypes == row.dtypes && is_stable_here(binding))
        (binding.foreign ? row.unrelied_on : row.kernels).push_back(binding.id);
  return rows;
}

}  // namespace convoke::bind

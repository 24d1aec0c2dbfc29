// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "plan/alternatives.hpp"

#include <string>
#include <utility>

#include "base/guard.hpp"
#include "plan/candidates.hpp"
#include "plan/plan_impl.hpp"
#include "plan/request.hpp"

namespace convoke::planner {

Result<Alternatives> alternatives(const Arguments& arguments) {
  return guarded([&]() -> Result<Alternatives> {
    const auto& [op, x, weight, bias, out, params, options] = arguments;
    const Catalog& catalog = options.catalog == nullptr ? Catalog::builtin() : *options.catalog;
    const auto request = make_request(op, x, weight, bias, out, params);
    if (!request) return tl::unexpected(request.error());
    std::vector<Candidate> all = candidates(catalog.table(), *request, options);
    const std::optional<std::size_t> chosen = cheapest(all);
    Alternatives found;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i].route) continue;
      if (chosen == i) found.chosen = found.plans.size();
      std::string name = name_of(all[i]);
      found.plans.push_back(make_plan(catalog.shared_table(), *request, all[i].variant, *std::move(all[i].route),
                                      demand_of(options), std::move(name), {}));
    }
    return found;
  });
}

}  // namespace convoke::planner

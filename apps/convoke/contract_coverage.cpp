// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/contract_coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "apps/convoke/documents.hpp"
#include "apps/convoke/json_output.hpp"
#include "apps/convoke/table.hpp"
#include "base/dtype.hpp"
#include "bind/coverage.hpp"

namespace convoke::cli {
namespace {

std::string dtypes_text(const bind::Coverage& row) {
  if (row.op == bind::Operator::cast) return fmt::format("{} to {}", name_of(row.dtypes[0]), name_of(row.dtypes[1]));
  return std::string(name_of(row.dtypes.front()));
}

std::string bias_text(const bind::Coverage& row) {
  if (!bind::convolves(row.op)) return "";
  return row.bias ? "with" : "without";
}

// An ImplId without its key, which the row gives: `cpu/portable/conv2d_f32`.
std::string kernel_text(const std::string& id) { return id.substr(0, id.rfind('/')); }

std::string json_report(const std::vector<bind::Coverage>& rows) {
  Json list = Json::array();
  for (const bind::Coverage& row : rows) {
    std::vector<std::string> dtypes;
    for (const DType dtype : row.dtypes) dtypes.emplace_back(name_of(dtype));
    list.push_back({{"operator", bind::token_of(row.op)},
                    {"dtypes", dtypes},
                    {"bias", row.bias},
                    {"covered", row.covered()},
                    {"kernels", row.kernels},
                    {"not_relied_on", row.unrelied_on}});
  }
  return json_text({{"coverage", std::move(list)}});
}

std::string table_report(const std::vector<bind::Coverage>& rows) {
  Table table({{"OPERATOR"}, {"DTYPE"}, {"BIAS"}, {"KERNELS", true}, {"FOREIGN", true}, {"FIRST"}});
  for (const bind::Coverage& row : rows)
    table.add({std::string(bind::token_of(row.op)),
               dtypes_text(row),
               bias_text(row),
               {fmt::to_string(row.kernels.size()), row.covered() ? Style::plain : Style::red},
               fmt::to_string(row.unrelied_on.size()),
               row.covered() ? Cell(kernel_text(row.kernels.front())) : Cell("none", Style::red)});
  return table.render(output_width(), stdout_has_colour());
}

}  // namespace

Result<Report> contract_coverage(const std::vector<std::string>& paths, bool json) {
  const auto catalog = catalog_with(paths);
  if (!catalog) return tl::unexpected(catalog.error());
  const std::vector<bind::Coverage> rows = bind::coverage(catalog->table());
  const auto covered = static_cast<std::size_t>(std::ranges::count_if(rows, &bind::Coverage::covered));
  Report report;
  report.exit = covered == rows.size() ? exit_ok : exit_found_wrong;
  report.text = json ? json_report(rows)
                     : fmt::format("{}\n{} of {} keys have a bit-stable CPU kernel that is relied on\n",
                                   table_report(rows), covered, rows.size());
  return report;
}

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
// Rows as text: a table, one JSON document, a chart.
#pragma once

#include <string>
#include <vector>

#include "bench/peers/row.hpp"

namespace convoke::peers {

/// What was compared with what, where.
struct Setting {
  std::string peer, cpu;
  std::string openmp;  ///< the library that both use; empty: they use two
  bool bound = false;  ///< threads keep to their processors
};

/// For people: one line a row, and the summaries.
std::string table_text(const Setting& setting, const std::vector<Row>& rows, int width, bool colour);
/// `{"peer", "cpu", "openmp", "bound", "rows": [...], "summary": [...]}`; null where there is no peer.
std::string json_text(const Setting& setting, const std::vector<Row>& rows);
/// An SVG picture: one panel for each dtype and number of threads, one line for each layer, the ratios as dots on a
/// logarithmic axis.
std::string chart_svg(const Setting& setting, const std::vector<Row>& rows);

}  // namespace convoke::peers

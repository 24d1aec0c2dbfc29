// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/rates_file.hpp"

#include <cstdlib>
#include <filesystem>

#include "apps/convoke/output.hpp"
#include "base/file.hpp"

namespace convoke::cli {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string rates_path() {
  if (std::string path = variable("CONVOKE_RATES"); !path.empty()) return path;
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty()) return data + "/convoke/rates.json";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.local/share/convoke/rates.json";
  return {};
}

Result<Rates> load_rates(const std::string& path) {
  const std::string from = path.empty() ? rates_path() : path;
  std::error_code ignored;
  if (path.empty() && (from.empty() || !std::filesystem::exists(from, ignored))) return Rates();
  const auto text = read_file(from);
  if (!text) return tl::unexpected(text.error());
  auto rates = Rates::from_json(*text, from);
  if (!rates) return tl::unexpected(with_hint(rates.error(), "'convoke calibrate' writes a new table"));
  return rates;
}

}  // namespace convoke::cli

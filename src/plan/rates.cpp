// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/fnv1a.hpp"
#include "base/guard.hpp"
#include "base/json.hpp"

namespace convoke {
namespace {

// Round figures of an x86-64 server core and of a discrete GPU on PCIe 4. They need only put routes into order.
std::vector<RateRow> default_rows() {
  std::vector<RateRow> rows = {
      {"", "", "", std::nullopt, {8, 6, 500}},
      {"cpu", "", "conv", DType::f32, {24, 6, 500}},
      {"cpu", "", "conv", DType::f64, {14, 10, 500}},
      {"cpu", "", "conv", DType::bf16, {24, 3, 500}},
      {"cpu", "", "conv", DType::f16, {20, 2.5, 500}},
      {"cpu", "", "strided_conv", DType::f32, {24, 5, 500}},
      {"cpu", "", "strided_conv", DType::f64, {14, 8, 500}},
      {"cpu", "", "strided_conv", DType::bf16, {24, 2.5, 500}},
      {"cpu", "", "strided_conv", DType::f16, {20, 2, 500}},
      {"cpu", "", "cheap_elementwise", std::nullopt, {4, 10, 300}},
      {"cpu", "", "strided_elementwise", std::nullopt, {4, 3, 300}},
  };
  // Vector kernels, by what a vector holds; an operand that is not dense costs them a gather for the band.
  for (const char* lanes : {"blocked_conv", "pixel_conv", "depthwise_conv"})
    for (const DType dtype : all_dtypes) {
      const double flops = dtype == DType::f64 ? 30 : 60, bytes = size_of(dtype) == 2 ? 12 : 16;
      rows.push_back({"cpu", "", lanes, dtype, {flops, bytes, 500}});
      rows.push_back({"cpu", "", fmt::format("strided_{}", lanes), dtype, {flops, 0.75 * bytes, 500}});
    }
  for (const char* device : {"cuda", "vulkan", "metal"}) {
    rows.push_back({device, "", "", std::nullopt, {2000, 300, 10000}});
    for (const char* transfer : {"Upload", "Download"})
      rows.push_back({device, "", transfer, std::nullopt, {1, 12, 5000}});
  }
  return rows;
}

// What a file may hold: far more than kernels to have rates of.
constexpr std::size_t most_rows = 10'000;

bool is_speed(double value) noexcept { return std::isfinite(value) && value > 0; }

bool same_work(const RateRow& a, const RateRow& b) noexcept {
  return a.backend == b.backend && a.kernel_source == b.kernel_source && a.work == b.work && a.dtype == b.dtype;
}

Result<double> number_of(const Json& object, const char* key, std::string_view path) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number())
    return fail(ErrorCode::invalid_file, key, {}, "{}: every rate needs a number '{}'", path, key);
  return found->get<double>();
}

Result<std::string> word_of(const Json& object, const char* key, std::string_view path) {
  const auto found = object.find(key);
  if (found == object.end()) return std::string();
  if (!found->is_string()) return fail(ErrorCode::invalid_file, key, {}, "{}: '{}' must be a string", path, key);
  return found->get<std::string>();
}

Result<RateRow> row_of(const Json& object, std::string_view path) {
  if (!object.is_object()) return fail(ErrorCode::invalid_file, "rates", {}, "{}: a rate must be an object", path);
  RateRow row;
  for (const auto& [key, word] : {std::pair{"backend", &row.backend}, std::pair{"kernel_source", &row.kernel_source},
                                  std::pair{"work", &row.work}}) {
    auto value = word_of(object, key, path);
    if (!value) return tl::unexpected(value.error());
    *word = *std::move(value);
  }
  const auto dtype = word_of(object, "dtype", path);
  if (!dtype) return tl::unexpected(dtype.error());
  row.dtype = parse_dtype(*dtype);
  if (!dtype->empty() && !row.dtype)
    return fail(ErrorCode::invalid_file, "dtype", {}, "{}: dtype '{}' is not one of f32, f64, bf16, f16", path, *dtype);
  for (const auto& [key, value] :
       {std::pair{"flops_per_ns", &row.rate.flops_per_ns}, std::pair{"bytes_per_ns", &row.rate.bytes_per_ns},
        std::pair{"overhead_ns", &row.rate.overhead_ns}}) {
    const auto number = number_of(object, key, path);
    if (!number) return tl::unexpected(number.error());
    *value = *number;
  }
  return row;
}

// A value that set() would refuse, met in a file.
Error of_file(Error error, std::string_view path) {
  error.code = ErrorCode::invalid_file;
  error.message = fmt::format("{}: {}", path, error.message);
  return error;
}

// The array of rates, where the document is a table of rates at all.
Result<const Json*> list_of(const Json& document, std::string_view path) {
  const bool right = document.is_object() && document.value("convoke_rates", Json()) == 1;
  const auto list = right ? document.find("rates") : document.end();
  if (!right || list == document.end() || !list->is_array() || list->size() > most_rows)
    return fail(ErrorCode::invalid_file, "convoke_rates", {},
                "{}: not a table of rates: \"convoke_rates\": 1 and an array \"rates\" of at most {} rows are wanted",
                path, most_rows);
  return &*list;
}

}  // namespace

Rates::Rates() : rows_(default_rows()) { refresh_fingerprint(); }

Result<void> Rates::set(RateRow row) {
  auto ok = put(std::move(row));
  refresh_fingerprint();
  return ok;
}

Result<void> Rates::put(RateRow row) {
  if (!is_speed(row.rate.flops_per_ns) || !is_speed(row.rate.bytes_per_ns) ||
      !(row.rate.overhead_ns >= 0 && std::isfinite(row.rate.overhead_ns)))
    return fail(ErrorCode::invalid_argument, "rate",
                {named("flops_per_ns", row.rate.flops_per_ns), named("bytes_per_ns", row.rate.bytes_per_ns),
                 named("overhead_ns", row.rate.overhead_ns)},
                "a rate needs positive, finite speeds and an overhead of 0 or more: {} flops/ns, {} bytes/ns, {} ns",
                row.rate.flops_per_ns, row.rate.bytes_per_ns, row.rate.overhead_ns);
  const auto old = std::ranges::find_if(rows_, [&](const RateRow& other) { return same_work(row, other); });
  if (old == rows_.end())
    rows_.push_back(std::move(row));
  else
    old->rate = row.rate;
  return {};
}

Result<void> Rates::set_thread_gain(double gain) {
  if (!(gain >= 0 && gain <= 1))
    return fail(ErrorCode::invalid_argument, "thread_gain", {named("thread_gain", gain)},
                "thread_gain = {} must be from 0 to 1", gain);
  thread_gain_ = gain;
  refresh_fingerprint();
  return {};
}

namespace {

// How much a row's work says of this step: 0 nothing, -1 that it is other work.
int score_of_work(std::string_view work, std::string_view op, std::string_view cost_class) noexcept {
  constexpr int of_operator = 4, of_class = 2;
  if (work.empty()) return 0;
  if (work == op) return of_operator;
  if (work == cost_class) return of_class;
  const bool both = work.size() == op.size() + 1 + cost_class.size() && work.starts_with(op) &&
                    work[op.size()] == '/' && work.ends_with(cost_class);
  return both ? of_operator + of_class : -1;
}

}  // namespace

const Rate& Rates::find(std::string_view backend, std::string_view kernel_source, std::string_view op,
                        std::string_view cost_class, DType dtype) const noexcept {
  static constexpr Rate none;
  const Rate* best = &none;
  int best_score = -1;
  for (const RateRow& row : rows_) {
    int score = 0;
    const auto counts = [&score](bool any, bool same, int worth) {
      if (!any) score = same && score >= 0 ? score + worth : -1;
      return score >= 0;
    };
    const int of_work = score_of_work(row.work, op, cost_class);
    if (counts(row.backend.empty(), row.backend == backend, 16) &&
        counts(row.kernel_source.empty(), row.kernel_source == kernel_source, 8) &&
        counts(row.work.empty(), of_work >= 0, of_work) && counts(!row.dtype, row.dtype == dtype, 1) &&
        score > best_score) {
      best = &row.rate;
      best_score = score;
    }
  }
  return *best;
}

void Rates::refresh_fingerprint() { fingerprint_ = fnv1a(to_json()); }

std::string Rates::to_json() const {
  Json list = Json::array();
  for (const RateRow& row : rows_)
    list.push_back({{"backend", row.backend},
                    {"kernel_source", row.kernel_source},
                    {"work", row.work},
                    {"dtype", row.dtype ? std::string(name_of(*row.dtype)) : std::string()},
                    {"flops_per_ns", row.rate.flops_per_ns},
                    {"bytes_per_ns", row.rate.bytes_per_ns},
                    {"overhead_ns", row.rate.overhead_ns}});
  return Json{{"convoke_rates", 1}, {"thread_gain", thread_gain_}, {"rates", std::move(list)}}.dump(
             2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

Result<Rates> Rates::from_json(std::string_view text, std::string_view path) {
  return guarded([&]() -> Result<Rates> {
    const auto document = parse_json(text, path);
    if (!document) return tl::unexpected(document.error());
    const auto list = list_of(*document, path);
    if (!list) return tl::unexpected(list.error());
    Rates rates;
    if (document->contains("thread_gain")) {
      const auto gain = number_of(*document, "thread_gain", path);
      if (!gain) return tl::unexpected(gain.error());
      if (auto ok = rates.set_thread_gain(*gain); !ok) return tl::unexpected(of_file(ok.error(), path));
    }
    for (const Json& object : **list) {
      auto row = row_of(object, path);
      if (!row) return tl::unexpected(row.error());
      if (auto ok = rates.put(*std::move(row)); !ok) return tl::unexpected(of_file(ok.error(), path));
    }
    rates.refresh_fingerprint();
    return rates;
  });
}

}  // namespace convoke

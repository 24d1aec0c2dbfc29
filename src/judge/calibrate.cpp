// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/dtype.hpp"
#include "base/guard.hpp"
#include "base/host.hpp"
#include "judge/probe.hpp"
#include "judge/stopwatch.hpp"

namespace convoke::judge {
namespace {

// How much faster than known a speed may come out: work that does not slow the samples down looks free.
constexpr double most_faster = 16;

// Kernels whose probes lie in memory at a time: those of one operator, source and output.
using Siblings = std::vector<const bind::Binding*>;

auto key_of(const bind::Binding& binding) {
  return std::tuple(binding.op, binding.contract->backend, std::string_view(binding.contract->kernel_source),
                    binding.dtypes.back());
}

std::vector<Siblings> siblings_in(const Catalog& catalog) {
  std::vector<Siblings> all;
  for (const bind::Binding& binding : catalog.table().all()) {
    // A bias changes neither what is fetched nor what is computed.
    const bool with_bias = bind::convolves(binding.op) && binding.input_count() == 3;
    if (binding.foreign || binding.alias_of || binding.function == nullptr || binding.device != nullptr || with_bias)
      continue;
    const auto same = [&](const Siblings& siblings) { return key_of(*siblings.front()) == key_of(binding); };
    const auto found = std::ranges::find_if(all, same);
    if (found == all.end())
      all.push_back({&binding});
    else
      found->push_back(&binding);
  }
  return all;
}

Result<std::vector<Probe>> probes_of(const Catalog& catalog, const Siblings& siblings) {
  std::vector<Probe> all;
  for (const bind::Binding* binding : siblings) {
    auto probes = judge::probes_of(catalog, *binding);
    if (!probes) return probes;
    std::ranges::move(*probes, std::back_inserter(all));
  }
  return all;
}

// What the runs of a probe took; its operands are gone by then.
struct Measured {
  Probe probe;
  double ns = 0;
};

const Rate& rate_of(const Rates& rates, const Probe& probe) {
  const std::string_view work = probe.work;
  const std::size_t slash = work.find('/');
  return rates.find(probe.backend, probe.kernel_source, work.substr(0, slash), work.substr(slash + 1), probe.dtype);
}

// All probes of these kernels in turn: what is to be compared, dense with strided above all, is measured together.
Result<void> measure(std::vector<Probe> probes, const CalibrateOptions& options, std::vector<Measured>& measured) {
  std::vector<Subject> subjects;
  for (const Probe& probe : probes) subjects.push_back(probe.run);
  const auto times = medians_ns(subjects, {.box_ms = options.box_ms, .least = options.rounds, .twice = true});
  if (!times) return tl::unexpected(times.error());
  for (std::size_t i = 0; i < probes.size(); ++i) {
    probes[i].run = nullptr;
    measured.push_back({std::move(probes[i]), (*times)[i]});
  }
  return {};
}

double overhead_of(const std::vector<const Measured*>& row, const Rates& rates) {
  std::vector<double> tiny;
  for (const Measured* one : row)
    if (one->probe.tiny) tiny.push_back(one->ns);
  return tiny.empty() ? rate_of(rates, row.front()->probe).overhead_ns : median_of(std::move(tiny));
}

// A kernel computes as fast whatever it takes its operands from: one row for each class and dtype that it was measured
// in, and one speed of flops for all of them.
Result<void> set_rows(const std::vector<const Measured*>& of_kernel, Rates& rates) {
  std::map<std::pair<std::string, DType>, std::vector<const Measured*>> rows;
  for (const Measured* one : of_kernel) rows[{one->probe.work, one->probe.dtype}].push_back(one);
  std::vector<Rate> known;
  std::vector<Sample> samples;
  for (const auto& [key, row] : rows) {
    Rate rate = rate_of(rates, row.front()->probe);
    rate.overhead_ns = overhead_of(row, rates);
    for (const Measured* one : row)
      if (!one->probe.tiny)
        samples.push_back({one->probe.counted.flops, one->probe.counted.bytes,
                           std::max(one->ns - rate.overhead_ns, one->ns / 10), known.size()});
    known.push_back(rate);
  }
  const std::vector<Rate> fitted = fit_rates(samples, known);
  std::size_t i = 0;
  for (const auto& [key, row] : rows) {
    const Probe& probe = row.front()->probe;
    if (auto ok = rates.set({probe.backend, probe.kernel_source, probe.work, probe.dtype, fitted[i++]}); !ok) return ok;
  }
  return {};
}

Result<void> set_rates(const std::vector<Measured>& measured, Rates& rates) {
  const auto row_of = [](const Probe& probe) {
    return std::tie(probe.backend, probe.kernel_source, probe.work, probe.dtype);
  };
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Measured*>> kernels;
  for (const Measured& one : measured) {
    // Kernels that share a row are one as far as prices go: its first one.
    const auto same = [&](const Measured& other) { return row_of(other.probe) == row_of(one.probe); };
    const Probe& first = std::ranges::find_if(measured, same)->probe;
    kernels[{first.backend, first.kernel_source, first.kernel}].push_back(&one);
  }
  for (const auto& [kernel, of_kernel] : kernels)
    if (auto ok = set_rows(of_kernel, rates); !ok) return ok;
  return {};
}

// What each thread beyond the first adds, as a part of the first one's speed.
Result<void> measure_gain(const Catalog& catalog, const CalibrateOptions& options, Rates& rates) {
  const int threads = options.threads == 0 ? host().cores : options.threads;
  if (threads <= 1) return {};
  std::vector<Subject> subjects;
  for (const int count : {1, threads}) {
    auto probe = threaded_probe(catalog, count);
    if (!probe) return tl::unexpected(probe.error());
    subjects.push_back(*std::move(probe));
  }
  const auto times = medians_ns(subjects, {.box_ms = 4 * options.box_ms, .least = options.rounds});
  if (!times) return tl::unexpected(times.error());
  const double speed_up = times->front() / times->back();
  return rates.set_thread_gain(std::clamp((speed_up - 1) / (threads - 1), 0.0, 1.0));
}

}  // namespace

std::vector<Rate> fit_rates(const std::vector<Sample>& samples, const std::vector<Rate>& known) {
  // With p the time of one flop and q_i that of one byte in row i: the least sum of (f p + b q_i - 1)^2 over the
  // samples plus weight times the sum of (p / p0_i - 1)^2 + (q_i / q0_i - 1)^2, where f and b are a sample's flops and
  // bytes for each of its nanoseconds. For each p the best q_i are known. None may fall below a bound; what would, is
  // held there, and the others are found again.
  if (known.empty()) return {};
  struct Row {
    double squares = 0, sum = 0, with_flops = 0, least = 0;
    bool held = false;
  };
  const double weight = 0.01 * static_cast<double>(std::max<std::size_t>(samples.size() / known.size(), 1));
  double squares = 0, sum = 0, least = 0;
  std::vector<Row> rows;
  for (const Rate& rate : known) {
    const double p0 = 1 / rate.flops_per_ns, q0 = 1 / rate.bytes_per_ns;
    squares += weight / (p0 * p0);
    sum += weight / p0;
    least = std::max(least, p0 / most_faster);
    rows.push_back({.squares = weight / (q0 * q0), .sum = weight / q0, .least = q0 / most_faster});
  }
  for (const Sample& sample : samples) {
    const double flops = sample.flops / sample.ns, bytes = sample.bytes / sample.ns;
    squares += flops * flops;
    sum += flops;
    rows[sample.row].squares += bytes * bytes;
    rows[sample.row].sum += bytes;
    rows[sample.row].with_flops += flops * bytes;
  }
  const auto byte_of = [](const Row& row, double p) {
    return row.held ? row.least : std::max((row.sum - row.with_flops * p) / row.squares, row.least);
  };
  double p = 0;
  for (bool changed = true; changed;) {
    double of_p = squares, right = sum;
    for (const Row& row : rows) {
      right -= row.held ? row.with_flops * row.least : row.with_flops * row.sum / row.squares;
      if (!row.held) of_p -= row.with_flops * row.with_flops / row.squares;
    }
    p = std::max(right / of_p, least);
    changed = false;
    for (Row& row : rows) {
      if (row.held || byte_of(row, p) > row.least) continue;
      row.held = changed = true;
    }
  }
  std::vector<Rate> fitted = known;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    fitted[i].flops_per_ns = 1 / p;
    fitted[i].bytes_per_ns = 1 / byte_of(rows[i], p);
  }
  return fitted;
}

Result<Rates> calibrate(const Catalog& catalog, const CalibrateOptions& options) {
  return guarded([&]() -> Result<Rates> {
    Rates rates;
    std::vector<Measured> measured;
    const std::vector<Siblings> all = siblings_in(catalog);
    const auto tell = [&](std::string_view work, std::size_t done) {
      if (options.progress) options.progress(work, done, all.size() + 1);
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bind::Binding& first = *all[i].front();
      tell(fmt::format("{} {}", bind::token_of(first.op), name_of(first.dtypes.back())), i);
      auto probes = probes_of(catalog, all[i]);
      if (!probes) return tl::unexpected(probes.error());
      if (probes->empty()) continue;
      if (auto ok = measure(*std::move(probes), options, measured); !ok) return tl::unexpected(ok.error());
    }
    if (auto ok = set_rates(measured, rates); !ok) return tl::unexpected(ok.error());
    tell("threads", all.size());
    if (auto ok = measure_gain(catalog, options, rates); !ok) return tl::unexpected(ok.error());
    return rates;
  });
}

}  // namespace convoke::judge

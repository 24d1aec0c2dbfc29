// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "judge/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
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

// Work that the samples do not slow down for is as good as free.
constexpr double unlimited = 1e6;

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

const Rate& rate_of(const Rates& rates, const Probe& probe) {
  const std::string_view work = probe.work;
  const std::size_t slash = work.find('/');
  return rates.find(probe.backend, probe.kernel_source, work.substr(0, slash), work.substr(slash + 1), probe.dtype);
}

// The row of one kind of work, from the probes of that kind.
RateRow row_of(const std::string& work, const std::vector<Probe>& probes, const std::vector<double>& times,
               const Rates& rates) {
  std::vector<double> tiny;
  const Probe* first = nullptr;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (probes[i].work != work) continue;
    if (first == nullptr) first = &probes[i];
    if (probes[i].tiny) tiny.push_back(times[i]);
  }
  const Rate& before = rate_of(rates, *first);
  const double overhead = tiny.empty() ? before.overhead_ns : median_of(std::move(tiny));
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < probes.size(); ++i)
    if (probes[i].work == work && !probes[i].tiny)
      samples.push_back(
          {probes[i].counted.flops, probes[i].counted.bytes, std::max(times[i] - overhead, times[i] / 10)});
  Rate rate = fit_rate(samples, before);
  rate.overhead_ns = overhead;
  return {first->backend, first->kernel_source, first->work, first->dtype, rate};
}

// All kinds of work of these kernels in turn: what is to be compared, dense with strided above all, is measured
// together.
Result<void> measure(const std::vector<Probe>& probes, const CalibrateOptions& options, Rates& rates) {
  std::vector<Subject> subjects;
  std::vector<std::string> kinds;
  for (const Probe& probe : probes) {
    subjects.push_back(probe.run);
    if (std::ranges::find(kinds, probe.work) == kinds.end()) kinds.push_back(probe.work);
  }
  const auto times = medians_ns(subjects, {.box_ms = options.box_ms, .least = options.rounds});
  if (!times) return tl::unexpected(times.error());
  for (const std::string& kind : kinds)
    if (auto ok = rates.set(row_of(kind, probes, *times, rates)); !ok) return ok;
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

Rate fit_rate(const std::vector<Sample>& samples, const Rate& fallback) {
  // With f = flops / ns and b = bytes / ns: find p, q of least (f p + b q - 1)^2, the times of one flop and one byte.
  double ff = 0, fb = 0, bb = 0, f = 0, b = 0, logs = 0;
  for (const Sample& sample : samples) {
    const double flops = sample.flops / sample.ns, bytes = sample.bytes / sample.ns;
    ff += flops * flops;
    fb += flops * bytes;
    bb += bytes * bytes;
    f += flops;
    b += bytes;
    logs += std::log(flops > 0 ? flops : bytes);
  }
  Rate rate = fallback;
  const double determinant = ff * bb - fb * fb;
  // Below this the samples are in one proportion of flops and bytes, and tell only one speed: their geometric mean.
  if (!(determinant > 1e-6 * ff * bb)) {
    if (samples.empty() || ff + bb == 0) return rate;
    const double speed = std::exp(logs / static_cast<double>(samples.size()));
    (ff > 0 ? rate.flops_per_ns : rate.bytes_per_ns) = speed;
    if (ff > 0 && bb > 0) rate.bytes_per_ns = unlimited;
    return rate;
  }
  double p = (f * bb - b * fb) / determinant, q = (b * ff - f * fb) / determinant;
  if (p < 0) std::tie(p, q) = std::pair(0.0, b / bb);
  if (q < 0) std::tie(p, q) = std::pair(f / ff, 0.0);
  rate.flops_per_ns = 1 / std::max(p, 1 / unlimited);
  rate.bytes_per_ns = 1 / std::max(q, 1 / unlimited);
  return rate;
}

Result<Rates> calibrate(const Catalog& catalog, const CalibrateOptions& options) {
  return guarded([&]() -> Result<Rates> {
    Rates rates;
    const std::vector<Siblings> all = siblings_in(catalog);
    const auto tell = [&](std::string_view work, std::size_t done) {
      if (options.progress) options.progress(work, done, all.size() + 1);
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bind::Binding& first = *all[i].front();
      tell(fmt::format("{} {}", bind::token_of(first.op), name_of(first.dtypes.back())), i);
      const auto probes = probes_of(catalog, all[i]);
      if (!probes) return tl::unexpected(probes.error());
      if (probes->empty()) continue;
      if (auto ok = measure(*probes, options, rates); !ok) return tl::unexpected(ok.error());
    }
    tell("threads", all.size());
    if (auto ok = measure_gain(catalog, options, rates); !ok) return tl::unexpected(ok.error());
    return rates;
  });
}

}  // namespace convoke::judge

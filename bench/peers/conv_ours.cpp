// SPDX-License-Identifier: Apache-2.0 OR MIT
// conv_ours: times layers on request, for benchmarks in another process that take turns with it (bench/peers.py).
// Reads lines `NAME DTYPE THREADS MILLISECONDS` and answers each with one line of JSON: {"name", "kernel", "flops",
// "samples_us"} or {"name", "error"}. Between two answers its threads sleep and cost the others nothing.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/convoke/output.hpp"
#include "base/dtype.hpp"
#include "base/fail.hpp"
#include "base/json.hpp"
#include "bench/peers/layers.hpp"
#include "bench/peers/ours.hpp"

namespace convoke::peers {
namespace {

using Clock = std::chrono::steady_clock;

struct Wish {
  std::string name, dtype;
  int threads = 0;
  double box_ms = 0;
};

Result<Wish> parse_wish(const std::string& line) {
  std::istringstream words(line);
  Wish wish;
  std::string rest;
  if (words >> wish.name >> wish.dtype >> wish.threads >> wish.box_ms && !(words >> rest) && wish.threads >= 1 &&
      wish.threads <= problem::max_threads)
    return wish;
  return fail(ErrorCode::invalid_argument, "line", {}, "want NAME DTYPE THREADS MILLISECONDS");
}

// libomp's threads look for work for 200 ms after a region, which suits a program that convolves again and again; after
// the last region of a turn the processors belong to others. Each region hands the time on to its threads. libgomp's
// spin for a few milliseconds and cannot be told.
#ifdef KMP_VERSION_MAJOR
constexpr int default_spin_ms = 200;

void let_threads_spin() { kmp_set_blocktime(default_spin_ms); }

void let_threads_sleep(int threads) {
  kmp_set_blocktime(0);
#pragma omp parallel num_threads(threads)
  asm volatile("" ::: "memory");  // Clang leaves an empty region out
}
#else
void let_threads_spin() {}
void let_threads_sleep(int) {}
#endif

class Server {
 public:
  explicit Server(std::vector<problem::Problem> layers) : layers_(std::move(layers)) {}

  Json answer(const std::string& line) {
    const auto wish = parse_wish(line);
    Json reply = {{"name", wish ? wish->name : line}};
    auto timed = wish ? run(*wish, reply) : tl::unexpected(wish.error());
    if (!timed) reply["error"] = timed.error().message;
    return reply;
  }

 private:
  Result<void> run(const Wish& wish, Json& reply) {
    const auto ready = prepared(wish);
    if (!ready) return tl::unexpected(ready.error());
    std::vector<double> samples_us;
    const auto begin = Clock::now();
    const auto spent_us = [](Clock::time_point from) {
      return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
    };
    let_threads_spin();
    // The first call brings back into the caches what the others drove out.
    if (auto ran = (*ready)->run(); !ran) return ran;
    do {
      const auto start = Clock::now();
      if (auto ran = (*ready)->run(); !ran) return ran;
      samples_us.push_back(spent_us(start));
    } while (spent_us(begin) < wish.box_ms * 1e3);
    let_threads_sleep(wish.threads);
    reply["kernel"] = (*ready)->plan().kernel();
    reply["flops"] = (*ready)->plan().flops();
    reply["samples_us"] = std::move(samples_us);
    return {};
  }

  // The last one asked for is kept: the next wish is most often the same.
  Result<Ours*> prepared(const Wish& wish) {
    const std::string key = fmt::format("{} {} {}", wish.name, wish.dtype, wish.threads);
    if (ours_ && key == key_) return &*ours_;
    const auto layer = std::ranges::find(layers_, wish.name, &problem::Problem::name);
    const auto dtype = parse_dtype(wish.dtype);
    if (layer == layers_.end() || !dtype)
      return fail(ErrorCode::invalid_argument, "line", {}, "no such {}", dtype ? "layer" : "dtype");
    problem::Problem problem = *layer;
    problem.dtype = *dtype;
    problem.threads = wish.threads;
    ours_.reset();
    auto ours = Ours::make(problem);
    if (!ours) return tl::unexpected(ours.error());
    ours_ = *std::move(ours);
    key_ = key;
    return &*ours_;
  }

  std::vector<problem::Problem> layers_;
  std::string key_;
  std::optional<Ours> ours_;
};

int serve(const std::string& suite) {
  auto layers = read_layers(suite, {}, 0);
  if (!layers) {
    cli::write_stderr(fmt::format("conv_ours: error: {}\n", layers.error().message));
    return cli::exit_could_not_run;
  }
  Server server(*std::move(layers));
  for (std::string line; std::getline(std::cin, line);) {
    const Json reply = server.answer(line);
    if (!cli::write_stdout(reply.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"))
      return cli::exit_could_not_run;
  }
  return cli::exit_ok;
}

}  // namespace
}  // namespace convoke::peers

int main(int argc, char** argv) {
  if (argc == 2) return convoke::peers::serve(argv[1]);
  convoke::cli::write_stderr(
      "usage: conv_ours LAYER_LIST, with a line NAME DTYPE THREADS MILLISECONDS for each answer\n");
  return convoke::cli::exit_could_not_run;
}

// SPDX-License-Identifier: Apache-2.0 OR MIT
// plan_sweep [--count N] [--seed S] [--only INDEX] [--documents]: random problems, demands, layouts and contracts. What
// plan() gives is run; a run that fails, or whose result is wrong, is a defect of the planner. Exit: 0 none was found,
// 1 some were, 2 the arguments make no sense.
#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <string_view>

#include "tests/plan/sweep_trial.hpp"

namespace convoke::sweep {
namespace {

constexpr std::uint64_t most_failures_shown = 20;

struct Arguments {
  std::uint64_t count = 1000, seed = 1;
  std::optional<std::uint64_t> only;
  bool documents = false;
};

std::optional<Arguments> parse(std::span<char*> words) {
  Arguments arguments;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--documents") {
      arguments.documents = true;
      continue;
    }
    if (i + 1 == words.size()) return std::nullopt;
    const std::string_view text = words[++i];
    std::uint64_t value = 0;
    const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    if (word == "--count")
      arguments.count = value;
    else if (word == "--seed")
      arguments.seed = value;
    else if (word == "--only")
      arguments.only = value;
    else
      return std::nullopt;
  }
  return arguments;
}

void print_table(const char* title, const std::map<std::string, std::uint64_t>& rows) {
  fmt::print("{}\n", title);
  for (const auto& [name, count] : rows) fmt::print("  {:>10}  {}\n", count, name);
}

void print_summary(const Counts& counts) {
  fmt::print("{} problems, {} plans run, {} requests refused by every kernel, {} runs failed\n", counts.problems,
             counts.plans, counts.refused, counts.failed);
  fmt::print("{} results held to the law's bits, the others to the exact sum\n", counts.held_to_the_law);
  print_table("steps run, by operator", counts.steps);
  print_table("weights packed before", counts.packed);
  print_table("candidates refused, by clause", counts.clauses);
}

int run(const Arguments& arguments) {
  Sweep sweep(arguments.seed);
  const bool shows_progress = isatty(STDERR_FILENO) != 0;
  const std::uint64_t first = arguments.only.value_or(0);
  const std::uint64_t last = arguments.only ? first + 1 : arguments.count;
  for (std::uint64_t index = first; index < last; ++index) {
    if (shows_progress && index % 100 == 0) fmt::print(stderr, "\r{} of {}", index, last);
    const auto failure = sweep.run(index);
    if (arguments.documents)
      for (const Document& document : sweep.catalog().documents()) fmt::print("{}\n", document.text);
    if (!failure || sweep.counts().failed > most_failures_shown) continue;
    fmt::print("FAILED: plan_sweep --seed {} --only {}\n  {}\n  {}\n", arguments.seed, index, sweep.line(), *failure);
  }
  if (shows_progress) fmt::print(stderr, "\r\x1b[K");
  print_summary(sweep.counts());
  return sweep.counts().failed == 0 && sweep.counts().plans > 0 ? 0 : 1;
}

}  // namespace
}  // namespace convoke::sweep

int main(int count, char** words) {
  try {
    const auto arguments = convoke::sweep::parse({words, static_cast<std::size_t>(count)});
    if (arguments) return convoke::sweep::run(*arguments);
    fmt::print(stderr, "usage: plan_sweep [--count N] [--seed S] [--only INDEX] [--documents]\n");
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "plan_sweep: {}\n", error.what());
    return 1;
  }
}

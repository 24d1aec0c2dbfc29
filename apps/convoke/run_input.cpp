// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "apps/convoke/run_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/convoke/output.hpp"
#include "base/dtype.hpp"
#include "base/fail.hpp"

namespace convoke::cli {
namespace {

constexpr std::string_view reproduce = "reproduce with: ";
constexpr std::string_view help_hint = "see 'convoke run --help'";

bool has_key(const std::vector<std::string>& words, std::string_view key) {
  return std::ranges::any_of(words, [&](const std::string& word) {
    return word.starts_with(key) && word.substr(key.size()).starts_with('=');
  });
}

// Options that are keys of the problem line too. The line may come as one argument or as many.
Result<std::vector<std::string>> all_words(const RunWords& given) {
  std::vector<std::string> words;
  for (const std::string& argument : given.words)
    for (std::size_t begin = 0; (begin = argument.find_first_not_of(" \t\n", begin)) != std::string::npos;) {
      const std::size_t end = std::min(argument.find_first_of(" \t\n", begin), argument.size());
      words.push_back(argument.substr(begin, end - begin));
      begin = end;
    }
  const auto add = [&](std::string_view key, const std::string& value) -> Result<void> {
    if (value.empty()) return {};
    if (has_key(words, key))
      return fail(ErrorCode::invalid_argument, std::string(key), {},
                  "{} is given twice, as --{} and as {}=; leave one out", key, key, key);
    words.push_back(fmt::format("{}={}", key, value));
    return {};
  };
  for (const auto& [key, value] : {std::pair<std::string_view, std::string>{"dtype", given.dtype},
                                   {"kernel", given.kernel},
                                   {"threads", given.threads < 0 ? "" : fmt::format("{}", given.threads)}})
    if (auto added = add(key, value); !added) return tl::unexpected(added.error());
  return words;
}

Result<problem::Problem> parsed(const std::vector<std::string>& words) {
  auto problem = problem::parse_problem(fmt::format("{}", fmt::join(words, " ")));
  if (!problem) return tl::unexpected(with_hint(problem.error(), help_hint));
  return problem;
}

Result<RunInput> from_line(const std::vector<std::string>& words) {
  auto problem = parsed(words);
  if (!problem) return tl::unexpected(problem.error());
  RunInput input;
  input.problem = *std::move(problem);
  input.reproducer = "convoke run " + shell_words(problem::to_line(input.problem));
  auto workload = problem::make_workload(input.problem);
  if (!workload) return tl::unexpected(with_reproducer(workload.error(), input));
  const auto& geometry = workload->geometry();
  if (!geometry) return tl::unexpected(with_reproducer(geometry.error(), input));
  input.geometry = *geometry;
  input.operands = operands_of(*workload, input.problem.op, input.problem.params);
  input.workload = std::move(*workload);
  return input;
}

// The dtype that the words ask for, if they do; parse_problem judges the word itself.
std::optional<DType> asked_dtype(const std::vector<std::string>& words) {
  constexpr std::string_view key = "dtype=";
  for (const std::string& word : words)
    if (word.starts_with(key)) return parse_dtype(std::string_view(word).substr(key.size()));
  return std::nullopt;
}

// Adds the file's shape to the words, or leaves it to fits_words where they have one.
void add_shape(std::vector<std::string>& words, std::string_view key, const problem::Array& array) {
  if (!has_key(words, key))
    words.push_back(fmt::format("{}={}", key, fmt::join(array.spec.shape.begin(), array.spec.shape.end(), "x")));
}

Result<void> fits_words(const problem::Problem& problem, const RunInput& input) {
  const problem::Problem plain;
  if (problem.x_layout != plain.x_layout || problem.weight_layout != plain.weight_layout ||
      problem.out_layout != plain.out_layout || problem.data != plain.data || problem.seed != plain.seed ||
      problem.align != plain.align)
    return fail(ErrorCode::invalid_argument, "data", {},
                "layout, align, data and seed describe generated operands; leave them out where --x names a file");
  const auto same = [](std::string_view key, const Dims& word, const Dims& file) -> Result<void> {
    if (word == file) return {};
    return fail(ErrorCode::invalid_shape, std::string(key), {}, "{}= is {}, and the file has {}; leave {}= out", key,
                text_of(word), text_of(file), key);
  };
  if (auto fits = same("x", problem.x, input.arrays[0].spec.shape); !fits) return fits;
  if (auto fits = same("weight", problem.weight, input.arrays[1].spec.shape); !fits) return fits;
  if (problem.bias && input.arrays.size() < 3)
    return fail(ErrorCode::invalid_argument, "bias", {}, "bias=1 needs --bias FILE where --x names a file");
  if (!problem.bias && input.arrays.size() > 2)
    return fail(ErrorCode::invalid_argument, "bias", {},
                "bias=0 says that there is none, and --bias names a file; leave one of them out");
  return {};
}

Result<void> read_arrays(RunInput& input, const RunWords& given, std::optional<DType> dtype) {
  for (const std::string* path : {&given.x, &given.weight, &given.bias}) {
    if (path->empty()) continue;
    auto array = problem::read_npy(*path, dtype);
    if (!array) return tl::unexpected(array.error());
    input.arrays.push_back(*std::move(array));
  }
  return {};
}

std::string option(std::string_view name, const std::string& value) {
  return value.empty() ? std::string() : fmt::format(" --{} {}", name, shell_word(value));
}

std::string file_options(const RunWords& given) {
  return option("x", given.x) + option("weight", given.weight) + option("bias", given.bias);
}

// What cannot be read as a problem is printed back as it was given, within a screen.
Error with_given_words(Error error, const RunWords& given) {
  if (error.message.find(reproduce) != std::string::npos) return error;
  std::string line = "convoke run";
  constexpr std::size_t longest_word = 240;  // none that means something is longer, but a whole line may be one word
  for (const std::string& word : given.words)
    line += " " + shell_word(word.size() > longest_word ? word.substr(0, longest_word) + "..." : word);
  line += file_options(given) + option("dtype", given.dtype) + option("kernel", given.kernel);
  if (given.threads >= 0) line += fmt::format(" --threads {}", given.threads);
  constexpr std::size_t longest = 1000;
  if (line.size() > longest) line.replace(longest, std::string::npos, "...");
  std::ranges::replace(line, '\n', ' ');
  return with_hint(std::move(error), std::string(reproduce) + line);
}

// Judges the sizes and makes the output.
Result<void> prepare(RunInput& input) {
  Operands& operands = input.operands;
  operands.op = input.problem.op;
  operands.params = input.problem.params;
  operands.x = input.arrays[0].view();
  operands.weight = input.arrays[1].view();
  std::optional<Dims> bias_shape;
  if (input.arrays.size() > 2) {
    operands.bias = input.arrays[2].view();
    bias_shape = operands.bias->spec.shape;
  }
  auto geometry =
      make_geometry(operands.op, operands.x.spec.shape, operands.weight.spec.shape, bias_shape, operands.params);
  if (!geometry) return tl::unexpected(geometry.error());
  input.geometry = *std::move(geometry);
  operands.out.spec = TensorSpec::dense(operands.x.spec.dtype, input.geometry.out_shape());
  auto memory =
      problem::Buffer::make(problem::bytes_of(operands.out.spec), problem::default_align, problem::Guard::end);
  if (!memory) return tl::unexpected(memory.error());
  input.out = *std::move(memory);
  problem::poison(input.out.bytes());
  operands.out.data = input.out.data();
  operands.out.bytes = input.out.size();
  return {};
}

Result<RunInput> from_files(std::vector<std::string> words, const RunWords& given) {
  RunInput input;
  if (auto read = read_arrays(input, given, asked_dtype(words)); !read) return tl::unexpected(read.error());
  if (words.empty() || words.front().find('=') != std::string::npos)
    words.insert(words.begin(), std::string(name_of(Op::conv2d)));
  add_shape(words, "x", input.arrays[0]);
  add_shape(words, "weight", input.arrays[1]);
  if (!given.bias.empty() && !has_key(words, "bias")) words.emplace_back("bias=1");
  if (!has_key(words, "dtype")) words.push_back(fmt::format("dtype={}", name_of(input.arrays[0].spec.dtype)));
  auto problem = parsed(words);
  if (!problem) return tl::unexpected(problem.error());
  if (auto fits = fits_words(*problem, input); !fits) return tl::unexpected(fits.error());
  input.problem = *std::move(problem);
  input.reproducer = "convoke run " + shell_words(problem::to_line(input.problem)) + file_options(given);
  if (auto ready = prepare(input); !ready) return tl::unexpected(with_reproducer(ready.error(), input));
  return input;
}

Result<RunInput> load(const RunWords& given) {
  auto words = all_words(given);
  if (!words) return tl::unexpected(words.error());
  if (given.x.empty() && given.weight.empty() && given.bias.empty()) {
    if (words->empty())
      return tl::unexpected(
          with_hint(usage_error("op", "nothing to run: give a problem line, or --x FILE --weight FILE"), help_hint));
    return from_line(*words);
  }
  if (given.x.empty() && given.weight.empty())
    return tl::unexpected(
        with_hint(usage_error("bias", "--bias FILE goes with --x FILE and --weight FILE"), help_hint));
  if (given.x.empty() || given.weight.empty())
    return tl::unexpected(with_hint(usage_error("x", "--x FILE and --weight FILE belong together"), help_hint));
  return from_files(*std::move(words), given);
}

}  // namespace

Result<RunInput> load_run_input(const RunWords& given) {
  auto input = load(given);
  const bool nothing = given.words.empty() && given.x.empty() && given.weight.empty() && given.bias.empty();
  if (!input && !nothing) return tl::unexpected(with_given_words(input.error(), given));
  return input;
}

Error with_reproducer(Error error, const RunInput& input) {
  return with_hint(std::move(error), std::string(reproduce) + input.reproducer);
}

}  // namespace convoke::cli

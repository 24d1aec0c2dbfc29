// SPDX-License-Identifier: Apache-2.0 OR MIT
// The program: reads the command line, runs one command, and is the only place where its output and failures are told.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/convoke/commands.hpp"
#include "apps/convoke/output.hpp"
#include "apps/convoke/version_text.hpp"
#include "problem/text.hpp"

namespace convoke::cli {
namespace {

int failed(const Error& error) {
  write_stderr(error_line(error.message));
  return exit_could_not_run;
}

int finish(const Result<Report>& report) {
  if (!report) return failed(report.error());
  if (const auto written = write_stdout(report->text); !written) return failed(written.error());
  if (!report->wrong.empty()) write_stderr(error_line(report->wrong));
  return report->exit;
}

// `convoke contracts check`: the command that was being read when parsing stopped.
std::string chosen_command(const CLI::App& program) {
  std::string name = program.get_name();
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().back();
    name += " " + app->get_name();
  }
  return name;
}

// The names that could stand at this place.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string unknown_word(const CLI::App& program, std::string word) {
  word.resize(std::min(word.find('='), word.size()));
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().back();
  const std::vector<std::string> names = known_words(*app);
  return fmt::format("'{}' is not known here{}", problem::clipped(word),
                     problem::suggestion(word, std::vector<std::string_view>(names.begin(), names.end())));
}

// One line. A word that nothing takes explains what is missing, so it comes first.
std::string complaint(const CLI::App& program, const CLI::ParseError& wrong) {
  if (const auto unknown = program.remaining(true); !unknown.empty()) return unknown_word(program, unknown.front());
  std::string message = wrong.what();
  if (const std::size_t much = message.find(": At Most 1 required"); much != std::string::npos)
    return message.substr(0, much) + " is given more than once; leave all but one out";
  for (char& c : message) c = c == '\n' ? ' ' : c;
  return message;
}

void add_commands(CLI::App& program, Action& action) {
  program.require_subcommand(1);
  program.set_help_flag("-h,--help", "Print this help");
  program.set_version_flag("--version", version_text, "Print version, commit, compiler and ISA paths");
  add_run(program, action);
  add_explain(program, action);
  add_suite(program, action);
  add_contracts(program, action);
  add_calibrate(program, action);
  add_devices(program, action);
  add_completion(program, action);
  program.footer(
      "Examples:\n"
      "  convoke run conv2d x=1x64x56x56 weight=64x64x3x3 padding=1 --verify\n"
      "  convoke explain conv2d x=1x64x56x56 weight=64x64x3x3 padding=1\n"
      "  convoke suite suites/conv-cases.json\n"
      "  convoke contracts check kernels/\n"
      "Exit status: 0 all well, 1 something was found wrong, 2 it could not run.");
}

int run_program(int argc, const char* const* argv) {
  CLI::App program("2-D convolution by contract", "convoke");
  Action action;
  add_commands(program, action);
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return finish(Report{program.help()});
  } catch (const CLI::CallForVersion&) {
    return finish(Report{version_text()});
  } catch (const CLI::ParseError& wrong) {
    return failed(
        usage_error("usage", fmt::format("{}; see '{} --help'", complaint(program, wrong), chosen_command(program))));
  }
  return finish(action());
}

}  // namespace
}  // namespace convoke::cli

int main(int argc, char** argv) {
  using namespace convoke::cli;
  claim_standard_streams();
  try {
    return run_program(argc, argv);
  } catch (const std::bad_alloc&) {
    write_stderr("convoke: error: out of memory; try a smaller problem\n");
  } catch (const std::exception& unexpected) {
    write_stderr(error_line(std::string("internal failure: ") + unexpected.what() +
                            "; this is a defect, please report it with the command line"));
  }
  return exit_could_not_run;
}

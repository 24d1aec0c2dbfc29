// SPDX-License-Identifier: Apache-2.0 OR MIT
// `convoke contracts`: check, list, show, coverage and fmt. None of them runs a kernel, and only coverage links any.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apps/convoke/commands.hpp"
#include "apps/convoke/contract_check.hpp"
#include "apps/convoke/contract_coverage.hpp"
#include "apps/convoke/contract_list.hpp"

namespace convoke::cli {
namespace {

struct ContractsSettings {
  std::vector<std::string> paths, contracts;
  std::string name;
  bool json = false, write = false, check = false;
};

constexpr const char* paths_help = "Contract documents: files of any name, folders for the *.md in them";

CLI::App* add_command(CLI::App& group, const std::string& name, const std::string& description,
                      const std::string& examples) {
  auto* command = group.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  return command;
}

void add_check(CLI::App& group, Action& action) {
  auto settings = std::make_shared<ContractsSettings>();
  auto* command = add_command(group, "check", "Read documents and report every finding, in a compiler's manner",
                              "  convoke contracts check kernels/\n"
                              "  convoke contracts check mine.fkc.md --json");
  command->add_option("paths", settings->paths, paths_help)->required()->type_name("PATH");
  command->add_flag("--json", settings->json, "Print one JSON document");
  command->callback(
      [&action, settings] { action = [settings] { return check_contracts(settings->paths, settings->json); }; });
}

void add_list(CLI::App& group, Action& action) {
  auto settings = std::make_shared<ContractsSettings>();
  auto* command = add_command(group, "list", "List kernels and their keys; without PATH the built-in ones",
                              "  convoke contracts list\n"
                              "  convoke contracts list mine.fkc.md --json");
  command->add_option("paths", settings->paths, paths_help)->type_name("PATH");
  command->add_flag("--json", settings->json, "Print one JSON document");
  command->callback(
      [&action, settings] { action = [settings] { return list_contracts(settings->paths, settings->json); }; });
}

void add_show(CLI::App& group, Action& action) {
  auto settings = std::make_shared<ContractsSettings>();
  auto* command = add_command(group, "show", "Show what one contract says",
                              "  convoke contracts show conv2d_f32\n"
                              "  convoke contracts show 'cpu/*/conv2d_bf16/*' --contracts mine.fkc.md");
  command->add_option("name", settings->name, "ImplId, glob over ImplIds, or kernel name")
      ->required()
      ->type_name("ID|NAME");
  command->add_option("--contracts", settings->contracts, "Look in these documents, not in the built-in ones")
      ->type_name("PATH");
  command->callback(
      [&action, settings] { action = [settings] { return show_contract(settings->name, settings->contracts); }; });
}

void add_coverage(CLI::App& group, Action& action) {
  auto settings = std::make_shared<ContractsSettings>();
  auto* command = add_command(group, "coverage", "Check that every key has a bit-stable kernel on the CPU",
                              "  convoke contracts coverage\n"
                              "  convoke contracts coverage mine.fkc.md --json");
  command->add_option("paths", settings->paths, "Documents to count beside the built-in ones")->type_name("PATH");
  command->add_flag("--json", settings->json, "Print one JSON document");
  command->callback(
      [&action, settings] { action = [settings] { return contract_coverage(settings->paths, settings->json); }; });
}

void add_fmt(CLI::App& group, Action& action) {
  auto settings = std::make_shared<ContractsSettings>();
  auto* command = add_command(group, "fmt", "Print documents with their indentation, or write them so",
                              "  convoke contracts fmt flat.txt > indented.fkc.md\n"
                              "  convoke contracts fmt --write kernels/\n"
                              "  convoke contracts fmt --check kernels/");
  command->add_option("paths", settings->paths, paths_help)->required()->type_name("PATH");
  auto* write = command->add_flag("--write", settings->write, "Change the files in place, each whole or not at all");
  command->add_flag("--check", settings->check, "Change nothing; exit 1 if a document would change")->excludes(write);
  command->callback([&action, settings] {
    const FormatMode mode = settings->write   ? FormatMode::write
                            : settings->check ? FormatMode::check
                                              : FormatMode::print;
    action = [settings, mode] { return format_contracts(settings->paths, mode); };
  });
}

}  // namespace

void add_contracts(CLI::App& program, Action& action) {
  auto* group = program.add_subcommand("contracts", "Check, list, show, count and format contract documents");
  group->require_subcommand(1);
  group->footer(
      "Examples:\n"
      "  convoke contracts check kernels/\n"
      "  convoke contracts list\n"
      "  convoke contracts show conv2d_f32");
  add_check(*group, action);
  add_list(*group, action);
  add_show(*group, action);
  add_coverage(*group, action);
  add_fmt(*group, action);
}

}  // namespace convoke::cli

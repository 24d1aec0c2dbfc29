// SPDX-License-Identifier: Apache-2.0 OR MIT
// `convoke devices`: what this machine has to run kernels on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/convoke/commands.hpp"
#include "apps/convoke/json_output.hpp"
#include "apps/convoke/table.hpp"
#include "base/host.hpp"

namespace convoke::cli {
namespace {

std::string bytes_text(std::int64_t bytes) {
  if (bytes <= 0) return "unknown";
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  return bytes % mebibyte == 0 ? fmt::format("{} MiB", bytes / mebibyte) : fmt::format("{} KiB", bytes / 1024);
}

Report list_devices(bool json) {
  const Host& machine = host();
  if (json) {
    Json device = {
        {"backend", "cpu"},       {"name", machine.cpu},      {"arch", machine.arch},   {"isa", isa_names(machine.isa)},
        {"cores", machine.cores}, {"l1d_bytes", machine.l1d}, {"l2_bytes", machine.l2}, {"l3_bytes", machine.l3}};
    return {json_text({{"devices", Json::array({std::move(device)})}})};
  }
  Table table({{"BACKEND"}, {"CORES", true}, {"L1D", true}, {"L2", true}, {"L3", true}, {"ISA"}, {"DEVICE"}});
  table.add({"cpu", fmt::format("{}", machine.cores), bytes_text(machine.l1d), bytes_text(machine.l2),
             bytes_text(machine.l3), fmt::format("{} {}", machine.arch, fmt::join(isa_names(machine.isa), " ")),
             machine.cpu});
  return {table.render(output_width(), stdout_has_colour())};
}

}  // namespace

void add_devices(CLI::App& program, Action& action) {
  auto* command = program.add_subcommand("devices", "Show what this machine has to run kernels on");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print one JSON document");
  command->footer(
      "Examples:\n"
      "  convoke devices\n"
      "  convoke devices --json");
  command->callback([&action, json] { action = [json]() -> Result<Report> { return list_devices(*json); }; });
}

}  // namespace convoke::cli

// SPDX-License-Identifier: Apache-2.0 OR MIT
// The commands: each function adds one to the program's tree of options. Parsing a command line sets `action` to what
// the chosen command does; nothing runs while options are read.
#pragma once

#include <functional>

#include "apps/convoke/output.hpp"

namespace CLI {
class App;
}

namespace convoke::cli {

using Action = std::function<Result<Report>()>;

void add_run(CLI::App& program, Action& action);
void add_explain(CLI::App& program, Action& action);
void add_contracts(CLI::App& program, Action& action);
void add_suite(CLI::App& program, Action& action);
void add_calibrate(CLI::App& program, Action& action);
void add_devices(CLI::App& program, Action& action);
void add_completion(CLI::App& program, Action& action);

}  // namespace convoke::cli

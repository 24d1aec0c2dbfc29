// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#include <string>

namespace convoke::cli {

/// What `--version` prints: version, commit, compiler, and the instruction sets kernels are built for and the host has.
std::string version_text();

}  // namespace convoke::cli

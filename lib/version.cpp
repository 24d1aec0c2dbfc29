// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "convoke/version.hpp"

#include "commit.inc"  // CONVOKE_COMMIT, written at build time

#if defined(__clang__)
#define CONVOKE_COMPILER __VERSION__
#else
#define CONVOKE_COMPILER "GCC " __VERSION__
#endif

namespace convoke {

const BuildInfo& build_info() noexcept {
  static constexpr BuildInfo info{CONVOKE_VERSION, CONVOKE_COMMIT, CONVOKE_COMPILER, CONVOKE_BUILD_TYPE};
  return info;
}

}  // namespace convoke

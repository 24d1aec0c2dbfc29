// SPDX-License-Identifier: Apache-2.0 OR MIT
// What this machine is: asked once, never from the environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace convoke {

/// The processor this process runs on. Sizes are bytes; 0 where the system does not say.
struct Host {
  std::string cpu;        ///< model name as the system gives it, such as `AMD EPYC 9B14`; `unknown` where it is silent
  std::string arch;       ///< `x86_64`, `aarch64` or `unknown`
  std::uint32_t isa = 0;  ///< bits of convoke_isa (kernels/common/kernel.h) that processor and system both provide
  int cores = 1;          ///< logical processors this process may use (its affinity mask), at least 1
  std::int64_t l1d = 0;   ///< data cache of one core
  std::int64_t l2 = 0;    ///< of one core
  std::int64_t l3 = 0;    ///< of one cluster of cores
};

/// The host, asked at the first call.
const Host& host();

/// Names of the bits set: `fma`, `avx512`; a bit without a name is `bitN`. Empty for the baseline.
std::vector<std::string> isa_names(std::uint32_t isa);
/// The bit of a name that isa_names gives; 0 for `baseline`; ~0 for a name that nobody provides.
std::uint32_t isa_of_name(std::string_view name) noexcept;

}  // namespace convoke

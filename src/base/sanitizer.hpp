// SPDX-License-Identifier: Apache-2.0 OR MIT
// Whether AddressSanitizer watches this build. Clang and GCC say so in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define CONVOKE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONVOKE_ADDRESS_SANITIZER 1
#endif
#endif

namespace convoke {

#ifdef CONVOKE_ADDRESS_SANITIZER
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = false;
#endif

}  // namespace convoke

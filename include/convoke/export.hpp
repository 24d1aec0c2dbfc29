// SPDX-License-Identifier: Apache-2.0 OR MIT
#pragma once

#if defined(__GNUC__)
#define CONVOKE_API __attribute__((visibility("default")))
#else
#define CONVOKE_API
#endif

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# readme_test.sh README: the C++ that it shows compiles, as C++20 and without a warning, against the installed headers.
set -eu
code=$(sed -n '/^```cpp$/,/^```$/p' "$1" | grep -v '^```')
[ -n "$code" ] || { echo "$1 shows no C++"; exit 1; }
{
  echo "$code" | grep -E '^(#include|using)'
  echo 'using Size = std::size_t;'
  echo 'void show(const float* x, const float* w, float* y, Size x_bytes, Size w_bytes, Size y_bytes) {'
  echo "$code" | grep -vE '^(#include|using)'
  echo 'static_cast<void>(done); }'
} | g++ -std=c++20 -Wall -Wextra -Werror -fsyntax-only $(pkg-config --cflags convoke) -x c++ -

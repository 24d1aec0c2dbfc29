#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# pkg_config_test.sh SOURCE PROGRAM: builds SOURCE with what pkg-config says and nothing else, and runs it.
set -eu
libdir=$(pkg-config --variable=libdir convoke)
# shellcheck disable=SC2046  # the flags are words
g++ -std=c++20 "$1" -o "$2" $(pkg-config --cflags --libs convoke) -Wl,-rpath,"$libdir"
"$2"

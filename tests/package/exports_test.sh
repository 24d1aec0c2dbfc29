#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# exports_test.sh LIBRARY: everything that the library exports is ours.
set -eu
symbols=$(nm -D --defined-only "$1" | c++filt | cut -d' ' -f3-)
[ -n "$symbols" ] || { echo "$1 exports nothing"; exit 1; }
ours='^(convoke::|convoke_[a-z0-9_]+$|(typeinfo|typeinfo name|vtable) for convoke::)'
foreign=$(echo "$symbols" | grep -vE "$ours" || true)
[ -z "$foreign" ] || { echo "not ours, yet exported:"; echo "$foreign"; exit 1; }

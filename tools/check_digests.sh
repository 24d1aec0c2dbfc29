#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the kernels with every compiler at hand, for x86-64 and aarch64, at -O1 and -O3, and compares the digests they
# print with suites/digests.txt: the bits must not depend on any of that.
#
#   tools/check_digests.sh [--require-all]       with --require-all a missing compiler is a failure, not a skip
set -eu
cd "$(dirname "$0")/.."

require_all=0
[ "${1:-}" = --require-all ] && require_all=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
grep -v '^#' suites/digests.txt > "$work/golden"
[ -s "$work/golden" ] || { echo "suites/digests.txt holds no digests"; exit 1; }
checked=0 failed=0

# compile ISA KERNEL EXTRA...: one object, in the background
compile() {
  isa=$1 kernel=$2
  shift 2
  $compiler $flags "$@" -DCONVOKE_PORTABLE_ISA="$isa" -c kernels/portable/$kernel.cpp -o "$build/$isa-$kernel.o" &
  jobs="$jobs $!"
}

# build_and_compare COMPILER LEVEL MACHINE RUNNER...
build_and_compare() {
  compiler=$1 level=$2 machine=$3
  shift 3
  build="$work/$compiler$level" jobs='' with_fma=0
  mkdir "$build"
  flags="-std=c++2b $level -I. -ffp-contract=off -fno-math-errno -fno-exceptions -fno-trapping-math"
  [ "$machine" = x86_64 ] && with_fma=1
  for source in kernels/portable/*.cpp; do
    kernel=$(basename "$source" .cpp)
    [ "$kernel" != entries ] || continue
    compile baseline "$kernel"
    [ $with_fma = 0 ] || compile fma "$kernel" -mavx2 -mfma -mf16c
  done
  for job in $jobs; do wait "$job"; done
  $compiler -std=c++2b "$level" -I. -ffp-contract=off -static -DCONVOKE_PORTABLE_WITH_FMA=$with_fma \
    tests/kernels/digests.cpp kernels/portable/entries.cpp "$build"/*.o -o "$build/digests"
  if "$@" "$build/digests" > "$build/printed" && cmp -s "$build/printed" "$work/golden"; then
    echo "ok      $compiler $level"
  else
    echo "FAILED  $compiler $level: other bits than suites/digests.txt"
    diff "$work/golden" "$build/printed" | head -20 || true
    failed=$((failed + 1))
  fi
  checked=$((checked + 1))
}

# at_both_levels COMPILER MACHINE RUNNER...: skips where a program is missing
at_both_levels() {
  for program in "$1" ${3:-}; do
    command -v "$program" > /dev/null && continue
    echo "skipped $1: no $program"
    [ $require_all = 0 ] || failed=$((failed + 1))
    return 0
  done
  name=$1
  shift
  build_and_compare "$name" -O1 "$@"
  build_and_compare "$name" -O3 "$@"
}

host=$(uname -m)
at_both_levels g++ "$host"
at_both_levels clang++-19 "$host"
[ "$host" = aarch64 ] || at_both_levels aarch64-linux-gnu-g++ aarch64 qemu-aarch64

[ $checked -gt 0 ] || { echo "no compiler was found"; exit 1; }
[ $failed = 0 ] || exit 1
echo "$checked builds print the same $(wc -l < "$work/golden") digests"

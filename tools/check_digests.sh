#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Builds the kernels with every compiler at hand, for x86-64 and aarch64, at -O1 and -O3, and compares the digests they
# print with suites/digests.txt: the bits must not depend on any of that. The vector kernels, which take longest, are
# built once by each compiler, at the level that its release build does not have, or at -O3.
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

common="-std=c++2b -I. -ffp-contract=off -fno-math-errno -fno-trapping-math"

# compile OBJECT SOURCE FLAG...: one object, in the background
compile() {
  object=$1 source=$2
  shift 2
  $compiler $common "$@" -c "$source" -o "$object" &
  jobs="$jobs $!"
}

# compile_simd MACHINE LEVEL: the flags of kernels/simd/CMakeLists.txt, and all sources as one: reading Highway once
# for each would take half of the time.
compile_simd() {
  for source in kernels/simd/*.cpp; do
    [ "$source" = kernels/simd/entries.cpp ] || echo "#include \"$source\""
  done > "$build/simd.cpp"
  if [ "$1" = x86_64 ]; then
    simd avx512 "$2" -march=x86-64-v4 -maes -mpclmul -mtune=sapphirerapids
    simd fma "$2" -march=x86-64-v3 -maes -mpclmul -mtune=haswell
  else
    simd neon "$2" -march=armv8-a+crypto
  fi
}

# simd ISA FLAG...
simd() {
  isa=$1
  shift
  compile "$build/simd-$isa.o" "$build/simd.cpp" -fno-exceptions -DHWY_COMPILE_ONLY_STATIC -DCONVOKE_SIMD_ISA="$isa" \
    "$@"
}

# compile_portable MACHINE LEVEL
compile_portable() {
  for source in kernels/portable/*.cpp; do
    name=$(basename "$source" .cpp)
    [ "$name" != entries ] || continue
    compile "$build/baseline-$name$2.o" "$source" "$2" -fno-exceptions -DCONVOKE_PORTABLE_ISA=baseline
    [ "$1" != x86_64 ] ||
      compile "$build/fma-$name$2.o" "$source" "$2" -fno-exceptions -DCONVOKE_PORTABLE_ISA=fma -mavx2 -mfma -mf16c
  done
}

# compile_program MACHINE
compile_program() {
  rows="-DCONVOKE_PORTABLE_WITH_FMA=0 -DCONVOKE_SIMD_WITH_NEON"
  [ "$1" != x86_64 ] || rows="-DCONVOKE_PORTABLE_WITH_FMA=1 -DCONVOKE_SIMD_WITH_AVX512 -DCONVOKE_SIMD_WITH_FMA"
  compile "$build/program-digests.o" tests/kernels/digests.cpp -O1
  # shellcheck disable=SC2086  # several words
  for folder in portable simd; do
    compile "$build/program-$folder.o" kernels/$folder/entries.cpp -O1 $rows
  done
}

# link_and_compare LEVEL MACHINE RUNNER...
link_and_compare() {
  level=$1
  shift 2
  $compiler -static "$build"/program-*.o "$build"/simd-*.o "$build"/*"$level.o" -o "$build/digests"
  if "$@" "$build/digests" > "$build/printed" 2> "$build/said" && cmp -s "$build/printed" "$work/golden"; then
    echo "ok      $compiler $level, $(cat "$build/said")"
  else
    echo "FAILED  $compiler $level: other bits than suites/digests.txt"
    cat "$build/said"
    diff "$work/golden" "$build/printed" | head -20 || true
    failed=$((failed + 1))
  fi
  checked=$((checked + 1))
}

# at_both_levels COMPILER SIMD_LEVEL MACHINE RUNNER...: skips where a program is missing
at_both_levels() {
  for program in "$1" ${4:-}; do
    command -v "$program" > /dev/null && continue
    echo "skipped $1: no $program"
    [ $require_all = 0 ] || failed=$((failed + 1))
    return 0
  done
  compiler=$1 build="$work/$1" jobs=''
  mkdir "$build"
  compile_simd "$3" "$2"
  compile_program "$3"
  compile_portable "$3" -O1
  compile_portable "$3" -O3
  for job in $jobs; do wait "$job"; done
  shift 2
  link_and_compare -O1 "$@"
  link_and_compare -O3 "$@"
}

host=$(uname -m)
at_both_levels g++ -O3 "$host"
at_both_levels clang++-19 -O1 "$host"
[ "$host" = aarch64 ] || at_both_levels aarch64-linux-gnu-g++ -O3 aarch64 qemu-aarch64

[ $checked -gt 0 ] || { echo "no compiler was found"; exit 1; }
[ $failed = 0 ] || exit 1
echo "$checked builds print the same $(wc -l < "$work/golden") digests"

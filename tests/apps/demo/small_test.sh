#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# small_test.sh CONVOKE_DEMO LAYERS: the whole program over two small layers ends well, says so, leaves its pictures.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --size 24 --out "$folder" --layers "$2" --network small >"$folder/said" 2>&1
status=$?
cat "$folder/said"
[ $status -eq 0 ] || { echo "exit $status"; exit 1; }
grep -q '^32 convolutions, [1-9][0-9]* comparisons with the oracles: all agree$' "$folder/said" || exit 1
for name in evening blur edges sharpen half emboss upscale contact_sheet; do
  [ -s "$folder/$name.png" ] || { echo "no $name.png"; exit 1; }
done

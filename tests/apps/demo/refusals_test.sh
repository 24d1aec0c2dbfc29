#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# refusals_test.sh CONVOKE_DEMO: what it cannot run ends with exit 2 and one line that says why.
set -u
demo=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

refuses() {
  want=$1
  shift
  said=$("$demo" --out "$folder/out" "$@" 2>&1 >/dev/null)
  status=$?
  [ $status -eq 2 ] || { echo "exit $status, want 2: $*"; exit 1; }
  case $said in *"$want"*) ;; *) echo "no '$want' in: $said"; exit 1 ;; esac
}

refuses missing.csv --layers "$folder/missing.csv"
printf 'op,name,n,cin,h,w,cout,kh,kw\nconv2d,a,1,1,4,4,1,3,3\n' >"$folder/layers.csv"
refuses nobody --layers "$folder/layers.csv" --network nobody
refuses --size --size 0
touch "$folder/file"
said=$("$demo" --out "$folder/file/out" 2>&1) && { echo "wrote below a file"; exit 1; }
[ ! -e "$folder/out" ] || [ -z "$(ls "$folder/out")" ] || { echo "a refusal left files behind"; exit 1; }

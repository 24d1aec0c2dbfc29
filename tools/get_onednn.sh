#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# get_onednn.sh — puts oneDNN 3.2 of PyPI under build/onednn for conv_peers (bench/README.md) and says how to configure.
# Distributions that package 3.2 or later need it not. Exit 2 where pip is missing or the package cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2023.2.0  # of Intel's release: oneDNN 3.2.0
target=build/onednn
packages=("onednn-devel-cpu-gomp==$version" "onednn-cpu-gomp==$version")

if [ $# -gt 0 ]; then
  echo "usage: tools/get_onednn.sh" >&2
  exit 2
fi
if [ ! -e "$target/lib/libdnnl.so.3" ]; then
  wheels=$(mktemp -d)
  trap 'rm -rf "$wheels"' EXIT
  if ! python3 -m pip download -q --no-deps --only-binary :all: -d "$wheels" "${packages[@]}" >&2; then
    echo "get_onednn: pip could not download ${packages[*]} (is there a network, and python3-pip?)" >&2
    exit 2
  fi
  rm -rf "$target"
  mkdir -p "$target"
  # A wheel keeps what goes under the prefix in NAME.data/data; zip files know no links, so each library lies there
  # three times.
  python3 - "$wheels" "$target" <<'EOF'
import pathlib, sys, zipfile
for wheel in sorted(pathlib.Path(sys.argv[1]).glob("*.whl")):
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        _, inside, path = name.partition(".data/data/")
        if inside and path and not path.endswith("/"):
            file = pathlib.Path(sys.argv[2], path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(archive.read(name))
EOF
  ln -sf libdnnl.so.3.2 "$target/lib/libdnnl.so.3"
  ln -sf libdnnl.so.3 "$target/lib/libdnnl.so"
fi
echo "get_onednn: oneDNN 3.2 is in $target; configure with -DCONVOKE_ONEDNN_ROOT=$PWD/$target"

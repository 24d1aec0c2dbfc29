#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 OR MIT
# get_peers.sh — makes the Python environment that bench/peers.py runs in, build/peers: PyTorch, ONNX Runtime, ONNX.
# The CPU build of PyTorch is asked for first, as pip is configured to find it; the usual one works too and is larger.
# Exit 2 where the packages cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

target=build/peers
python=${PYTHON:-/usr/bin/python3}
if [ $# -gt 0 ]; then
  echo "usage: tools/get_peers.sh" >&2
  exit 2
fi
ready() { "$target/bin/python" -c 'import numpy, onnx, onnxruntime, torch' 2>/dev/null; }
if ! ready; then
  rm -rf "$target"
  "$python" -m venv "$target" || {
    echo "get_peers: $python has no venv (python3-venv)" >&2
    exit 2
  }
  install() { "$target/bin/python" -m pip install -q --only-binary :all: "$@"; }
  cpu=$("$target/bin/python" -m pip index versions torch 2>/dev/null | grep -o '[0-9.]*+cpu' | head -n 1 || true)
  if ! install numpy onnx onnxruntime "torch${cpu:+==$cpu}" || ! ready; then
    echo "get_peers: pip could not install numpy, onnx, onnxruntime and torch (is there a network?)" >&2
    exit 2
  fi
fi
echo "get_peers: run the comparison with $target/bin/python bench/peers.py"

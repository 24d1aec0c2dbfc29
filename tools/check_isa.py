#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Checks that objects built for one instruction set define nothing that another object could end up calling.

A linker keeps one of several equal inline functions. If that one comes from an object built for AVX2, a host without
AVX2 dies in code that never asked for it. So every symbol such an object shares must lie in its own namespace.

  check_isa.py [--nm NM] NAMESPACE OBJECT...        for example: check_isa.py convoke::portable::fma conv2d.cpp.o
"""

import argparse
import subprocess
import sys


def mangled_prefix(namespace):
    """The Itanium ABI's spelling of `a::b::`, up to the name itself."""
    return "".join(f"{len(part)}{part}" for part in namespace.split("::"))


def shared_symbols(nm, path):
    """(type, name) of every defined symbol that other objects can see: upper-case types, weak and unique ones.

    Common blocks (C) are left out: they hold no code, and AddressSanitizer puts one into every object.
    """
    listing = subprocess.run([nm, "--defined-only", "-P", path], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        name, kind = line.split()[:2]
        if (kind.isupper() and kind != "C") or kind in "wvu":
            yield kind, name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nm", default="nm")
    parser.add_argument("namespace")
    parser.add_argument("objects", nargs="*")
    options = parser.parse_args()

    prefix = mangled_prefix(options.namespace)
    found, wrong = 0, 0
    for path in options.objects:
        for kind, name in shared_symbols(options.nm, path):
            found += 1
            if not name.startswith((f"_ZN{prefix}", f"_ZNK{prefix}")):
                wrong += 1
                print(f"{path}: {name} (type {kind}) is defined outside {options.namespace}")
    if found == 0:
        print(f"no object defines a symbol: {len(options.objects)} objects given for {options.namespace}")
        return 1
    if wrong == 0:
        print(f"{len(options.objects)} objects, {found} symbols, all in {options.namespace}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts vectors that compiled functions keep on the stack, and fails where there is one.

A tile of sums is as large as the registers allow. Where a compiler needs one register more, it stores and loads a
vector in the innermost loop, and a kernel that was right stays right and becomes slow. x86-64 only.

  check_spills.py [--objdump OBJDUMP] OBJECT...

Looked at is every function with a vector multiply-add; it fails where objects hold none.
"""

import argparse
import re
import subprocess
import sys

HEADER = re.compile(r"^[0-9a-f]+ <(.+)>:$")
MULTIPLY_ADD = re.compile(r"\bvfn?m(?:add|sub)\d*[a-z]*p[sd]\b")
WIDE = re.compile(r"%[yz]mm\d")
STACK = re.compile(r"\(%rsp\b")
FRAME = re.compile(r"\(%rbp\b")
SETS_FRAME = re.compile(r"\b(?:movq?\s+%rsp|leaq?\s+[^,]*\(%rsp\)),\s*%rbp\b")


def functions(listing):
    """(name, instructions) of every function of a disassembly in AT&T syntax."""
    name, lines = None, []
    for line in listing.splitlines():
        header = HEADER.match(line)
        if header:
            if name:
                yield name, lines
            name, lines = header.group(1), []
        elif name and ":" in line:
            lines.append(line.split(":", 1)[1].split("#", 1)[0].strip())
    if name:
        yield name, lines


def spills(instructions):
    """Those that move a whole vector to or from the stack. %rbp may be any number, unless it was made from %rsp."""
    has_frame = any(SETS_FRAME.search(line) for line in instructions)
    return [line for line in instructions
            if WIDE.search(line) and (STACK.search(line) or (has_frame and FRAME.search(line)))]


def judge(listing):
    """Number of functions with a multiply-add, and (name, instructions) of each that spills."""
    looked_at, wrong = 0, []
    for name, instructions in functions(listing):
        if not any(MULTIPLY_ADD.search(line) for line in instructions):
            continue
        looked_at += 1
        found = spills(instructions)
        if found:
            wrong.append((name, found))
    return looked_at, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("objects", nargs="*")
    options = parser.parse_args()

    looked_at, spilling = 0, 0
    for path in options.objects:
        listing = subprocess.run([options.objdump, "-d", "-C", "--no-show-raw-insn", path], check=True,
                                 capture_output=True, text=True).stdout
        seen, wrong = judge(listing)
        looked_at += seen
        spilling += len(wrong)
        for name, found in wrong:
            print(f"{path}: {name}: {len(found)} vectors on the stack, the first: {' '.join(found[0].split())}")
    if looked_at == 0:
        print(f"no function multiplies and adds vectors: {len(options.objects)} objects given")
        return 1
    if spilling == 0:
        print(f"{len(options.objects)} objects, {looked_at} functions, no vector on the stack")
    return 1 if spilling else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Include directions (docs/architecture.md): who may include whom, and which folder owns a third-party library.

usage: check_includes.py [ROOT]; exit 0: all well, 1: findings, or no file to look at.
"""

import re
import sys
from pathlib import Path

import tree

# folder: what it may include beside itself. The first row whose folder is a prefix of a path is that file's.
EDGES = {
    "include/convoke": [],
    "kernels/common": [],
    "kernels": ["kernels/common"],
    "src/base": ["include/convoke", "kernels/common"],
    "src/problem": ["src/base", "include/convoke"],
    "src/oracle": ["src/base", "include/convoke"],
    "src/contract": ["src/base", "include/convoke"],
    "src/bind": ["src/contract", "src/base", "include/convoke", "kernels"],
    "src/plan": ["src/bind", "src/contract", "src/base", "include/convoke", "kernels/common"],
    "src/cpu": ["src/base", "include/convoke", "kernels/common"],
    "src/run": ["src/plan", "src/cpu", "src/bind", "src/contract", "src/base", "include/convoke", "kernels/common"],
    "src/judge": ["src/run", "src/cpu", "src/plan", "src/bind", "src/contract", "src/problem", "src/oracle", "src/base",
                  "include/convoke"],
    "lib": ["include/convoke"],
    "apps": ["src/judge", "src/run", "src/plan", "src/bind", "src/contract", "src/problem", "src/oracle", "src/base",
             "include/convoke"],
    "tests/package": ["include/convoke"],  # strangers: the installed headers only
    "tests": ["src", "kernels", "apps", "bench", "include/convoke"],
    "bench": ["src", "kernels", "apps", "include/convoke"],
    "fuzz": ["src", "include/convoke"],
    "tools": ["src", "kernels", "include/convoke"],
}
SEPARATE = {"kernels", "apps"}  # folders whose subfolders do not see each other

# header (a prefix ends in `/`): the folders that may see it.
OWNERS = {
    "yaml-cpp/": ["src/contract"],
    "cmark.h": ["src/contract"],
    "nlohmann/": ["src/base"],
    "sha2.h": ["src/base"],
    "CLI/": ["apps", "bench/peers"],
    "oneapi/dnnl/": ["bench/peers"],
    "png.h": ["apps/demo", "tests/apps/demo"],
    "hwy/": ["kernels/simd"],
    "omp.h": ["kernels", "src/cpu", "tests", "bench"],
    "gtest/": ["tests"],
    "gmock/": ["tests"],
    "benchmark/": ["bench"],
    "fmt/": ["src", "apps", "tests", "bench", "fuzz", "tools"],
    "tl/": ["include/convoke", "src", "apps", "tests", "bench", "fuzz", "tools"],
    "convoke/": ["tests/package"],
    "sanitizer/": ["src/problem", "tests"],
}
SYSTEM = {
    "assert.h", "errno.h", "fcntl.h", "fenv.h", "float.h", "limits.h", "math.h", "sched.h", "signal.h", "stdbool.h",
    "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "unistd.h", "cpuid.h", "immintrin.h", "xmmintrin.h",
    "arm_neon.h", "asm/hwcap.h", "pthread.h", "dlfcn.h", "poll.h", "dirent.h",
}
# Objects built for a newer ISA must not hand others inline code that the host cannot run. Entry tables are built for
# the baseline only.
KERNEL_FORBIDDEN = {
    "algorithm", "array", "deque", "functional", "iostream", "list", "map", "memory", "numeric", "optional", "ranges",
    "set", "span", "sstream", "string", "string_view", "tuple", "unordered_map", "unordered_set", "utility", "variant",
    "vector",
}
GENERATED = {"convoke/version.hpp": "include/convoke", "commit.inc": "lib"}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')


def inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def row_of(path: str) -> str | None:
    """The longest row of EDGES that holds the path."""
    rows = [folder for folder in EDGES if inside(path, folder)]
    return max(rows, key=len) if rows else None


def home_of(path: str, row: str) -> str:
    """The folder that a file shares with those it may include freely."""
    parts = path.split("/")
    return "/".join(parts[:2]) if row in SEPARATE and len(parts) > 2 else row


def resolve(root: Path, path: str, header: str) -> str | None:
    if header in GENERATED:
        return f"{GENERATED[header]}/{header.rsplit('/', 1)[-1]}"
    for base in (str(Path(path).parent), "include", "src", "."):
        candidate = (root / base / header).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate.relative_to(root).as_posix()
    return None


def judge_own(root: Path, path: str, row: str, header: str) -> str | None:
    target = resolve(root, path, header)
    if target is None:
        # Headers made by the build stand in no folder: the target that makes them is linked on purpose.
        return None if header.startswith("generated/") else f'"{header}" is in no folder of the project'
    allowed = [home_of(path, row), *EDGES[row]]
    if any(inside(target, folder) for folder in allowed):
        return None
    return f"{row} may not include {target} (allowed: {', '.join(allowed)})"


def judge_foreign(path: str, header: str) -> str | None:
    is_kernel = inside(path, "kernels") and Path(path).stem != "entries"
    if is_kernel and header in KERNEL_FORBIDDEN:
        return f"<{header}> has no place in a kernel: no containers, no algorithms"
    for name, owners in OWNERS.items():
        if header == name or (name.endswith("/") and header.startswith(name)):
            if any(inside(path, owner) for owner in owners):
                return None
            return f"<{header}> may be included from {', '.join(owners)} only"
    if header in SYSTEM or header.startswith("sys/") or re.fullmatch(r"[a-z_0-9]+", header):
        return None
    return f"<{header}> is no header known here; give it an owner in tools/check_includes.py"


def findings(root: Path, paths: list[str]) -> tuple[int, list[str]]:
    """Number of includes looked at, and what is wrong with them."""
    seen, wrong = 0, []
    for path in paths:
        row = row_of(path)
        if row is None:
            wrong.append(f"{path}: in no folder of the table in tools/check_includes.py")
            continue
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            seen += 1
            own, foreign = match.groups()
            finding = judge_own(root, path, row, own) if own else judge_foreign(path, foreign)
            if finding:
                wrong.append(f"{path}:{number}: {finding}")
    return seen, wrong


def main(arguments: list[str]) -> int:
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    paths = [path for path in tree.files(root) if path.endswith((*tree.CPP_SUFFIXES, ".inc"))]
    seen, wrong = findings(root, paths)
    for finding in wrong:
        print(finding)
    if seen == 0:
        print(f"{root}: no include found; a check that looks at nothing proves nothing")
        return 1
    print(f"includes: {seen} in {len(paths)} files, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

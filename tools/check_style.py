#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""House rules that no formatter knows: licence lines, line lengths, machine paths, leftovers, file sizes.

usage: check_style.py [ROOT]; exit 0: all well (long files are only listed), 1: findings, or no file to look at.
"""

import re
import sys
from pathlib import Path

import tree

SPDX = "SPDX-License-Identifier: Apache-2.0 OR MIT"
CODE_SUFFIXES = (*tree.CPP_SUFFIXES, ".inc", ".py", ".sh", ".cmake", ".in", ".yml", ".yaml", ".map", ".supp")
CODE_NAMES = ("CMakeLists.txt", ".clang-tidy", "demo", "check", "run")
LINE_LIMIT = 120
FILE_LIMIT, KERNEL_FILE_LIMIT = 400, 300
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|farm|root|home|tmp)/\w")
LEFTOVER = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
DATA_SUFFIXES = (".npy", ".png", ".bin")


def is_code(path: str) -> bool:
    return path.endswith(CODE_SUFFIXES) or Path(path).name in CODE_NAMES


def judge(path: str, text: str) -> tuple[list[str], list[str]]:
    """Findings and remarks about one file."""
    wrong, remarks = [], []
    lines = text.splitlines()
    if is_code(path):
        if lines and SPDX not in "\n".join(lines[:2]):
            wrong.append(f"{path}:1: no licence line ({SPDX})")
        if not path.endswith(tree.CPP_SUFFIXES):  # those are clang-format's, which knows what it cannot break
            wrong += [f"{path}:{n}: {len(line)} characters, at most {LINE_LIMIT}"
                      for n, line in enumerate(lines, 1) if len(line) > LINE_LIMIT]
        limit = KERNEL_FILE_LIMIT if path.startswith("kernels/") else FILE_LIMIT
        if len(lines) > limit:
            remarks.append(f"{path}: {len(lines)} lines; is it still one idea? (aim: {limit})")
    if not path.endswith("check_style.py") and not path.startswith("tests/tools/"):
        for n, line in enumerate(lines, 1):
            if MACHINE_PATH.search(line):
                wrong.append(f"{path}:{n}: the path of one machine")
            if is_code(path) and LEFTOVER.search(line):
                wrong.append(f"{path}:{n}: a note to self; finish it or file an issue")
    if text and not text.endswith("\n"):
        wrong.append(f"{path}: no newline at the end")
    return wrong, remarks


# Inputs that are broken on purpose, and texts that are not ours to change.
def is_ours(path: str) -> bool:
    return not (path.endswith(DATA_SUFFIXES) or path.startswith(("fuzz/corpus/", "suites/", "LICENSE-"))
                or "/data/" in path)


def main(arguments: list[str]) -> int:
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    paths = [path for path in tree.files(root) if is_ours(path)]
    wrong, remarks = [], []
    for path in paths:
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            wrong.append(f"{path}: not UTF-8")
            continue
        found, remarked = judge(path, text)
        wrong += found
        remarks += remarked
    for line in [*wrong, *remarks]:
        print(line)
    if not any(is_code(path) for path in paths):
        print(f"{root}: no source file found; a check that looks at nothing proves nothing")
        return 1
    print(f"style: {len(paths)} files, {len(wrong)} findings, {len(remarks)} long files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

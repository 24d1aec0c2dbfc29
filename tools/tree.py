# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which files the checks look at: those that git tracks or would track."""

import subprocess
from pathlib import Path

CPP_SUFFIXES = (".cpp", ".hpp", ".h", ".c")


def files(root: Path) -> list[str]:
    """Paths relative to root, sorted."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        check=True, capture_output=True, text=True).stdout
    return sorted(path for path in listed.split("\0") if path and (root / path).is_file())


def cpp_files(root: Path) -> list[str]:
    return [path for path in files(root) if path.endswith(CPP_SUFFIXES)]

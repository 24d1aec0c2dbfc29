#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""clang-tidy over every source, kernel and program of a configured build, as many at a time as there are cores.

usage: tidy.py BUILD_DIR [FILE...]; exit 0: clean, 1: findings, or no file to look at.
A file that was clean is not looked at again until it, one of its headers, its flags or .clang-tidy changes.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "kernels", "apps", "lib")
TIDY = "clang-tidy-19"
OBJECT = re.compile(r" -o (\S+)")
# A file's own headers are fewer than those of its folder, and every check walks through all that is included. Without
# them a file which leaves an include out does not parse, and is found.
PRECOMPILED = re.compile(r" -Winvalid-pch| -Xclang -include(-pch)? -Xclang \S+")
# The source that CMake writes where several are built together: the includes of those.
TOGETHER = re.compile(r"/Unity/unity_\d+_\w+\.\w+$")
INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)


def one_by_one(entry: dict) -> list[dict]:
    """An entry for each source that was built; for sources built together, as if each were built alone."""
    file = Path(entry["directory"], entry["file"])
    if not TOGETHER.search(file.as_posix()) or not file.is_file():
        return [entry]
    return [{**entry, "file": source, "command": entry["command"].replace(str(file), source)}
            for source in INCLUDED.findall(file.read_text())]


def commands(build: Path, chosen: list[str]) -> list[dict]:
    """One for each file, however often it is built: the checks are of what is written, not of instruction sets."""
    wanted = {(ROOT / path).resolve() for path in chosen}
    result = {}
    database = json.loads((build / "compile_commands.json").read_text())
    for entry in (alone for built in database for alone in one_by_one(built)):
        file = Path(entry["directory"], entry["file"]).resolve()
        if not file.is_relative_to(ROOT) or file.is_relative_to(build):
            continue
        path = file.relative_to(ROOT).as_posix()
        if path.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and (not wanted or file in wanted):
            result[path] = {**entry, "path": path, "command": PRECOMPILED.sub("", entry["command"])}
    return list(result.values())


def headers_by_object(build: Path) -> dict[str, list[Path]]:
    """What the last build of each object read, system headers left out."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True).stdout
    result, current = {}, []
    for line in listed.splitlines():
        if line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
        elif ": #deps" in line:
            current = result.setdefault(line.split(":", 1)[0], [])
    return result


def key_of(entry: dict, headers: dict[str, list[Path]]) -> str | None:
    """Names everything that the verdict depends on; None where the object was never built."""
    output = OBJECT.search(entry["command"])
    read = headers.get(output.group(1)) if output else None
    if not read:
        return None
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + entry["command"].encode())
    for path in read:
        digest.update(path.read_bytes() if path.is_file() else b"gone")
    return digest.hexdigest()


def look_at(database: Path, entry: dict) -> tuple[bool, str]:
    done = subprocess.run([TIDY, "-p", str(database), "--quiet", str(ROOT / entry["path"])],
                          capture_output=True, text=True)
    # Standard error counts the warnings of system headers; it matters only where clang-tidy itself failed.
    return done.returncode == 0, done.stdout if done.stdout.strip() else done.stderr


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    build = Path(arguments[0]).resolve()
    entries = commands(build, arguments[1:])
    if not entries:
        print("tidy: no file to look at; a check that looks at nothing proves nothing")
        return 1
    cache_file = build / "tidy-clean.json"
    clean = set(json.loads(cache_file.read_text())) if cache_file.exists() else set()
    headers = headers_by_object(build)
    keys = [key_of(entry, headers) for entry in entries]
    work = [(entry, key) for entry, key in zip(entries, keys) if key is None or key not in clean]
    kept, bad = clean & set(keys), 0
    with tempfile.TemporaryDirectory() as database, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        # clang-tidy refuses a database with keys that it does not know.
        known = [{key: entry[key] for key in ("directory", "command", "file")} for entry in entries]
        Path(database, "compile_commands.json").write_text(json.dumps(known))
        verdicts = pool.map(lambda item: look_at(Path(database), item[0]), work)
        for (entry, key), (good, text) in zip(work, verdicts):
            if good and key:
                kept.add(key)
            if not good:
                bad += 1
                print(f"{entry['path']}:\n{text}")
    cache_file.write_text(json.dumps(sorted(key for key in kept if key)))
    print(f"tidy: {len(entries)} files, {len(entries) - len(work)} known to be clean, {bad} with findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

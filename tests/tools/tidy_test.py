# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tools/tidy.py looks at every file once, without precompiled headers, and again where what it read has changed."""

import json
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import tidy  # noqa: E402

PRECOMPILED = "-Winvalid-pch -Xclang -include-pch -Xclang /p/a.pch -Xclang -include -Xclang /p/a.hxx"


class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = tidy.ROOT
        self.addCleanup(lambda: setattr(tidy, "ROOT", root))
        tidy.ROOT = Path(folder.name).resolve()
        self.build = tidy.ROOT / "build"
        for made in ("build", "src", "tests"):
            (tidy.ROOT / made).mkdir()
        for made in (".clang-tidy", "src/a.cpp", "src/a.hpp", "tests/a.cpp"):
            (tidy.ROOT / made).write_text("\n")
        # CMake 3.25 names no output, and a file that is built for two instruction sets comes twice.
        commands = [("src/a.cpp", "one"), ("src/a.cpp", "two"), ("tests/a.cpp", "one")]
        (self.build / "compile_commands.json").write_text(json.dumps([
            {"directory": str(self.build), "file": str(tidy.ROOT / file),
             "command": f"c++ -D{flag} {PRECOMPILED} -o {flag}/a.o -c {tidy.ROOT / file}"} for file, flag in commands]))

    def entry(self) -> dict:
        entries = tidy.commands(self.build, [])
        self.assertEqual([entry["path"] for entry in entries], ["src/a.cpp"])
        return entries[0]

    def test_a_file_is_looked_at_once_with_the_headers_it_includes(self):
        self.assertEqual(self.entry()["command"], f"c++ -Dtwo -o two/a.o -c {tidy.ROOT / 'src/a.cpp'}")

    def test_a_verdict_holds_until_something_that_was_read_changes(self):
        headers = {"two/a.o": [tidy.ROOT / "src/a.cpp", tidy.ROOT / "src/a.hpp"]}
        before = tidy.key_of(self.entry(), headers)
        self.assertIsNotNone(before)
        self.assertEqual(before, tidy.key_of(self.entry(), headers))
        (tidy.ROOT / "src/a.hpp").write_text("int changed;\n")
        self.assertNotEqual(before, tidy.key_of(self.entry(), headers))

    def test_a_file_that_was_not_built_is_always_looked_at(self):
        self.assertIsNone(tidy.key_of(self.entry(), {}))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A bundle runs from wherever it is moved, with its own libraries alone, and says what cannot be packed."""

import subprocess
import tempfile
import unittest
from pathlib import Path

BUNDLE = Path(__file__).resolve().parents[2] / "tools" / "bundle.sh"
SOURCE = """#include <cmath>
#include <cstdio>
int main(int n, char** a) { std::printf("%s %.1f", a[n - 1], std::cos(n - 3.0)); }
"""


def run(*command: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, **options)


class Bundle(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def test_a_program_runs_from_where_the_folder_is_moved(self):
        source, program = self.root / "hello.cpp", self.root / "hello"
        source.write_text(SOURCE)
        subprocess.run(["c++", str(source), "-o", str(program)], check=True)
        made = run(str(BUNDLE), str(self.root / "a" / "bundle"), str(program))
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        moved = self.root / "moved here"
        (self.root / "a" / "bundle").rename(moved)
        libraries = sorted(path.name.split(".")[0] for path in (moved / "lib").iterdir())
        self.assertIn("libc", libraries)
        self.assertTrue(any(name.startswith("ld-linux") for name in libraries))
        ran = run(str(moved / "hello"), "a", "b c", env={"PATH": "/usr/bin:/bin"})
        self.assertEqual((ran.returncode, ran.stdout), (0, "b c 1.0"))
        self.assertTrue((moved / "suites" / "layers.csv").is_file())

    def test_what_cannot_be_packed_is_said_and_leaves_nothing(self):
        out = self.root / "bundle"
        for arguments, word in (([], "usage"), ([str(out), "no/such"], "no program"),
                                ([str(self.root), "x"], "there already"), ([str(out), str(BUNDLE)], "dynamically")):
            ran = run(str(BUNDLE), *arguments)
            self.assertEqual(ran.returncode, 2)
            self.assertIn(word, ran.stderr)
            self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Each house rule is found where it is broken, and only there."""

import sys
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import check_style  # noqa: E402

LICENCE = f"// {check_style.SPDX}\n"


class Style(unittest.TestCase):
    def wrong(self, path: str, text: str) -> list[str]:
        return check_style.judge(path, text)[0]

    def test_a_good_file_passes(self):
        self.assertEqual(self.wrong("src/base/a.cpp", LICENCE + "int a;\n"), [])
        self.assertEqual(self.wrong("tools/a.sh", f"#!/bin/sh\n# {check_style.SPDX}\n"), [])

    def test_each_rule_is_found(self):
        self.assertEqual(len(self.wrong("src/base/a.cpp", "int a;\n")), 1)
        self.assertEqual(len(self.wrong("tools/a.py", LICENCE + "#" * 121 + "\n")), 1)
        self.assertEqual(len(self.wrong("docs/a.md", "see /home/someone/notes\n")), 1)
        self.assertEqual(len(self.wrong("src/base/a.cpp", LICENCE + "// TODO later\n")), 1)
        self.assertEqual(len(self.wrong("src/base/a.cpp", LICENCE + "int a;")), 1)

    def test_prose_may_speak_of_paths_that_are_no_machine_s(self):
        self.assertEqual(self.wrong("docs/a.md", "build/release/bin and src/tmp/x and https://x.org/tmp/a\n"), [])

    def test_long_files_are_remarked_on(self):
        wrong, remarks = check_style.judge("kernels/simd/a.cpp", LICENCE + "int a;\n" * 300)
        self.assertEqual((wrong, len(remarks)), ([], 1))


if __name__ == "__main__":
    unittest.main()

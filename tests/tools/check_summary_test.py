# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The summary of ./check loses no failure and no skip, and a suite without tests fails."""

import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

import summary  # noqa: E402

REPORT = """<?xml version="1.0"?>
<testsuite name="x" tests="4" failures="1" skipped="1" disabled="1">
  <testcase name="a" status="run"><system-out>fine</system-out></testcase>
  <testcase name="b" status="fail"><failure message="Failed"/><system-out/></testcase>
  <testcase name="c" status="notrun"><skipped message="matched"/><system-out>Note: Google Test filter = Row.Skipped
[ RUN      ] Row.Skipped
c_test.cpp:12: Skipped
this host lacks avx512

[  SKIPPED ] Row.Skipped (0 ms)</system-out></testcase>
  <testcase name="d" status="disabled"><system-out/></testcase>
</testsuite>
"""
HOST_LACKS = [("*", "*", "this host lacks *")]


class Summary(unittest.TestCase):
    def read(self, text: str | None, skips: list) -> summary.Tally:
        tally = summary.Tally()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "report.xml"
            if text is not None:
                path.write_text(text)
            summary.read_ctest(path, "release", skips, tally)
        return tally

    def test_every_status_is_counted_once(self):
        tally = self.read(REPORT, HOST_LACKS)
        self.assertEqual(tally.passed, 1)
        self.assertEqual(tally.skipped, ["c: this host lacks avx512"])
        self.assertEqual(len(tally.failed), 2)  # b failed; d is disabled, which nobody expects
        self.assertEqual(tally.failed[0], "b: Failed")

    def test_an_unexpected_skip_fails(self):
        tally = self.read(REPORT, [("dev", "*", "*")])
        self.assertEqual(tally.skipped, [])
        self.assertEqual(len(tally.failed), 3)

    def test_no_test_and_no_report_fail(self):
        self.assertEqual(len(self.read('<testsuite name="x"/>', []).failed), 1)
        self.assertEqual(len(self.read(None, []).failed), 1)

    def test_the_last_line_adds_all_stages_up(self):
        one, two = summary.Tally(), summary.Tally()
        one.record("build", True)
        two.record("format", False, "see the log")
        two.skipped.append("c: this host lacks avx512")
        lines = summary.closing_lines({"release": one, "style": two})
        self.assertEqual(lines[-1], "1 passed, 1 failed, 1 skipped")
        self.assertIn("  style: format: see the log", lines)
        self.assertIn("  style: c: this host lacks avx512", lines)

    def test_the_list_of_expected_skips_can_be_read(self):
        rows = summary.expected_skips(TOOLS / "expected_skips.txt")
        self.assertTrue(summary.is_expected(rows, "dev", "Simd.Row", "this host lacks avx512"))
        self.assertFalse(summary.is_expected(rows, "dev", "Simd.Row", "no reason given"))


if __name__ == "__main__":
    unittest.main()

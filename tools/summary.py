# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts of one run of ./check: what ctest and the checks reported, added up without losing a skip or a failure."""

import fnmatch
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

SKIP_TEXT = re.compile(r": Skipped\n(.*?)\n\[  SKIPPED \]", re.S)


@dataclass
class Tally:
    """Results of one stage. Names of what failed or was skipped carry their reasons."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0

    def record(self, name: str, good: bool, reason: str = "") -> None:
        if good:
            self.passed += 1
        else:
            self.failed.append(f"{name}: {reason}" if reason else name)


def expected_skips(path: Path) -> list[tuple[str, str, str]]:
    """Rows `stage test reason` of globs; the reason is the rest of the line."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            stage, test, reason = line.split(None, 2)
            rows.append((stage, test, reason))
    return rows


def is_expected(skips: list[tuple[str, str, str]], stage: str, test: str, reason: str) -> bool:
    return any(fnmatch.fnmatchcase(stage, row[0]) and fnmatch.fnmatchcase(test, row[1])
               and fnmatch.fnmatchcase(reason, row[2]) for row in skips)


def reason_of(output: str) -> str:
    found = SKIP_TEXT.search(output)
    return " ".join(found.group(1).split()) if found else "no reason given"


def read_ctest(report: Path, stage: str, skips: list[tuple[str, str, str]], tally: Tally) -> list[str]:
    """Adds a JUnit report of ctest's to the tally and returns the outputs of the tests that ran. A skip that nobody
    expects is a failure, and so is a report without tests."""
    outputs = []
    cases = ElementTree.parse(report).getroot().findall("testcase") if report.exists() else []
    for case in cases:
        name, status = case.get("name", "?"), case.get("status", "?")
        output = case.findtext("system-out") or ""
        outputs.append(output)
        if status == "run":
            tally.passed += 1
        elif status == "fail":
            failure = case.find("failure")
            tally.failed.append(f"{name}: {failure.get('message', '') if failure is not None else ''}".rstrip(": "))
        else:
            reason = "disabled" if status == "disabled" else reason_of(output)
            if is_expected(skips, stage, name, reason):
                tally.skipped.append(f"{name}: {reason}")
            else:
                tally.failed.append(f"{name}: skipped, which tools/expected_skips.txt does not expect: {reason}")
    if not cases:
        tally.failed.append(f"{stage}: no test ran; a suite that finds nothing proves nothing")
    return outputs


def closing_lines(tallies: dict[str, Tally]) -> list[str]:
    """A table of the stages, every failure and skip by name, and the one line that sums them up."""
    lines = ["", f"{'stage':<10} {'seconds':>8} {'passed':>7} {'failed':>7} {'skipped':>8}"]
    lines += [f"{stage:<10} {t.seconds:>8.1f} {t.passed:>7} {len(t.failed):>7} {len(t.skipped):>8}"
              for stage, t in tallies.items()]
    for title, pick in (("skipped", lambda t: t.skipped), ("failed", lambda t: t.failed)):
        named = [f"  {stage}: {entry}" for stage, t in tallies.items() for entry in pick(t)]
        lines += ["", f"{title}:", *named] if named else []
    passed = sum(t.passed for t in tallies.values())
    failed = sum(len(t.failed) for t in tallies.values())
    skipped = sum(len(t.skipped) for t in tallies.values())
    return [*lines, "", f"{passed} passed, {failed} failed, {skipped} skipped"]

# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The stages of ./check: builds, tests and checks, with one summary at the end. ./check sets up and calls this."""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import tree
from summary import Tally, closing_lines, expected_skips, read_ctest

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "check"
SKIPS = ROOT / "tools" / "expected_skips.txt"
JOBS = str(os.cpu_count() or 1)
ARCHER = Path("/usr/lib/llvm-19/lib/libarcher.so")
FUZZ_SECONDS = 30
FUZZERS = {"contract": 1 << 18, "npy": 1 << 16, "plan": 1 << 14}  # name: longest input in bytes
BLIND = "Is the code instrumented for coverage?"  # libFuzzer only warns where it does not see what an input reaches

# Idle OpenMP threads sleep: tests share few cores. Symbols make a sanitizer's report readable.
BASE_ENVIRONMENT = {"OMP_WAIT_POLICY": "passive"}
SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "ASAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
    "UBSAN_SYMBOLIZER_PATH": "/usr/bin/llvm-symbolizer-19",
}
TSAN_ENVIRONMENT = {
    # libomp itself is not instrumented; Archer tells TSan which of its operations synchronise.
    "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:external_symbolizer_path=/usr/bin/llvm-symbolizer-19",
    "OMP_TOOL_LIBRARIES": str(ARCHER),
    "OMP_TOOL_VERBOSE_INIT": "stdout",
}
ARCHER_LOADED = "Tool was started and is using the OMPT interface"


# It is headers that take the time, so sources are read some at a time. Kernels are built one by one everywhere (their
# CMakeLists.txt). A source that leaves an include out does not parse where clang-tidy reads it alone; clang-tidy does
# not read tests and benchmarks, where only a build by hand finds it.
TOGETHER = ("-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=6")


class Stage:
    """One line of the summary. Commands write to a log of their own; what fails is shown."""

    def __init__(self, name: str):
        self.name, self.tally = name, Tally()

    def run(self, step: str, command: list[str], environment: dict[str, str] | None = None,
            counts: bool = True) -> bool:
        """Runs one step; counts it as a test where `counts` or where it fails."""
        log = LOGS / f"{self.name}-{step}.log"
        if sys.stdout.isatty():
            print(f"{self.name}: {step} ...", end="", flush=True)
        start = time.monotonic()
        with log.open("wb") as out:
            try:
                code = subprocess.run(command, cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                      env={**os.environ, **BASE_ENVIRONMENT, **(environment or {})}).returncode
            except OSError as error:
                out.write(f"{error}\n".encode())
                code = 127
        clear = "\r\033[K" if sys.stdout.isatty() else ""
        verdict = "ok" if code == 0 else "FAILED"
        print(f"{clear}{self.name}: {step} {verdict} ({time.monotonic() - start:.1f} s)", flush=True)
        if code != 0:
            tail = log.read_text(errors="replace").splitlines()[-60:]
            print("\n".join(f"    {line}" for line in tail), flush=True)
        if counts or code != 0:
            self.tally.record(step, code == 0, f"see {log.relative_to(ROOT)}")
        return code == 0

    def build(self, preset: str, target: str = "all", options: tuple[str, ...] = ()) -> bool:
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        configure = ["cmake", "--preset", preset, *options, *(launcher if shutil.which("ccache") else [])]
        return self.run("configure", configure, counts=False) and self.run(
            "build", ["cmake", "--build", "--preset", preset, "--target", target])

    def test(self, preset: str, arguments: tuple[str, ...] = (),
             environment: dict[str, str] | None = None) -> list[str]:
        """Runs ctest and counts every test. Returns their outputs."""
        report = LOGS / f"{self.name}.xml"
        report.unlink(missing_ok=True)
        failed_before = len(self.tally.failed)
        good = self.run("tests", ["ctest", "--test-dir", f"build/{preset}", "-j", JOBS, "--output-on-failure",
                                  "--no-tests=error", "--test-output-size-passed", "65536",
                                  "--test-output-size-failed", "65536", "--output-junit", str(report), *arguments],
                        environment, counts=False)
        if not good:  # the report names each failure; the step itself is not one more
            del self.tally.failed[failed_before:]
        outputs = read_ctest(report, self.name, expected_skips(SKIPS), self.tally)
        if not good and len(self.tally.failed) == failed_before:
            self.tally.failed.append("ctest failed without naming a test")
        return outputs


def style(stage: Stage) -> None:
    files = tree.cpp_files(ROOT)
    stage.run("format", ["clang-format-19", "--dry-run", "--Werror", *files] if files else ["false"])
    stage.run("style", [sys.executable, "tools/check_style.py"])
    stage.run("includes", [sys.executable, "tools/check_includes.py"])


def release(stage: Stage) -> None:
    if stage.build("release", options=("-DCONVOKE_TESTS=ON", *TOGETHER)):
        stage.test("release")


def quick(stage: Stage) -> None:
    if stage.build("release", options=("-DCONVOKE_TESTS=ON", *TOGETHER)):
        stage.test("release", ("-LE", "slow|package"))


def digests(stage: Stage) -> None:
    stage.run("digests", ["tools/check_digests.sh", "--require-all"])


def tidy(stage: Stage) -> None:
    stage.run("tidy", [sys.executable, "tools/tidy.py", "build/release"])


def dev(stage: Stage) -> None:
    # The fuzz targets too: they need what is built here.
    if stage.build("dev", options=("-DCONVOKE_FUZZ=ON", *TOGETHER)):
        stage.test("dev", environment=SANITIZER_ENVIRONMENT)


def tsan(stage: Stage) -> None:
    if not stage.build("tsan", target="threaded_tests", options=TOGETHER):
        return
    outputs = stage.test("tsan", ("-L", "^threads$"), TSAN_ENVIRONMENT)
    # libomp reports each time it starts. Without Archer TSan would see races that are none, or none where some are.
    started = [output for output in outputs if "OMP_TOOL_LIBRARIES" in output]
    loaded = [output for output in started if ARCHER_LOADED in output]
    stage.tally.record("archer", bool(loaded) and len(loaded) == len(started),
                       f"{ARCHER} was loaded in {len(loaded)} of {len(started)} tests that started OpenMP")


def gcc(stage: Stage) -> None:
    # That GCC builds everything and the tests agree does not need -O3, which takes twice as long; `digests` has it.
    # Without precompiled headers: with them, GCC 12 warns of overruns in its own std::string.
    if stage.build("gcc", options=("-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
                                    *TOGETHER)):
        stage.test("gcc", ("-LE", "slow|package"))


def fuzz(stage: Stage) -> None:
    if not stage.build("dev", target="fuzzers", options=("-DCONVOKE_FUZZ=ON", *TOGETHER)):
        return
    findings = LOGS / "fuzz-findings"
    findings.mkdir(exist_ok=True)

    def one(name: str) -> None:
        grown = ROOT / "build" / "dev" / "corpus" / name  # new inputs go to the first folder, the seeds stay
        grown.mkdir(parents=True, exist_ok=True)
        seeds = f"fuzz/corpus/{name}"
        if not any((ROOT / seeds).glob("*")):
            stage.tally.record(name, False, f"{seeds} has no seed")
            return
        stage.run(name, [f"build/dev/bin/{name}_fuzz", str(grown), seeds, f"-max_total_time={FUZZ_SECONDS}",
                         f"-max_len={FUZZERS[name]}", "-timeout=10", "-rss_limit_mb=2048",
                         f"-artifact_prefix={findings}/{name}-"], SANITIZER_ENVIRONMENT)
        log = LOGS / f"{stage.name}-{name}.log"
        stage.tally.record(f"{name} coverage", BLIND not in log.read_text(errors="replace"),
                           f"{name}_fuzz is not instrumented (cmake/ConvokeTargets.cmake); see {log.relative_to(ROOT)}")

    with concurrent.futures.ThreadPoolExecutor(len(FUZZERS)) as pool:
        list(pool.map(one, FUZZERS))


FULL = (style, release, digests, gcc, dev, tsan, tidy, fuzz)
QUICK = (style, quick)


def parse(arguments: list[str]) -> argparse.Namespace:
    names = [function.__name__ for function in FULL]
    parser = argparse.ArgumentParser(prog="./check", add_help=False, usage="see ./check --help")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", metavar="STAGE,...")
    options = parser.parse_args(arguments)
    options.stages = QUICK if options.quick else FULL
    if options.only:
        unknown = sorted(set(options.only.split(",")) - set(names))
        if unknown:
            parser.error(f"no such stage: {', '.join(unknown)}")
        options.stages = tuple(function for function in FULL if function.__name__ in options.only.split(","))
    return options


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    LOGS.mkdir(parents=True, exist_ok=True)
    tallies: dict[str, Tally] = {}
    for function in options.stages:
        stage = Stage(function.__name__)
        start = time.monotonic()
        function(stage)
        stage.tally.seconds = time.monotonic() - start
        tallies[stage.name] = stage.tally
    print("\n".join(closing_lines(tallies)), flush=True)
    return 1 if any(tally.failed for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

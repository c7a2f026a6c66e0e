#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the test tiers one after another and adds up what they say.

    tests/check.py [--rootless | --long] [TIER...]

Each tier prints what it likes and ends with "N passed, N failed", or speaks TAP.  A tier that cannot run
here counts as failed.  The last line is the sum, the exit code 0 when nothing failed.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PYTHON = sys.executable
SUM = re.compile(r"^(\d+) passed, (\d+) failed$")
TAP = re.compile(r"^(not ok|ok)\b")


class Tally:
    """What one tier passed and failed."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def add(self, passed, failed):
        self.passed += passed
        self.failed += failed


def run(command, env=None):
    """Runs a command, passes its output on, and returns (passed, failed) as it tells them."""
    passed = failed = 0
    summed = None
    with subprocess.Popen(command, cwd=ROOT, text=True, errors="replace", stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, **(env or {})}) as process:
        for line in process.stdout:
            print("  " + line, end="", flush=True)
            if match := SUM.match(line):
                summed = int(match[1]), int(match[2])
            elif match := TAP.match(line):
                passed += match[1] == "ok"
                failed += match[1] != "ok"
    if summed:
        passed, failed = summed
    if not passed + failed:
        # A command that only has an exit code is one test.
        passed, failed = (1, 0) if process.returncode == 0 else (0, 1)
    elif process.returncode and not failed:
        print(f"  ended with {process.returncode}")
        failed += 1
    return passed, failed


def lint(tally):
    tally.add(*run([PYTHON, "tests/lint.py", "--self-test"]))
    tally.add(*run([PYTHON, "tests/lint.py", "--archive", "build/libvwcore.a",
                    "--archive", "build/libvw.a"]))
    scripts = subprocess.run(["git", "ls-files", "*.sh", ".ci/run"], cwd=ROOT, text=True,
                             capture_output=True, check=False).stdout.split()
    tally.add(*run(["shellcheck", *scripts]))


def unit(tally):
    programs = sorted(path for path in (BUILD / "unit").glob("test_*") if not path.suffix)
    if not programs:
        tally.add(0, 1)
    for program in programs:
        tally.add(*run([str(program)], {"CMOCKA_MESSAGE_OUTPUT": "TAP"}))


def corpus(tally):
    """What fuzzing once found, through the same targets without libFuzzer."""
    programs = sorted(path for path in (BUILD / "fuzz").glob("replay_*") if not path.suffix)
    if not programs:
        tally.add(0, 1)
    for program in programs:
        tally.add(*run([str(program), "tests/fuzz/corpus/" + program.name.removeprefix("replay_")]))


def fuzz(tally):
    tally.add(*run([PYTHON, "tests/fuzz/run.py", "--seconds", "60"]))


def fuzz_long(tally):
    tally.add(*run([PYTHON, "tests/fuzz/run.py", "--seconds", "600"]))


def bench(tally):
    tally.add(*run([PYTHON, "tests/bench/bench.py", "--quick"]))


def bench_long(tally):
    tally.add(*run([PYTHON, "tests/bench/bench.py"]))


def cli(tally):
    tally.add(*run([PYTHON, "tests/cli/test_cli.py"]))


def replay(tally):
    for path in sorted((ROOT / "tests/replay").glob("test_*.py")):
        tally.add(*run([PYTHON, str(path.relative_to(ROOT))]))


def lab_offline(tally):
    tally.add(*run([PYTHON, "tests/lab/test_lab.py", "Offline"]))


def btf(tally):
    # With the lab's kernels unpacked their BTF is compared too, not only this machine's.
    if os.geteuid() == 0:
        run([PYTHON, "tests/lab/lab.py", "btf", "5.10", "6.1", "6.12"])
    tally.add(*run([PYTHON, "tests/btf.py", "--self-test"]))
    tally.add(*run([PYTHON, "tests/btf.py"]))


def live(tally):
    tally.add(*run([PYTHON, "tests/live/test_live.py"]))


def lab(tally):
    tally.add(*run([PYTHON, "tests/lab/test_lab.py", "Boot"]))
    tally.add(*run([PYTHON, "tests/lab/test_detect.py", "--subset", "ci"]))


def lab_long(tally):
    scenarios = sorted(str(path.relative_to(ROOT)) for path in
                       (ROOT / "tests/lab/scenarios").glob("*.toml"))
    tally.add(*run([PYTHON, "tests/lab/test_lab.py", "Boot"]))
    tally.add(*run([PYTHON, "tests/lab/lab.py", "run", *scenarios]))
    tally.add(*run([PYTHON, "tests/lab/test_detect.py", "--all"]))


ROOTLESS = {"lint": lint, "unit": unit, "corpus": corpus, "cli": cli, "replay": replay,
            "lab-offline": lab_offline}
# These need no root, but minutes.
SLOW = {"fuzz": fuzz, "bench": bench}
SLOW_LONG = {"fuzz": fuzz_long, "bench": bench_long}
ROOTED = {"btf": btf, "live": live, "lab": lab}
LONG = {"btf": btf, "live": live, "lab": lab_long}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rootless", action="store_true")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("tiers", nargs="*")
    args = parser.parse_args()
    tiers = {**ROOTLESS}
    if not args.rootless:
        tiers |= SLOW_LONG | LONG if args.long else SLOW | ROOTED
    total = Tally()
    for name, tier in tiers.items():
        if args.tiers and name not in args.tiers:
            continue
        print(f"== {name}", flush=True)
        start = time.monotonic()
        tally = Tally()
        if tier in {*ROOTED.values(), *LONG.values()} and os.geteuid():
            print("  needs root: run `make check` as root")
            tally.add(0, 1)
        else:
            tier(tally)
        print(f"== {name}: {tally.passed} ok, {tally.failed} not ok, "
              f"{time.monotonic() - start:.0f} s", flush=True)
        total.add(tally.passed, tally.failed)
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What analyze costs on a trace as text: instructions a line, memory, and the time beside wc -l.

    tests/bench/bench.py [--quick] [--lines N]      N passed, N failed; build/bench.json

The trace (trace.txt.xz) is recorded: two guests of the lab with hogging workers (Linux 6.1 and 6.12), then a busy
host with two CPUs (6.18), one after the other, again and again with times moved on.  Instructions are counted by
valgrind, so they are the same on each machine with the same compiler; times are shown, never judged.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = ROOT / "build/vhostwatch"
FOLDER = ROOT / "build/bench"
COUNTED_LINES = 100_000
MAX_INSTRUCTIONS = 2000
# The longer run may take so much more than one of a tenth: what the allocator keeps.
MAX_GROWTH_KB = 1024
LINE = re.compile(rb"^(.*? \[\d+\] \S+ +)(\d+)(\.\d+: .*\n)$", re.S)
MARK = b"\0"


class Sample:
    """The recorded lines, a piece for each second, with a mark where the second stands."""

    def __init__(self):
        import lzma  # pylint: disable=import-outside-toplevel
        self.pieces = []
        for line in lzma.open(HERE / "trace.txt.xz"):
            match = LINE.match(line)
            if not match:
                continue
            second = int(match[2])
            if not self.pieces or self.pieces[-1][0] != second:
                self.pieces.append((second, []))
            self.pieces[-1][1].append(match[1] + MARK + match[3])
        self.span = self.pieces[-1][0] - self.pieces[0][0] + 1

    def write(self, path, lines):
        """So many lines; returns how many seconds they cover."""
        left, shift = lines, 0
        with open(path, "wb") as file:
            while left:
                for second, piece in self.pieces:
                    piece = piece[:left]
                    file.write(b"".join(piece).replace(MARK, str(second + shift).encode()))
                    left -= len(piece)
                    if not left:
                        return second + shift - self.pieces[0][0]
                shift += self.span
        return 0


def write(path, lines):
    """In a process of its own: who starts a program passes its own peak of memory on to it."""
    done = subprocess.run([sys.executable, __file__, "--write", path, "--lines", str(lines)], text=True,
                          stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def analyze(path):
    """Seconds, peak kilobytes and the summary of one run."""
    start = time.monotonic()
    with subprocess.Popen([PROGRAM, "analyze", "--format", "json", path], stdout=subprocess.PIPE) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took = time.monotonic() - start
    if process.returncode not in (0, 1, 2):
        raise SystemExit(f"analyze ended with {process.returncode}")
    return took, usage.ru_maxrss, json.loads(out.splitlines()[-1])


def instructions(path):
    """Of the whole program, as valgrind counts them."""
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", PROGRAM,
                           "analyze", "--format", "json", path], text=True, capture_output=True, check=False)
    match = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode not in (0, 1, 2) or not match:
        raise SystemExit(f"valgrind ended with {done.returncode}: {done.stderr}")
    return int(match[1])


class Checks:
    """What was asked and came out, in the form that tests/check.py reads."""

    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, good, text):
        print(f"{'ok' if good else 'not ok'} {text}", flush=True)
        self.passed += bool(good)
        self.failed += not good


def bench_instructions(checks, result):
    path = FOLDER / "counted.txt"
    write(path, COUNTED_LINES)
    per_line = instructions(path) / COUNTED_LINES
    result["instructions_per_line"] = round(per_line)
    checks.check(per_line <= MAX_INSTRUCTIONS,
                 f"{per_line:.0f} instructions a line, at most {MAX_INSTRUCTIONS}")
    path.unlink()


def bench_memory(checks, result, lines):
    peaks = {}
    for n in (lines // 10, lines):
        path = FOLDER / f"{n}.txt"
        seconds = write(path, n)
        took, peaks[n], summary = analyze(path)
        checks.check(summary["skipped_lines"] == 0 and summary["duration_ns"] // 10**9 in (seconds, seconds - 1),
                     f"all of {n} lines were read, {seconds} s of a trace")
        if n == lines:
            start = time.monotonic()
            subprocess.run(["wc", "-l", path], stdout=subprocess.DEVNULL, check=True)
            result |= {"lines": n, "bytes": path.stat().st_size, "seconds": round(took, 2),
                       "wc_seconds": round(time.monotonic() - start, 2)}
            print(f"  {n} lines, {result['bytes'] >> 20} MiB: {took:.2f} s; wc -l: {result['wc_seconds']} s")
        path.unlink()
    result["peak_kb"] = {str(n): kb for n, kb in peaks.items()}
    growth = peaks[lines] - peaks[lines // 10]
    checks.check(growth <= MAX_GROWTH_KB, f"peak of {peaks[lines]} KiB, {growth} KiB more than for a tenth, "
                                          f"at most {MAX_GROWTH_KB}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the lines")
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--write", metavar="FILE", help="only make a trace of so many lines")
    args = parser.parse_args()
    if args.write:
        print(Sample().write(args.write, args.lines))
        return 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    checks, result = Checks(), {}
    bench_instructions(checks, result)
    bench_memory(checks, result, args.lines // 10 if args.quick else args.lines)
    (ROOT / "build/bench.json").write_text(json.dumps(result, indent=1) + "\n")
    print(f"{checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())

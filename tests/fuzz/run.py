#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the fuzz targets, two at a time, and says how to run again what made one fail.

    tests/fuzz/run.py [--seconds N] [--jobs N] [TARGET...]      N passed, N failed

What is found goes to build/fuzz/found/TARGET and is the start of the next run, beside the kept corpus in
tests/fuzz/corpus/TARGET.  --merge adds to the kept corpus what reaches code that it does not reach yet.
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build/fuzz"
TARGETS = sorted(path.stem.removeprefix("fuzz_") for path in HERE.glob("fuzz_*.c"))
# A trace of so many bytes has all that the model can do; longer ones are only slower.
MAX_BYTES = 8192
MAX_KEPT_BYTES = 1024


def options(target):
    words = [f"-max_len={MAX_BYTES}", "-timeout=20", "-rss_limit_mb=2048",
             f"-artifact_prefix={BUILD}/{target}-"]
    dictionary = HERE / f"{target}.dict"
    return words + ([f"-dict={dictionary}"] if dictionary.exists() else [])


def folders(target):
    found = BUILD / "found" / target
    found.mkdir(parents=True, exist_ok=True)
    return [str(found), str(HERE / "corpus" / target)]


def run(target, seconds):
    """What it printed, and whether it stayed without a failure."""
    command = [str(BUILD / f"fuzz_{target}"), *options(target), f"-max_total_time={seconds}",
               "-print_final_stats=1", *folders(target)]
    done = subprocess.run(command, cwd=ROOT, text=True, errors="replace", check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout, done.returncode == 0


def report(target, text, good):
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    covered = re.findall(r" cov: (\d+)", text)
    if good and not runs:
        good, text = False, text + "\nit did not say what it ran"
    if good:
        print(f"ok {target}: {runs[1]} runs, {covered[-1] if covered else '?'} edges")
        return True
    print(text)
    artifact = re.search(r"Test unit written to (\S+)", text)
    again = f"build/fuzz/fuzz_{target} {artifact[1]}" if artifact else "see above"
    print(f"not ok {target}: run it again with {again}")
    return False


def merge(target):
    """Keeps what adds coverage, smallest first; long ones stay out of the repository."""
    kept = HERE / "corpus" / target
    before = {path.name for path in kept.iterdir()}
    small = BUILD / "small" / target
    small.mkdir(parents=True, exist_ok=True)
    for path in small.iterdir():
        path.unlink()
    for path in (BUILD / "found" / target).iterdir():
        if path.stat().st_size <= MAX_KEPT_BYTES:
            (small / path.name).write_bytes(path.read_bytes())
    # Edges, not how often each is taken: that would keep thousands.
    subprocess.run([str(BUILD / f"fuzz_{target}"), *options(target), "-set_cover_merge=1", "-use_counters=0",
                    str(kept), str(small)],
                   cwd=ROOT, check=True, capture_output=True)
    after = {path.name for path in kept.iterdir()}
    print(f"{target}: {len(before)} kept, {len(after - before)} new")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--merge", action="store_true")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    args = parser.parse_args()
    targets = args.targets or TARGETS
    if args.merge:
        for target in targets:
            merge(target)
        return 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(lambda target: (target, *run(target, args.seconds)), targets)
        good = [report(*result) for result in results]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Acceptance tests: vhostwatch in guests whose workers starve each other, or do not.

    test_detect.py [--list] [--subset ci | --all | CASE...] [--vhostwatch PATH] [--set KEY=VALUE]

Several cases look at one boot. The figures of each case go to build/lab/detect.json.
"""
import argparse
import contextlib
import fnmatch
import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

# pylint: disable=wrong-import-position,unused-import
import detect_hog  # noqa: E402,F401
import detect_life  # noqa: E402,F401
import detect_moves  # noqa: E402,F401
import detect_offline  # noqa: E402,F401
import detect_place  # noqa: E402,F401
import detect_quiet  # noqa: E402,F401
import detect_stall  # noqa: E402,F401
import kernels  # noqa: E402
import runner  # noqa: E402
import scenario as scenarios  # noqa: E402
from detect_data import CASES, Boot, Failed, NotStaged  # noqa: E402

# Which of two workers gets the CPU is the guest's affair; a boot that came out otherwise than
# the case needs says nothing about vhostwatch.
ATTEMPTS = 3
OUT = kernels.REPO / "build/lab/detect"


def boot_name(chosen):
    words = [chosen["scenario"], *(text.partition("=")[2] for text in chosen["settings"])]
    return "-".join(words).replace("/", "_")


class Runner:
    """Boots on demand and keeps what they gave."""

    def __init__(self, args):
        self.vhostwatch = args.vhostwatch
        self.settings = args.set
        self.out = pathlib.Path(args.out).resolve()
        self.boots = {}
        self.count = 0

    def boot(self, chosen, again):
        """Results of the case's boot; LabError or Failed when it did not go through."""
        name = boot_name(chosen)
        if again or name not in self.boots:
            self.boots[name] = self.run(chosen, self.out / name)
            self.count += 1
        problems, folder = self.boots[name]
        if problems:
            raise Failed(f"boot {name}: {problems[0]}"
                         + (f" (and {len(problems) - 1} more)" if problems[1:] else ""))
        return Boot(folder)

    def run(self, chosen, folder):
        path = kernels.LAB_DIR / "scenarios/detect" / f"{chosen['scenario']}.toml"
        try:
            scenario = scenarios.read(path, [*chosen["settings"], *self.settings])
            folder.mkdir(parents=True, exist_ok=True)
            with open(folder / "run.log", "a", encoding="utf-8") as log, \
                    contextlib.redirect_stdout(log):
                problems = runner.run(scenario, folder, self.vhostwatch)
                print("\n".join(problems))
        except kernels.LabError as err:
            problems = str(err).splitlines()
        return problems, folder


def run_case(chosen, boots):
    """(passed, text, figures)"""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            boot = boots.boot(chosen, attempt > 1)
            figures = chosen["call"](boot) or {}
            if attempt > 1:
                figures["attempts"] = attempt
            return True, ", ".join(f"{k} {v}" for k, v in figures.items()), figures
        except NotStaged as err:
            text = f"not staged in {attempt} boots: {err}"
        except Failed as err:
            return False, str(err), {}
        except (KeyError, IndexError, TypeError, ValueError) as err:
            return False, f"not as FORMATS has it: {type(err).__name__}: {err}", {}
    return False, text, {}


def select(args):
    if args.all:
        return list(CASES.values())
    if args.subset:
        return [case for case in CASES.values() if case["subset"] == args.subset]
    chosen = []
    for pattern in args.cases:
        names = fnmatch.filter(CASES, pattern)
        if not names:
            raise kernels.LabError(f"no case {pattern}; --list shows them")
        chosen += [CASES[name] for name in names if CASES[name] not in chosen]
    return chosen


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="CASE", help="names, * matches")
    parser.add_argument("--list", action="store_true", help="print the cases")
    parser.add_argument("--subset", choices=("ci", "long"))
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--vhostwatch", metavar="PATH", help="the program to put into the guest")
    parser.add_argument("--out", metavar="DIR", default=OUT, help="results; figures in DIR.json")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="change a key of the scenario, to see a case fail")
    args = parser.parse_args()
    if not (args.cases or args.list or args.subset or args.all):
        parser.error("which cases? --subset ci, --all or names")
    return args


def run_all(chosen, args):
    boots = Runner(args)
    # Cases of one boot after another, in the order in which the boots are first wanted.
    order = {name: i for i, name in reversed(list(enumerate(map(boot_name, chosen))))}
    started = time.monotonic()
    failed = 0
    boots.out.mkdir(parents=True, exist_ok=True)
    with open(boots.out.with_suffix(".json"), "w", encoding="utf-8") as out:
        for case in sorted(chosen, key=lambda c: order[boot_name(c)]):
            passed, text, figures = run_case(case, boots)
            failed += not passed
            print(f"{'PASS' if passed else 'FAIL'} {case['name']}: {text}", flush=True)
            row = {"case": case["name"], "passed": passed, "figures": figures}
            if not passed:
                row["why"] = text
            out.write(json.dumps(row) + "\n")
            out.flush()
    print(f"{boots.count} boots, {time.monotonic() - started:.0f} s")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0


def main():
    args = parse()
    try:
        if args.list:
            for case in CASES.values():
                print(f"{case['name']:28} {case['subset']:5} {boot_name(case)}")
            return 0
        return run_all(select(args), args)
    except kernels.LabError as err:
        print(f"test_detect: {err}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

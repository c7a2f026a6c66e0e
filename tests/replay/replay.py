# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of analyze share: running it, and asking what it found."""
import json
import pathlib
import subprocess
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "build" / "vhostwatch"
DEADLINE_S = 300

US, MS, SEC = 10**3, 10**6, 10**9
TESTS = []


def test(fn):
    TESTS.append(fn)
    return fn


class Failed(Exception):
    pass


def check(ok, text):
    if not ok:
        raise Failed(text)


def equal(got, want, what):
    check(got == want, f"{what}: {got!r}, not {want!r}")


class Run:
    """One run of analyze over bytes or text on standard input, or over files."""

    def __init__(self, data=None, *args, files=()):
        if isinstance(data, str):
            data = data.encode()
        names = [str(f) for f in files] or ["-"]
        got = subprocess.run([PROGRAM, "analyze", "--format", "json", *args, *names], input=data or b"",
                             capture_output=True, timeout=DEADLINE_S, check=False)
        self.code = got.returncode
        self.stderr = got.stderr.decode(errors="replace")
        self.objects = [json.loads(line) for line in got.stdout.splitlines()]
        check(self.code in (0, 1, 2, 3), f"ended with {self.code}: {self.stderr[-2000:]}")

    def of(self, kind):
        return [o for o in self.objects if o["type"] == kind]

    @property
    def header(self):
        return self.of("header")[0]

    @property
    def summary(self):
        return self.of("summary")[0]

    def findings(self, *kinds):
        return [f for f in self.of("finding") if not kinds or f["kind"] in kinds]

    def kinds(self):
        return sorted(f["kind"] for f in self.findings())

    def only(self, kind):
        """The one finding there is, which must be of this kind."""
        equal(self.kinds(), [kind], "findings")
        return self.findings()[0]

    def detector(self, kind):
        return next(d["state"] for d in self.header["detectors"] if d["kind"] == kind)

    def row(self, tid):
        return next(r for r in self.of("worker") if r["tid"] == tid)


def near(got, want, slack, what):
    check(got is not None and abs(got - want) <= slack, f"{what}: {got}, not {want} +- {slack}")


def main():
    failed = 0
    wanted = sys.argv[1:]
    tests = [t for t in TESTS if not wanted or t.__name__ in wanted]
    for fn in tests:
        try:
            fn()
            print(f"  PASS {fn.__name__} {fn.__doc__ or ''}", flush=True)
        except Exception as e:  # pylint: disable=broad-except
            failed += 1
            print(f"  FAIL {fn.__name__} {fn.__doc__ or ''}: {e}", flush=True)
            if not isinstance(e, Failed):
                traceback.print_exc(file=sys.stdout)
    print(f"{len(tests) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not tests else 0)

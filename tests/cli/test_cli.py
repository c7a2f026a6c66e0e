#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The built program as its users call it; no root needed.

    tests/cli/test_cli.py [-k PART]

As root every test runs twice, once without privileges.  Runs that watch something use --clock procfs, which
needs no rights.  VW_BUILD names the build folder (default build).
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILT = Path(os.environ.get("VW_BUILD", ROOT / "build")) / "vhostwatch"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
COMMANDS = ("watch", "check", "record", "analyze", "doctor")
HOST_COMMANDS = ("watch", "check", "doctor")
PROCFS = ("--clock", "procfs")
SECONDS = 20

TESTS = []


class Failed(Exception):
    """A test that did not get what it wanted."""


def test(function):
    TESTS.append(function)
    return function


def check(condition, text):
    if not condition:
        raise Failed(text)


class Program:
    def __init__(self, path, prefix=()):
        self.argv = [*prefix, str(path)]

    def run(self, *args, stdout=subprocess.PIPE, env=None):
        return subprocess.run([*self.argv, *args], stdin=subprocess.DEVNULL, stdout=stdout,
                              stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False,
                              env={**os.environ, **(env or {})})

    def ok(self, *args):
        got = self.run(*args)
        check(got.returncode == 0 and not got.stderr, f"{args}: {got.returncode}, {got.stderr!r}")
        return got.stdout

    def shell(self, script):
        """Bash with pipefail; $P is the program."""
        return subprocess.run(["bash", "-c", "set -o pipefail; " + script], capture_output=True, text=True,
                              timeout=SECONDS, check=False,
                              env={**os.environ, "P": " ".join(self.argv)})


def options_of(text):
    return set(re.findall(r"(?<![\w-])--[a-z]+", text))


@test
def help_of_program(p):
    """--help names commands, options and where to go from there"""
    text = p.ok("--help")
    for command in COMMANDS:
        check(re.search(rf"^\s+{command}\s", text, re.M), f"no word of {command}")
    check(options_of(text) >= {"--help", "--version", "--format", "--threshold", "--level"},
          f"options: {options_of(text)}")
    check(p.ok("-h") == text, "-h says something else")
    check(max(map(len, text.splitlines())) <= 100, "lines beyond 100 columns")
    check(len(text.splitlines()) < 60, "more than two screens")


@test
def help_of_commands(p):
    """COMMAND --help shows its own options, and every option it shows is one"""
    own = {"watch": {"--pid", "--tid", "--interval", "--duration", "--threshold", "--clock"},
           "check": {"--pid", "--tid", "--duration", "--threshold"},
           "record": {"--output", "--pid", "--duration", "--level"},
           "analyze": {"--pid", "--tid", "--threshold", "--procfs"},
           "doctor": {"--level", "--clock", "--procfs", "--sysfs"}}
    for command in COMMANDS:
        text = p.ok(command, "--help")
        check(text.startswith(f"vhostwatch {command} - "), text.splitlines()[0])
        check(options_of(text) >= own[command], f"{command}: {options_of(text)}")
        check(p.ok("--help", command) == text, f"--help {command} says something else")
        for option in options_of(text):
            # With a bad value it is the value that is refused, not the option; and nothing runs.
            got = p.run(command, option, "\x01", "--format", "\x01")
            check("unknown option" not in got.stderr, f"{command} {option}: {got.stderr}")
    # An option that does nothing here is taken, and said to do nothing.
    text = p.ok("doctor", "--help")
    check(re.search(r"^Taken, without effect here: .*--duration", text, re.M), text)
    check(len(re.findall("--duration", text)) == 1, "doctor shows a duration as if it had one")


@test
def version(p):
    """--version prints name and number"""
    text = p.ok("--version")
    check(re.fullmatch(r"vhostwatch \d+\.\d+\.\d+\n", text), repr(text))
    check(p.ok("-V") == text, "-V says something else")
    check(p.ok("check", "--version") == text, "check --version says something else")


def refused(p, args, pieces, reason="usage"):
    """Exit 3, one line on stderr; with JSON the same words as an object on stdout."""
    got = p.run(*args)
    check(got.returncode == 3, f"{args}: exit {got.returncode}")
    check(not got.stdout, f"{args}: says {got.stdout!r} on stdout")
    lines = got.stderr.splitlines()
    check(len(lines) == 1 and lines[0].startswith("vhostwatch: "), f"{args}: {got.stderr!r}")
    check(not re.search(r"[^\x20-\x7e]", lines[0]), f"{args}: control characters in {lines[0]!r}")
    for piece in pieces:
        check(piece in lines[0], f"{args}: no `{piece}` in {lines[0]!r}")
    as_json = p.run(*args, "--format", "json")
    check(as_json.returncode == 3 and as_json.stderr == got.stderr, f"{args}: with JSON {as_json}")
    objects = [json.loads(line) for line in as_json.stdout.splitlines()]
    check(objects == [{"type": "error", "reason": reason, "message": lines[0].removeprefix("vhostwatch: ")}],
          f"{args}: {objects}")


@test
def usage_errors(p):
    """what was wrong is named, exit 3"""
    for args, pieces in (
            (("bogus",), ("unknown command", "'bogus'")),
            (("--bogus",), ("unknown option", "--bogus")),
            (("check", "--bogus"), ("unknown option", "--bogus")),
            (("watch", "-z"), ("-z",)),
            (("doctor", "-d", "xx"), ("duration", "'xx'")),
            (("watch", "extra"), ("extra",)),
            (("check", "check"), ("check",)),
            (("check", "-d", "xx"), ("duration", "'xx'")),
            (("check", "-d", "1y"), ("duration", "1y")),
            (("check", "-d", "-1"), ("duration", "-1")),
            (("check", "-d", "0"), ("duration",)),
            (("check", "-d", ""), ("duration",)),
            (("check", "-d", "1e3"), ("duration",)),
            (("check", "-d", "9" * 30), ("duration",)),
            (("watch", "-i", "1ns"), ("interval", "10ms")),
            (("watch", "-T", "5"), ("threshold", "unit")),
            (("watch", "-T", "5 parsecs"), ("threshold",)),
            (("check", "-t", "0"), ("tid",)),
            (("check", "-t", "abc"), ("tid", "abc")),
            (("check", "-t", "1,,2"), ("tid",)),
            (("check", "-p", "99999999999"), ("pid",)),
            (("check", "-p", "-5"), ("pid",)),
            (("check", "--level", "high"), ("--level", "guard", "trace")),
            (("check", "--clock", "sundial"), ("--clock", "cpu_clock")),
            (("check", "-d", "1\n2"), ("duration",)),
    ):
        refused(p, args, pieces)


@test
def missing_values(p):
    """an option at the end without its value"""
    for args in (("check", "-d"), ("check", "--duration"), ("watch", "-t"), ("watch", "--pid"),
                 ("doctor", "--procfs"), ("check", "--clock")):
        got = p.run(*args)
        check(got.returncode == 3 and "value" in got.stderr and args[-1] in got.stderr,
              f"{args}: {got.returncode}, {got.stderr!r}")
        check(got.stderr.count("\n") == 1, f"{args}: {got.stderr!r}")
    got = p.run("check", "--format")
    check(got.returncode == 3 and "--format" in got.stderr, str(got))


@test
def unusable_folders(p):
    """--procfs and --sysfs that cannot be opened"""
    for option in ("--procfs", "--sysfs"):
        for command in HOST_COMMANDS:
            got = p.run(command, option, "/nonexistent/folder", *PROCFS, "--format", "json")
            check(got.returncode == 3 and "/nonexistent/folder" in got.stderr, f"{command} {option}: {got}")
            errors = [o for o in map(json.loads, got.stdout.splitlines()) if o["type"] == "error"]
            check([e["reason"] for e in errors] == ["no_input"], f"{command} {option}: {errors}")


@test
def short_run(p):
    """a run without rights: header, summary, exit 0"""
    for command in ("watch", "check"):
        lines = p.ok(command, "-d", "0.3", "-i", "0.1", *PROCFS, "--format", "json").splitlines()
        objects = [json.loads(line) for line in lines]
        check(objects[0]["type"] == "header" and objects[-1]["type"] == "summary", f"{command}: {lines}")
        check(objects[0]["tool"] == "vhostwatch" and objects[0]["schema"] == 1, f"{objects[0]}")
        via = [h["via"] for h in objects[0]["hooks"] if h["name"] == "clock"]
        check(via == ["procfs"], f"clock {via}")
        check(objects[-1]["verdict"] == "ok", f"{objects[-1]}")
    line = p.ok("check", "-d", "0.2", *PROCFS)
    check(re.fullmatch(r"VHOSTWATCH OK - [^|\n]+\|[^|\n]+\n", line), repr(line))


@test
def empty_host(p):
    """nothing in /proc and /sys: no worker, and no crash"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        line = p.ok("check", "-d", "0.2", *PROCFS, "--procfs", folder, "--sysfs", folder)
        check("no vhost workers" in line, line)
        text = p.ok("doctor", *PROCFS, "--procfs", folder, "--sysfs", folder)
        check("vhost" in text and "procfs" in text, text)


@test
def closed_pipe(p):
    """a reader that leaves early has had what it wanted"""
    for args in ("--help", "watch --help", "watch -d 5 -i 0.05 --clock procfs",
                 "watch -d 5 -i 0.05 --clock procfs --format json", "doctor --clock procfs"):
        got = p.shell(f"$P {args} | head -1")
        # A run ends well.  What only prints may end as printing programs do, by SIGPIPE.
        codes = (0,) if "-d" in args else (0, 128 + signal.SIGPIPE)
        check(got.returncode in codes and not got.stderr and got.stdout.count("\n") == 1,
              f"{args} | head -1: {got}")


@test
def reader_gone(p):
    """nobody reads from the start: a run ends at once and well, a verdict that nobody got is none"""
    def run(*args):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            return p.run(*args, stdout=writing)
        finally:
            os.close(writing)

    for form in ("text", "json"):
        got = run("watch", "-d", "10", "-i", "0.1", *PROCFS, "--format", form)
        check(got.returncode == 0 and not got.stderr, f"watch {form}: {got}")
    got = run("check", "-d", "0.2", *PROCFS)
    check(got.returncode in (3, -signal.SIGPIPE), f"check: {got}")
    got = run("--help")
    check(got.returncode in (0, -signal.SIGPIPE), f"--help: {got}")


@test
def full_disk(p):
    """what cannot be written is said, exit 3"""
    for args in (("--help",), ("--version",), ("check", "--help"), ("doctor", *PROCFS),
                 ("doctor", *PROCFS, "--format", "json"), ("check", "-d", "0.2", *PROCFS),
                 ("check", "-d", "0.2", *PROCFS, "--format", "json"),
                 ("watch", "-d", "5", "-i", "0.1", *PROCFS),
                 ("watch", "-d", "5", "-i", "0.1", *PROCFS, "--format", "json")):
        with open("/dev/full", "w", encoding="ascii") as full:
            got = p.run(*args, stdout=full)
        check(got.returncode == 3, f"{args}: exit {got.returncode}")
        check(got.stderr.startswith("vhostwatch: ") and got.stderr.count("\n") == 1,
              f"{args}: {got.stderr!r}")


@test
def interrupted(p):
    """^C and SIGTERM end a run with its summary"""
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with subprocess.Popen([*p.argv, "watch", "-i", "0.1", *PROCFS, "--format", "json"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as process:
            header = json.loads(process.stdout.readline())
            check(header["type"] == "header", str(header))
            process.send_signal(signum)
            rest, errors = process.communicate(timeout=SECONDS)
        check(process.returncode == 0 and not errors, f"{signum}: {process.returncode}, {errors}")
        check(json.loads(rest.splitlines()[-1])["type"] == "summary", rest)


@test
def locale(p):
    """LANG=C, no LANG, a broken one: the same words"""
    want = p.ok("--help")
    for env in ({"LC_ALL": "C"}, {"LC_ALL": "xx_YY.nothing"}, {"LANG": "", "LC_ALL": ""}):
        got = p.run("--help", env=env)
        check(got.returncode == 0 and got.stdout == want, f"{env}: {got.returncode}")


def run_all(p, label, only):
    passed = failed = 0
    for function in TESTS:
        if only not in function.__name__:
            continue
        try:
            function(p)
            passed += 1
            word, why = "PASS", ""
        except (Failed, subprocess.TimeoutExpired, ValueError, LookupError) as reason:
            failed += 1
            word, why = "FAIL", f": {reason}"
        print(f"{word} {function.__name__}{label} {function.__doc__}{why}", flush=True)
    return passed, failed


class Folder(tempfile.TemporaryDirectory):
    """A folder that whoever runs the program may write to."""

    def __enter__(self):
        name = super().__enter__()
        os.chmod(name, 0o777)
        return Path(name)


def objects_of(text):
    return [json.loads(line) for line in text.splitlines()]


def record(p, path, *args):
    """Records this process for a moment, without rights."""
    return p.ok("record", "-o", str(path), "-d", "0.5", "-i", "0.1", "-t", str(os.getpid()), *PROCFS, *args)


@test
def record_and_analyze(p):
    """record, then analyze: the same findings, rows and summary; one file, its owner's alone"""
    with Folder() as folder:
        path = folder / "a.vw"
        live = objects_of(record(p, path, "--format", "json"))
        check([o["type"] for o in live] == ["header", "worker", "summary"], str(live))
        check(live[1]["tid"] == os.getpid() and live[1]["comm"], str(live[1]))
        check(os.listdir(folder) == ["a.vw"] and path.stat().st_mode & 0o777 == 0o600, str(os.listdir(folder)))
        again = objects_of(p.ok("analyze", str(path), "--format", "json"))
        check(again[0]["source"] == "recording" and again[0]["hooks"] == live[0]["hooks"], str(again[0]))
        check(again[1:] == live[1:], f"{live[1:]}, then {again[1:]}")
        check(p.ok("analyze", str(path)).count("verdict ok") == 1, "no verdict as text")
        # Its own settings count, not those that analyze has by default.
        other = folder / "b.vw"
        record(p, other, "-T", "77ms")
        with sqlite3.connect(other) as db:
            check(db.execute("SELECT threshold_ns, finished FROM run").fetchall() == [(77000000, 1)], "settings")


@test
def record_schema(p):
    """every table and column of a recording is in docs/FORMATS, and what is there is one"""
    text = (ROOT / "docs/FORMATS.md").read_text(encoding="utf-8")
    text = text[text.index("## Recordings"):text.index("## Devices")]
    with Folder() as folder:
        record(p, folder / "a.vw")
        shutil.copy(folder / "a.vw", folder / "copy")
        with sqlite3.connect(folder / "copy") as db:
            check(db.execute("PRAGMA application_id").fetchone()[0] == 0x76777263, "application id")
            check(db.execute("PRAGMA user_version").fetchone()[0] == 2, "schema version")
            names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE sql NOT NULL")]
            seqs = [row[0] for row in db.execute("SELECT seq FROM event ORDER BY seq")]
            columns = {name: {row[1] for row in db.execute(f"PRAGMA table_info({name})")} for name in names}
        check(len(seqs) > 5 and seqs == list(range(1, len(seqs) + 1)), f"numbers {seqs}")
        words = set(re.findall(r"`(\w+)`", text))
        for name in names:
            rows = [line for line in text.splitlines() if line.startswith("|") and f"`{name}`" in line.split("|")[1]]
            check(name == "event" or len(rows) == 1, f"{len(rows)} rows about {name}")
            told = set(re.findall(r"`(\w+)`", rows[0])) | {"seq", "n", "ts_ns"} if rows else words
            check(columns[name] <= told, f"nothing about {columns[name] - told} of {name}")


@test
def record_refused(p):
    """where a recording cannot go: nothing is overwritten, nothing is left behind"""
    args = ("-d", "0.2", *PROCFS)
    with Folder() as folder:
        (folder / "there").write_text("x", encoding="ascii")
        os.chmod(folder / "there", 0o666)
        refused(p, ("record", "-o", str(folder / "there"), *args), ("is there already", "-o"))
        refused(p, ("record", "-o", "-", *args), ("name a file",))
        refused(p, ("record", "-o", "/dev/null", *args), ("no regular file",))
        refused(p, ("record", "-o", str(folder), *args), ("Is a directory",), reason="io")
        refused(p, ("record", "-o", str(folder / "no/a.vw"), *args), ("No such file",), reason="io")
        refused(p, ("record", "-o", str(folder / "new"), "-t", "4194303", *args), ("no task",), reason="no_task")
        check(os.listdir(folder) == ["there"] and (folder / "there").read_text(encoding="ascii") == "x",
              str(os.listdir(folder)))


@test
def record_shown_nowhere(p):
    """stdout full or gone: the recording is whole all the same"""
    with Folder() as folder, open("/dev/full", "w", encoding="ascii") as full:
        path = folder / "a.vw"
        got = p.run("record", "-o", str(path), "-d", "0.2", *PROCFS, stdout=full)
        check(got.returncode == 3 and str(path) in got.stderr and got.stderr.count("\n") == 1, f"{got}")
        check("verdict ok" in p.ok("analyze", str(path)), "not whole")


@test
def recording_refused(p):
    """recordings that cannot be read: of a newer version, damaged, cut off"""
    with Folder() as folder:
        path = folder / "a.vw"
        record(p, path)
        data = path.read_bytes()
        bad = folder / "bad"

        def with_bad(change):
            bad.write_bytes(data)
            with contextlib.closing(sqlite3.connect(bad)) as db:
                db.executescript(change)
            bad.chmod(0o644)

        with_bad("PRAGMA user_version=3")
        refused(p, ("analyze", str(bad)), ("version 3", "newer vhostwatch"), reason="no_input")
        with_bad("UPDATE tick SET ts_ns = 'late'")
        refused(p, ("analyze", str(bad)), ("damaged", "ts_ns"), reason="no_input")
        bad.write_bytes(data[:len(data) // 2])
        refused(p, ("analyze", str(bad)), ("damaged",), reason="no_input")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", metavar="PART", default="", help="only tests with PART in their name")
    only = parser.parse_args().k
    if not BUILT.exists():
        print(f"cli: {BUILT} is not built\n0 passed, 1 failed")
        return 1
    passed, failed = run_all(Program(BUILT), "", only)
    if os.geteuid() == 0:
        with tempfile.TemporaryDirectory() as folder:
            # Where anybody may run it, whatever the rights of the build folder.
            os.chmod(folder, 0o755)
            p = Program(shutil.copy(BUILT, folder), NOBODY)
            more = run_all(p, " (no rights)", only)
            passed, failed = passed + more[0], failed + more[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

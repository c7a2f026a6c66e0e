# SPDX-License-Identifier: GPL-2.0-or-later
"""What the live tests run: the hog, the tool, and waiting for either with a deadline."""
import json
import os
import queue
import subprocess
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("VW_BUILD", ROOT / "build"))
TOOL = BUILD / "vhostwatch"
HOG = BUILD / "live" / "hog"
CPUS = sorted(os.sched_getaffinity(0))
CPU = CPUS[-1]  # the one that is hogged
DEADLINE = 15


class Failed(Exception):
    """A test that did not get what it wanted."""


def check(condition, text):
    if not condition:
        raise Failed(text)


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def stay_off():
    """This process must not starve with the victims; its children may."""
    os.sched_setaffinity(0, set(CPUS) - {CPU})


def anywhere():
    os.sched_setaffinity(0, CPUS)


class Lines:
    """The lines of a pipe, each with the time at which it came; None at its end."""

    def __init__(self, pipe):
        self.queue = queue.Queue()
        threading.Thread(target=self.read, args=(pipe,), daemon=True).start()

    def read(self, pipe):
        for line in pipe:
            self.queue.put((now_ns(), line.rstrip("\n")))
        self.queue.put((now_ns(), None))

    def next(self, until):
        try:
            return self.queue.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            return None


class Hog:
    """tests/live/hog.c.  One at a time; its work is asked for and then waited for."""

    def __init__(self):
        self.process = subprocess.Popen([HOG, str(CPU)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, preexec_fn=anywhere)
        self.lines = Lines(self.process.stdout)
        self.begin_ns = self.asked_ms = 0
        words = self.wait("ready")
        self.pid, self.hog, self.victim = (int(word) for word in words)

    def wait(self, word, seconds=DEADLINE):
        until = time.monotonic() + seconds
        while (got := self.lines.next(until)) is not None:
            check(got[1] is not None, "the hog ended early")
            words = got[1].split()
            if words[0] == word:
                return words[1:]
        raise Failed(f"the hog did not say `{word}` in {seconds} s")

    def start(self, work, n):
        self.asked_ms = n
        self.process.stdin.write(f"{work} {n}\n")
        self.process.stdin.flush()
        self.begin_ns = int(self.wait("begin")[0])

    def lasts(self):
        """True while the hog is known to be in the kernel; it began and has its time before it."""
        return now_ns() < self.begin_ns + self.asked_ms * 1000000

    def finish(self):
        """The longest time in ns that the victim did not run."""
        return int(self.wait("end", self.asked_ms / 500 + DEADLINE)[-1])

    def close(self):
        self.process.stdin.close()
        self.process.wait(DEADLINE)


class Tool:
    """The program with JSON output.  Every line must be an object that FORMATS knows."""

    TYPES = {"header", "finding", "worker", "summary", "error"}

    def __init__(self, *args, command=None, json_format=True):
        argv = [*(command or []), str(TOOL), *args, *(["--format", "json"] if json_format else [])]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=anywhere)
        self.lines = Lines(self.process.stdout)
        self.objects = []  # (time, object)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE)

    def take(self, line):
        obj = json.loads(line[1])
        check(isinstance(obj, dict) and obj.get("type") in self.TYPES, f"odd line: {line[1][:200]}")
        self.objects.append((line[0], obj))
        return obj

    def wait(self, kind, match=lambda obj: True, seconds=DEADLINE):
        """The next object of @kind that matches."""
        until = time.monotonic() + seconds
        while (line := self.lines.next(until)) is not None:
            if line[1] is None:
                raise Failed(f"the tool ended with no such {kind}: "
                             f"{self.process.stderr.read().strip()[:300]}")
            obj = self.take(line)
            if obj["type"] == kind and match(obj):
                return obj
        raise Failed(f"no such {kind} in {seconds} s; the last: {str(self.objects[-1:])[:600]}")

    def header(self):
        return self.wait("header")

    def end(self, seconds=DEADLINE):
        """Waits for the end: (exit code, summary)."""
        until = time.monotonic() + seconds
        while (line := self.lines.next(until)) is not None and line[1] is not None:
            self.take(line)
        check(line is not None, f"the tool did not end in {seconds} s")
        code = self.process.wait(DEADLINE)
        last = self.objects[-1][1] if self.objects else {}
        return code, last if last.get("type") == "summary" else None

    def findings(self):
        return [obj for _, obj in self.objects if obj["type"] == "finding"]

    def threads(self):
        """State and wait channel of each thread, for a message."""
        found = []
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                stat = (task / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                found.append(f"{task.name} {stat[0]} on CPU {stat[36]} "
                             f"in {(task / 'wchan').read_text(encoding='ascii')}")
            except OSError:
                pass
        return "; ".join(found)

    def prog_ids(self):
        """BPF programs that this process holds."""
        ids = set()
        for info in Path(f"/proc/{self.process.pid}/fdinfo").iterdir():
            try:
                lines = info.read_text(encoding="ascii").splitlines()
            except OSError:  # closed meanwhile
                continue
            ids |= {int(line.split()[1]) for line in lines if line.startswith("prog_id:")}
        return ids


def slack():
    """How long a process may take to die: 1 s; where others want the free CPUs too, it must first be
    moved there and then wait its turn."""
    runnable = int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[0])
    return 1.0 if runnable <= len(CPUS) + 1 else 2.5


def loaded_programs():
    shown = subprocess.run(["bpftool", "prog", "list", "-j"], capture_output=True, text=True, check=True,
                           env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    return {program["id"] for program in json.loads(shown.stdout)}


def poll(condition, seconds, text):
    """Waits until @condition holds."""
    until = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < until, f"{text} in {seconds} s")
        time.sleep(0.02)  # between two looks


def run_tool(*args, command=None):
    return subprocess.run([*(command or []), str(TOOL), *args], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=DEADLINE, check=False, preexec_fn=anywhere)

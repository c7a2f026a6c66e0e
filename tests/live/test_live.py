#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The program on this machine's kernel, with a BPF program as the hog (no vhost needed).

    tests/live/test_live.py [-k PART]    root; build/vhostwatch and build/live/hog must be there

A line a test, PASS or FAIL, then "N passed, N failed".  A test that cannot run here fails, but for the
reasons of SKIPS, which are said.
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
import time
import traceback
from pathlib import Path

import rig
from rig import DEADLINE, Failed, Tool, check, now_ns, poll, run_tool

MS = 1000000
VIA = {"local_timer_entry": "tp_btf/local_timer_entry", "cpu_clock": "perf_event/cpu-clock",
       "sched_stat_runtime": "tp_btf/sched_stat_runtime", "procfs": "procfs"}
HOOKS = {"clock", "resched_flag", "waiters", "switches", "workers", "worker_birth", "worker_exit", "totals", "quota"}
# The only reasons for which a test may be left out.
SKIPS = {"preempts": "this kernel preempts kernel code, so nothing can hog it this way",
         "no_local_timer": "this architecture has no local_timer_entry",
         "no_quota": "no cgroup with a CPU quota can be made here"}

TESTS = []


class Skipped(Exception):
    pass


def test(function):
    TESTS.append(function)
    return function


def tids(hog):
    return f"{hog.hog},{hog.victim}"


def check_hog_finding(f, hog, kind, clock):
    check(f["kind"] == kind and f["cause"] == "ignores_resched", f"{f['kind']}, {f['cause']}")
    check(f["culprit"]["tid"] == hog.hog and f["culprit"]["comm"] == "test-hog", f"{f['culprit']}")
    check(f["cpu"] == rig.CPU, f"CPU {f['cpu']}")
    check(f["evidence"]["clock"] == VIA[clock], f"clock {f['evidence']['clock']}")
    check(f["evidence"]["resched"] == "full", f"resched {f['evidence']['resched']}")
    check(hog.victim in [v["tid"] for v in f["victims"]], f"victims {f['victims']}")


def check_closed(tool, opened, hog, gap_ns):
    """The closed finding is the one that was open, and as long as the hog was."""
    f = tool.wait("finding", lambda f: f["status"] == "closed" and f["start_ns"] == opened["start_ns"])
    check(f["culprit"]["tid"] == hog.hog and f["kind"] == opened["kind"], f"another one closed: {f}")
    check(abs(f["duration_ns"] - hog.asked_ms * MS) < 100 * MS, f"lasted {f['duration_ns']} ns")
    check(f["duration_ns"] == f["end_ns"] - f["start_ns"], "duration is not end - start")
    check(abs(f["start_ns"] - hog.begin_ns) < 100 * MS, f"began {f['start_ns'] - hog.begin_ns} ns late")
    wait = next(v["wait_ns"] for v in f["victims"] if v["tid"] == hog.victim)
    check(abs(wait - gap_ns) < 100 * MS, f"waited {wait} ns, says the tool, and {gap_ns}, says the victim")
    return f


def check_nobody_else(tool, hog):
    """Being paid back for the wait makes no culprit of the victim.  A third task that came to this CPU
    meanwhile does wait, and may be told of."""
    wrong = [f for f in tool.findings() if (f["culprit"] or {}).get("tid") == hog.victim and
             {v["tid"] for v in f["victims"]} <= {hog.hog}]
    check(not wrong, f"the victim is blamed: {wrong[:1]}")


def catch(hog, ms, kind, clock, *args):
    """Runs the tool around a hog of @ms; the finding must be told while it lasts."""
    with Tool("watch", "-i", "0.2", "-T", "50ms", *args) as tool:
        header = tool.header()
        hook = next(h for h in header["hooks"] if h["name"] == "clock")
        check(hook["via"] == VIA[clock], f"clock {hook}")
        hog.start("hog", ms)
        opened = tool.wait("finding", lambda f: (f["culprit"] or {}).get("tid") == hog.hog and
                           f["kind"] == kind)
        check(hog.lasts(), f"told {now_ns() - hog.begin_ns} ns after the beginning, too late")
        check(opened["status"] == "open", "not open")
        # T and a few looks, not the 2 T after which it would be a starved task.
        check(50 * MS <= opened["duration_ns"] < 90 * MS, f"found after {opened['duration_ns']} ns")
        check_hog_finding(opened, hog, kind, clock)
        check_closed(tool, opened, hog, hog.finish())
        tool.process.send_signal(signal.SIGTERM)
        code, summary = tool.end()
        check(code == 0 and summary and summary["lost_events"] == 0, f"ended with {code}, {summary}")
        check(summary["counts"].get(kind, 0) >= 1, f"counts {summary['counts']}")
        check_nobody_else(tool, hog)
        return tool


@test
def named_local_timer(hog):
    """-t: non_yielding_worker, from tp_btf/local_timer_entry"""
    if os.uname().machine != "x86_64":
        raise Skipped(SKIPS["no_local_timer"])
    catch(hog, 800, "non_yielding_worker", "local_timer_entry", "-t", tids(hog),
          "--clock", "local_timer_entry")


@test
def named_cpu_clock(hog):
    """-t: non_yielding_worker, from perf_event/cpu-clock"""
    catch(hog, 800, "non_yielding_worker", "cpu_clock", "-t", str(hog.hog), "--clock", "cpu_clock")


@test
def named_stat_runtime(hog):
    """-t: non_yielding_worker, from tp_btf/sched_stat_runtime"""
    catch(hog, 800, "non_yielding_worker", "sched_stat_runtime", "-t", str(hog.hog),
          "--clock", "sched_stat_runtime")


@test
def guard_level(hog):
    """--level guard: the same without the switch hook"""
    tool = catch(hog, 2600, "non_yielding_worker", "cpu_clock", "-t", str(hog.hog), "--level", "guard",
                 "--clock", "cpu_clock")
    header = tool.objects[0][1]
    check(header["level"] == "guard", header["level"])
    check(next(h for h in header["hooks"] if h["name"] == "switches")["state"] == "missing", "switches")


@test
def unnamed(hog):
    """not named: starved_task, cause ignores_resched"""
    with Tool("watch", "-i", "0.2") as tool:
        tool.header()
        hog.start("hog", 800)
        f = tool.wait("finding", lambda f: (f["culprit"] or {}).get("tid") == hog.hog)
        check(hog.lasts(), "told too late")
        check_hog_finding(f, hog, "starved_task", next(k for k, v in VIA.items()
                                                       if v == f["evidence"]["clock"]))
        check_closed(tool, f, hog, hog.finish())


@test
def named_by_pid(hog):
    """-p: all threads of the process are watched, and their rows add up"""
    with Tool("watch", "-i", "0.2", "-p", str(hog.pid)) as tool:
        tool.header()
        tool.wait("worker", lambda w: w["tid"] == hog.victim)
        hog.start("hog", 800)
        tool.wait("finding", lambda f: f["kind"] == "non_yielding_worker" and
                  f["culprit"]["tid"] == hog.hog)
        waiting = tool.wait("worker", lambda w: w["tid"] == hog.victim and w["wait_ns"] > 300 * MS)
        check(hog.lasts(), "the wait shows only when it is over")
        check(waiting["oncpu_ns"] < 300 * MS, f"the victim ran for {waiting['oncpu_ns']}")
        hog.finish()
        row = tool.wait("worker", lambda w: w["tid"] == hog.hog and
                        w["longest_resched_pending_ns"] > 700 * MS and w["ts_ns"] > hog.begin_ns + 800 * MS)
        check(row["oncpu_ns"] > 700 * MS, f"the hog ran for {row['oncpu_ns']} ns")
        check(row["charged_ns"] > 700 * MS, f"the hog was charged {row['charged_ns']} ns")
        check(row["comm"] == "test-hog" and row["cpu"] == rig.CPU, str(row))


@test
def procfs(hog):
    """--clock procfs: starved_task of a watched victim, with the right culprit"""
    with Tool("watch", "-i", "0.5", "-t", str(hog.victim), "--clock", "procfs") as tool:
        tool.header()
        hog.start("hog", 3500)
        f = tool.wait("finding")
        check(hog.lasts(), "told too late")
        check(f["kind"] == "starved_task" and f["cause"] == "unknown", f"{f['kind']}, {f['cause']}")
        check(f["culprit"]["tid"] == hog.hog, f"culprit {f['culprit']}")
        check([v["tid"] for v in f["victims"]] == [hog.victim], f"victims {f['victims']}")
        check(f["evidence"]["clock"] == "procfs" and f["evidence"]["resched"] is None, str(f["evidence"]))
        hog.finish()


@test
def check_codes(hog):
    """check: 0 without a hog, 2 with one, 1 for what is only a warning"""
    got = run_tool("check", "-d", "0.5", "-t", tids(hog))
    check(got.returncode == 0 and got.stdout.startswith("VHOSTWATCH OK - "), str(got))
    for threshold, code, word in (("10ms", 2, "CRITICAL"), ("100ms", 1, "WARNING")):
        with Tool("check", "-d", "2", "-t", tids(hog), "-T", threshold) as tool:
            tool.header()
            hog.start("hog", 500)
            got, summary = tool.end()
            check((got, summary["verdict"]) == (code, word.lower()), f"{got}, {summary}")
            hog.finish()


@test
def check_line(hog):
    """check's one line names hog and victim"""
    with Tool("watch", "-t", tids(hog)) as other, \
         Tool("check", "-d", "2.5", "-t", tids(hog), json_format=False) as tool:
        # Both are attached at the same time; the other one tells when.
        other.header()
        poll(lambda: len(tool.prog_ids()) >= 2, rig.DEADLINE, "no programs loaded")
        hog.start("hog", 1000)
        line = tool.lines.next(time.monotonic() + rig.DEADLINE)
        check(line and line[1].startswith("VHOSTWATCH CRITICAL - "), str(line))
        check("test-hog" in line[1] and "test-victim" in line[1], line[1])
        check(tool.process.wait(rig.DEADLINE) == 2, "exit code")
        hog.finish()


@test
def fair_pair(hog):
    """two busy tasks that share a CPU are nothing to tell of"""
    with Tool("check", "-d", "2.5", "-t", tids(hog)) as tool:
        tool.header()
        hog.start("fair", 2000)
        code, summary = tool.end()
        hog.finish()
        check(code == 0 and summary["verdict"] == "ok", f"{code}, {tool.findings()}")
        check(not [f for f in tool.findings() if f["severity"] != "info"], f"{tool.findings()}")
        rows = [obj for _, obj in tool.objects if obj["type"] == "worker" and obj["tid"] == hog.victim]
        check(rows and rows[-1]["oncpu_ns"] > 300 * MS, "the tool did not see the pair run")


def quota_group():
    """A new cgroup that may have a CPU for 20 ms of each 100 ms."""
    for folder, key, value in (("cpu", "cpu.cfs_quota_us", "20000"),
                               ("cpu,cpuacct", "cpu.cfs_quota_us", "20000"),
                               (".", "cpu.max", "20000 100000")):
        group = Path("/sys/fs/cgroup", folder, f"vw-test-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / key).write_text(value, encoding="ascii")
            return group
        except OSError:
            group.rmdir()
    raise Skipped(SKIPS["no_quota"])


@test
def throttled(hog):
    """-t of a task whose cgroup has used up its quota: starved_task, throttled, the group named"""
    group = quota_group()
    top = group.parent / "cgroup.procs"
    try:
        (group / "cgroup.procs").write_text(str(hog.pid), encoding="ascii")
        with Tool("watch", "-d", "4", "-t", str(hog.victim)) as tool:
            tool.header()
            hog.start("fair", 1000)
            found = tool.wait("finding", lambda f: f["kind"] == "starved_task"
                              and f["cause"] == "throttled" and f["evidence"]["count"] > 2)
            check(found["culprit"] is None and found["victims"][0]["tid"] == hog.victim, str(found))
            check(group.name in found["remedy"], found["remedy"])
            # Nobody else is in the group, so that a period is all that it can wait for.
            check(40 * MS < found["victims"][0]["wait_ns"] < 200 * MS, str(found["victims"]))
            hog.finish()
    finally:
        top.write_text(str(hog.pid), encoding="ascii")
        poll(lambda: not (group / "cgroup.procs").read_text(encoding="ascii"), DEADLINE, "group empty")
        group.rmdir()


@test
def duration(hog):
    """watch -d ends by itself, with a header first and a summary last"""
    begin = time.monotonic()
    with Tool("watch", "-d", "1", "-i", "0.2", "-t", tids(hog)) as tool:
        code, summary = tool.end()
    took = time.monotonic() - begin
    kinds = [obj["type"] for _, obj in tool.objects]
    check(code == 0 and summary and kinds[0] == "header" and kinds.count("summary") == 1, str(kinds))
    check(1 <= took < 4, f"took {took:.1f} s")
    check(kinds.count("worker") >= 6, f"{kinds.count('worker')} rows of two tasks in five intervals")
    check(summary["duration_ns"] >= 1000 * MS, str(summary))


@test
def text_output(hog):
    """watch as text, without a terminal"""
    got = run_tool("watch", "-d", "0.5", "-i", "0.2", "-t", tids(hog))
    check(got.returncode == 0 and "test-victim" in got.stdout, str(got))
    check("\x1b" not in got.stdout and not got.stderr, f"{got.stderr}")


@test
def doctor(hog):
    """doctor names each hook, as text and as JSON"""
    got = run_tool("doctor")
    check(got.returncode == 0, f"{got.returncode}: {got.stderr}")
    missing = [name for name in HOOKS if name not in got.stdout]
    check(not missing, f"no word of {missing}")
    with Tool("doctor") as tool:
        code, summary = tool.end()
        header = tool.objects[0][1]
        check(code == 0 and summary["verdict"] == "ok", f"{code}, {summary}")
        check({h["name"] for h in header["hooks"]} >= HOOKS, str(header["hooks"]))
        check(header["host"]["release"] == os.uname().release, str(header["host"]))
        clock = next(h for h in header["hooks"] if h["name"] == "clock")
        check(clock["state"] != "missing" and clock["via"] != "procfs", str(clock))


def refused(reason, *args, command=None):
    """Exit 3, one line for people, one object for programs."""
    got = run_tool(*args, "--format", "json", command=command)
    check(got.returncode == 3, f"{args}: exit {got.returncode}, {got.stderr}")
    objects = [json.loads(line) for line in got.stdout.splitlines()]
    errors = [o for o in objects if o["type"] == "error"]
    check(len(errors) == 1 and errors[0]["reason"] == reason, f"{args}: {errors}")
    check(got.stderr == f"vhostwatch: {errors[0]['message']}\n", f"{args}: {got.stderr!r}")
    return errors[0]["message"]


@test
def lockdown(hog):
    """kernel lockdown at confidentiality: exit 3 and the word"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel" / "security"
        path.mkdir(parents=True)
        (path / "lockdown").write_text("none integrity [confidentiality]\n", encoding="ascii")
        for command in ("check", "watch", "doctor"):
            refused("lockdown", command, "--sysfs", folder)
        # What needs no BPF is not refused.
        got = run_tool("check", "-d", "0.2", "--sysfs", folder, "--clock", "procfs")
        check(got.returncode == 0, f"procfs: {got.returncode}, {got.stderr}")
        (path / "lockdown").write_text("none [integrity] confidentiality\n", encoding="ascii")
        got = run_tool("check", "-d", "0.2", "-t", tids(hog), "--sysfs", folder)
        check(got.returncode == 0, f"integrity: {got.returncode}, {got.stderr}")


@test
def capability(hog):
    """without privileges: exit 3, and who lacks what"""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = Path(shutil.copy(rig.TOOL, folder))
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"]
        tool, rig.TOOL = rig.TOOL, copy
        try:
            message = refused("capability", "check", "-d", "0.2", command=nobody)
            check("lacks both" in message, message)
            message = refused("capability", "watch", command=[
                "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+bpf",
                "--ambient-caps=+bpf", "--"])
            check("lacks CAP_PERFMON" in message, message)
            refused("capability", "doctor", command=nobody)
        finally:
            rig.TOOL = tool


@test
def no_such_task(hog):
    """-p or -t of what does not exist: exit 3"""
    limit = int(Path("/proc/sys/kernel/pid_max").read_text(encoding="ascii"))
    gone = subprocess.Popen(["true"])
    gone.wait()
    for number in (gone.pid, limit - 1):
        refused("no_task", "check", "-d", "0.2", "-p", str(number))
        refused("no_task", "watch", "-t", f"{hog.hog},{number}")
    refused("no_input", "check", "--procfs", "/nonexistent")


def ends_while_hogged(hog, signum, code):
    with Tool("watch", "-i", "0.2", "-t", tids(hog)) as tool:
        tool.header()
        hog.start("hog", 3500)
        tool.wait("finding", lambda f: f["culprit"]["tid"] == hog.hog)
        ids = tool.prog_ids() & rig.loaded_programs()
        check(len(ids) >= 4, f"the tool holds only programs {ids}")
        begin = time.monotonic()
        tool.process.send_signal(signum)
        try:
            got = tool.process.wait(rig.slack())
        except subprocess.TimeoutExpired:
            raise Failed(f"still there: {tool.threads()}") from None
        took = time.monotonic() - begin
        check(hog.lasts(), f"the hog was over ({took:.2f} s)")
        check(got == code, f"exit code {got}")
        poll(lambda: not ids & rig.loaded_programs(), 1, "programs are not gone")
        check(hog.lasts(), "the programs went with the hog")
        hog.finish()


@test
def interrupt_while_hogged(hog):
    """^C while a CPU is hogged: gone within 1 s, nothing left behind"""
    ends_while_hogged(hog, signal.SIGINT, 0)


@test
def kill_while_hogged(hog):
    """SIGKILL while a CPU is hogged: gone within 1 s, nothing left behind"""
    ends_while_hogged(hog, signal.SIGKILL, -signal.SIGKILL)


@test
def start_while_hogged(hog):
    """started while a CPU is hogged already, after another tracer left it: the hog is named all the same"""
    hog.start("hog", 5000)
    # Attaching a tracepoint that has just lost its last user may wait for the end of the hog.
    with Tool("check", "-d", "0.2", "-t", tids(hog)) as first:
        first.end()
    check(hog.lasts(), "the first one stayed until the end of the hog")
    with Tool("watch", "-i", "0.2", "-t", tids(hog)) as tool:
        via = next(h["via"] for h in tool.header()["hooks"] if h["name"] == "clock")
        f = tool.wait("finding", lambda f: f["culprit"]["tid"] == hog.hog)
        check(hog.lasts(), "told too late")
        check(f["kind"] == "non_yielding_worker" and f["evidence"]["clock"] == via and
              hog.victim in [v["tid"] for v in f["victims"]], str(f)[:400])
        hog.finish()


@test
def pinned_to_the_hogged_cpu(hog):
    """a watcher that may run nowhere but there moves out of the way, and reports in time"""
    with Tool("watch", "-i", "0.2", "-t", tids(hog), command=["taskset", "-c", str(rig.CPU)]) as tool:
        tool.header()
        tool.wait("worker")
        hog.start("hog", 2000)
        f = tool.wait("finding", lambda f: f["culprit"]["tid"] == hog.hog)
        check(hog.lasts(), "told too late")
        check(f["printed_after_ns"] < 1000 * MS, f"printed {f['printed_after_ns']} ns late")
        hog.finish()
        check(tool.process.pid not in [v["tid"] for v in f["victims"]], "the tool is its own victim")


@test
def flood_of_names(hog):
    """threads that take workers' names are no workers, and cost nothing but their time"""
    with Tool("watch", "-d", "2", "-i", "0.2") as tool:
        tool.header()
        hog.start("flood", 3000)
        hog.finish()
        code, summary = tool.end()
        check(code == 0 and summary["workers"] == 0, f"{code}, {summary}")
        rows = [obj for _, obj in tool.objects if obj["type"] == "worker"]
        check(not rows, f"rows: {rows[:2]}")
        check(summary["lost_events"] == 0, str(summary))


class Recording:
    """A folder, a recording that is being made in it, and what `analyze` says of it."""

    def __init__(self, hog, *args, folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix="vw-live-")
        self.path = Path(self.folder) / "a.vw"
        self.tool = Tool("record", "-o", str(self.path), "-T", "50ms", "-i", "0.2", "-t", tids(hog), *args)

    def __enter__(self):
        self.tool.__enter__()
        return self

    def __exit__(self, *exception):
        self.tool.__exit__(*exception)
        shutil.rmtree(self.folder, ignore_errors=True)

    def begun(self):
        poll(lambda: self.path.exists() and self.path.stat().st_size > 0, DEADLINE, "not begun")

    def query(self, sql):
        """Of what is in the file by itself now; nobody may open it while it is locked."""
        copy = Path(self.folder) / "copy"
        shutil.copyfile(self.path, copy)
        with contextlib.closing(sqlite3.connect(f"file:{copy}?immutable=1", uri=True)) as db:
            return db.execute(sql).fetchall()

    def holds(self, sql):
        """True once it does; a copy from amid a commit may be no database."""
        try:
            return bool(self.query(sql)[0][0])
        except sqlite3.DatabaseError:
            return False

    def analyze(self, *args, stdin=subprocess.DEVNULL):
        done = subprocess.run([str(rig.TOOL), "analyze", *args, "--format", "json"], stdin=stdin, text=True,
                              capture_output=True, timeout=DEADLINE, check=False)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def but_header(objects):
    """What a recording must give back: all but the header, and when it was printed."""
    return [{k: v for k, v in o.items() if k != "printed_after_ns"} for o in objects if o["type"] != "header"]


def check_same(live, again, what):
    live, again = but_header(live), but_header(again)
    types = [o["type"] for o in live]
    check([o["type"] for o in again] == types, f"{what}: live {types}, then {[o['type'] for o in again]}")
    for one, other in zip(live, again):
        keys = [k for k in one if one[k] != other.get(k)]
        check(one == other, f"{what}: {one['type']} differs in {[(k, one[k], other.get(k)) for k in keys]}")


def check_recorded_hog(objects, hog):
    found = [o for o in objects if o["type"] == "finding" and (o["culprit"] or {}).get("tid") == hog.hog]
    check(len(found) == 1, f"not one finding about the hog, but {len(found)}")
    check_hog_finding(found[0], hog, "non_yielding_worker", "local_timer_entry"
                      if found[0]["evidence"]["clock"] == VIA["local_timer_entry"] else "cpu_clock")
    check(abs(found[0]["duration_ns"] - hog.asked_ms * MS) < 100 * MS, f"lasted {found[0]['duration_ns']}")


@test
def record_and_analyze(hog):
    """record, then analyze: the same objects, from the file, a pipe and gzip"""
    with Recording(hog) as recording:
        recording.begun()
        hog.start("hog", 800)
        hog.finish()
        recording.tool.process.send_signal(signal.SIGTERM)
        code, summary = recording.tool.end()
        live = [o for _, o in recording.tool.objects]
        check(code == 0 and summary["counts"].get("non_yielding_worker") == 1, f"{code}, {summary}")
        check([o["type"] for o in live][:2] == ["header", "finding"], "header and findings come first")
        check_recorded_hog(live, hog)
        check(os.listdir(recording.folder) == ["a.vw"], str(os.listdir(recording.folder)))
        code, again, stderr = recording.analyze(str(recording.path))
        check(code == 2 and not stderr, f"{code}, {stderr}")
        check(again[0]["source"] == "recording" and again[0]["level"] == live[0]["level"], str(again[0]))
        check(again[0]["hooks"] == live[0]["hooks"] and again[0]["host"] == live[0]["host"], str(again[0]))
        check_same(live, again, "the file")
        for pipe in ("cat", "gzip -c"):
            with subprocess.Popen(f"{pipe} {recording.path}", shell=True, stdout=subprocess.PIPE) as source:
                code, piped, stderr = recording.analyze("-", stdin=source.stdout)
            check(code == 2 and not stderr, f"{pipe}: {code}, {stderr}")
            check_same(live, piped, pipe)


@test
def record_killed(hog):
    """SIGKILL in the middle of a recording: what was committed is there, and said not to be all"""
    with Recording(hog) as recording:
        recording.begun()
        hog.start("hog", 800)
        hog.finish()
        poll(lambda: recording.holds("SELECT count(*) FROM finding WHERE status = 'closed'"), DEADLINE,
             "the finding is not committed")
        recording.tool.process.kill()
        recording.tool.process.wait(DEADLINE)
        lone = Path(recording.folder) / "lone"
        shutil.copyfile(recording.path, lone)
        for path in (lone, recording.path):
            code, objects, stderr = recording.analyze(str(path))
            check(code == 2 and "not finished" in stderr and len(stderr.splitlines()) == 1, f"{code}, {stderr}")
            check(objects[-1]["type"] == "summary" and objects[-1]["duration_ns"] > 800 * MS, str(objects[-1]))
            check_recorded_hog(objects, hog)


@test
def record_disk_full(hog):
    """the disk gets full: exit 3, the cause in one line, nothing lost that was recorded"""
    folder = tempfile.mkdtemp(prefix="vw-live-")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "vw-full", folder], check=True)
    try:
        with Recording(hog, "-i", "0.01", folder=folder) as recording:
            recording.begun()
            hog.start("hog", 800)
            hog.finish()
            code, summary = recording.tool.end(60)
            stderr = recording.tool.process.stderr.read()
            check(code == 3 and summary is None, f"{code}, {summary}")
            check(re.fullmatch(rf"vhostwatch: cannot go on recording to {recording.path}: No space left on "
                               r"device; .*\n", stderr), stderr)
            error = recording.tool.objects[-1][1]
            check(error["type"] == "error" and error["reason"] == "io", str(error))
            code, objects, stderr = recording.analyze(str(recording.path))
            check(code == 2 and "not finished" in stderr, f"{code}, {stderr}")
            check_recorded_hog(objects, hog)
    finally:
        subprocess.run(["umount", folder], check=True)
        os.rmdir(folder)


def preempts(hog):
    """True on a kernel that takes the CPU from the hog."""
    hog.start("hog", 200)
    return hog.finish() < 100 * MS


NEED_HOG = {named_local_timer, named_cpu_clock, named_stat_runtime, guard_level, unnamed, named_by_pid,
            procfs, check_codes, check_line, interrupt_while_hogged, kill_while_hogged, start_while_hogged,
            pinned_to_the_hogged_cpu, record_and_analyze, record_killed, record_disk_full}


def run_test(function, hog, preempting):
    begin = time.monotonic()
    skipped = None
    try:
        if preempting and function in NEED_HOG:
            raise Skipped(SKIPS["preempts"])
        function(hog)
        word, why = "PASS", ""
    except Skipped as reason:
        word, skipped = "SKIP", str(reason)
        why = f": {reason}"
    except Failed as reason:
        word, why = "FAIL", f": {reason}"
    except Exception:  # a test that breaks is a test that fails
        word, why = "FAIL", f": {traceback.format_exc()}"
    print(f"{word} {function.__name__} ({time.monotonic() - begin:.1f} s) {function.__doc__}{why}", flush=True)
    return word, skipped


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", metavar="PART", default="", help="only tests with PART in their name")
    only = parser.parse_args().k
    lacking = [why for missing, why in (
        (os.geteuid() != 0, "needs root"),
        (not Path("/sys/kernel/btf/vmlinux").exists(), "this kernel has no BTF"),
        (len(rig.CPUS) < 2, "needs two CPUs"),
        (not rig.TOOL.exists() or not rig.HOG.exists(), f"{rig.BUILD} is not built: make all live-hog"))
        if missing]
    if lacking:
        print(f"live: {'; '.join(lacking)}\n0 passed, 1 failed")
        return 1
    rig.stay_off()
    results = []
    hog = rig.Hog()
    try:
        preempting = preempts(hog)
        for function in TESTS:
            if only in function.__name__:
                results.append(run_test(function, hog, preempting))
            if results and results[-1][0] == "FAIL":
                # What a failed test left of its hog must not reach the next.
                hog.process.kill()
                hog = rig.Hog()
    finally:
        hog.close()
    passed = sum(word == "PASS" for word, _ in results)
    failed = sum(word == "FAIL" for word, _ in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())

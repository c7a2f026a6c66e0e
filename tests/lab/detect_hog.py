# SPDX-License-Identifier: GPL-2.0-or-later
"""Acceptance cases with a worker that keeps its CPU."""
import re

import results
from detect_data import (HOG, MS, SECOND, Failed, case, episodes, hog_and_loser, longest, need,
                         printed_ms, short, staged, victim_of)

THRESHOLD_NS = 10 * MS
TICK_NS = 4 * MS
TRACE_LINE = re.compile(r"\[\d+\] \S+ +(\d+)\.(\d{6}): (\w+): (.*)$")


# --- 1: from the request to the time stamp of the crossing ------------------------------------------

def read_trace(boot):
    """[(ns, "switch", next tid) or (ns, "request", None)] of the kernel's own tracer."""
    text = results.text_of(boot.folder, "trace")
    stats = results.text_of(boot.folder, "trace-stats")
    staged(re.search(r"^overrun: 0$", stats, re.M), "the tracer's buffer was too small")
    rows = []
    for line in text.splitlines():
        found = TRACE_LINE.search(line)
        if not found:
            continue
        stamp = int(found[1]) * SECOND + int(found[2]) * 1000
        if found[3] == "sched_switch":
            rows.append((stamp, "switch", int(re.search(r"next_pid=(\d+)", found[4])[1])))
        elif found[3] == "resched":
            rows.append((stamp, "request", None))
    staged(rows, "the tracer saw nothing")
    return rows


def request_before(trace, tid, stamp):
    """When the kernel first asked the task to go in its last stint before a time stamp."""
    came, asked = None, None
    for at, what, next_tid in trace:
        if at > stamp:
            break
        if what == "switch":
            came, asked = (at if next_tid == tid else None), None
        elif came is not None and asked is None:
            asked = at
    need(came is not None, f"task {tid} was not on the CPU at {stamp}")
    need(asked is not None, f"nobody had asked task {tid} to go by {stamp}")
    return asked


def crossing(boot):
    trace = read_trace(boot)
    tids = {load["worker"]["tid"] for load in boot.results["loads"]}
    delays = []
    for records in episodes(boot.findings("watch")):
        first = records[0]
        if first["kind"] != HOG:
            continue
        need(first["culprit"]["tid"] in tids, f"not one of the workers: {short(first)}")
        need(first["status"] == "open", f"first record is not open: {short(first)}")
        # The tracer's text has microseconds: a stamp may lie one before its event.
        asked = request_before(trace, first["culprit"]["tid"], first["end_ns"] + 1000)
        delays.append(first["end_ns"] - asked)
    need(delays, "no non_yielding_worker")
    limit = THRESHOLD_NS + 3 * TICK_NS
    need(max(delays) <= limit, f"{max(delays) / MS:.2f} ms from the request to the time stamp of "
         f"the crossing, at most {limit / MS:.0f}")
    # Earlier than the threshold would be a finding about something that had not happened.
    need(min(delays) >= THRESHOLD_NS, f"reported after {min(delays) / MS:.2f} ms")
    return {"episodes": len(delays), "request_to_stamp_ms_first": round(delays[0] / MS, 2),
            "request_to_stamp_ms_max": round(max(delays) / MS, 2)}


case("icount-6.1", "icount", subset="ci")(crossing)
case("icount-6.12", "icount", "kernel=6.12")(crossing)


# --- 2 and 7: caught while it lasts, every kind of worker and module --------------------------------

def check_who(record, hog, loser, waits):
    """The tasks of a record are the ones that the loads know, with VM and device."""
    pairs = [(record["culprit"], hog)]
    if waits:
        pairs.append((victim_of(record, loser["worker"]["tid"]), loser))
    for task, load in pairs:
        need(task["tid"] == load["worker"]["tid"], f"task {task['tid']} ({task['comm']}) instead "
             f"of {load['worker']['tid']}, worker of {load['name']}")
        need(task["role"] == "vhost_worker", f"role of {task['comm']} is {task['role']}")
        need(task["vm"] == load["name"], f"VM of {task['comm']} is {task['vm']}, not "
             f"{load['name']}")
        device = f"vhost-net:{load['tap']}"
        need(task["device"] == device, f"device of {task['comm']} is {task['device']}, not "
             f"{device}")


def check_open(records):
    """Printed at least twice while it was open, and not after it had ended."""
    need(records[-1]["status"] == "closed", f"never closed: {short(records[-1])}")
    shown = records[:-1]
    need(len(shown) >= 2 and all(row["status"] == "open" for row in shown),
         f"{len(shown)} records before the closed one, not two that are open")
    end = records[-1]["end_ns"]
    late = [row for row in shown if row["end_ns"] + row["printed_after_ns"] > end]
    need(len(shown) - len(late) >= 2, "not printed twice before the hog ended")
    return shown


def check_hog(boot, step, kind=HOG):
    """The figures of a step that watched the hog from its start to its end."""
    hog, loser = hog_and_loser(boot)
    records = longest(boot.findings(step), kind)
    # The hog may be seen before the loser wants its CPU, with others as the victims.
    tid = loser["worker"]["tid"]
    first = next((i for i, row in enumerate(records)
                  if any(victim["tid"] == tid for victim in row["victims"])), len(records))
    need(first < len(records), f"task {tid} is never among the victims of {short(records[-1])}")
    for i, record in enumerate(records):
        check_who(record, hog, loser, i >= first)
    records = records[first:]
    shown = check_open(records)
    waits = [victim_of(row, loser["worker"]["tid"])["wait_ns"] for row in records]
    need(all(a < b for a, b in zip(waits, waits[1:-1])),
         f"the victim's wait does not grow: {[w // MS for w in waits]} ms")
    # A load that pauses hands the CPU over and gets it back: several findings, one wait.
    total = sum(victim["wait_ns"] for e in episodes(boot.findings(step))
                for victim in e[-1]["victims"] if victim["tid"] == loser["worker"]["tid"])
    return {"updates": len(shown), "duration_s": round(records[-1]["duration_ns"] / SECOND, 2),
            **printed_ms(shown)}, total, loser


def schedstat_wait(load):
    before, after = load["worker"]["before"], load["worker"]["after"]
    staged(before and after and after["run_ns"] > before["run_ns"],
           f"{load['name']}'s worker has not run after the hog")
    return after["wait_ns"] - before["wait_ns"]


def caught(boot):
    figures, wait, loser = check_hog(boot, "watch")
    kernel = schedstat_wait(loser)
    figures["wait_over_schedstat"] = round(wait / kernel, 3)
    need(abs(wait - kernel) <= 0.1 * kernel, f"the victim waited {wait / MS:.0f} ms, schedstat "
         f"says {kernel / MS:.0f}")
    need(boot.rc("check") == 2, f"check ended with {boot.rc('check')}, not 2: "
         f"{boot.text('check')}{boot.text('check', 'err')}")
    need(loser["worker"]["tid"] and boot.text("check").count("\n") == 1,
         f"check printed {boot.text('check')!r}, not one line")
    return figures


case("hog-6.1", "hog", subset="ci")(caught)
case("hog-6.12-task", "hog", "kernel=6.12", "worker_mode=task",
     "expect.worker_kind=task", subset="ci")(caught)
case("hog-6.12-kthread", "hog", "kernel=6.12", "worker_mode=kthread",
     "expect.worker_kind=kthread", subset="ci")(caught)
case("hog-6.1-btf", "hog", "variant=before-btf")(caught)
case("hog-6.12-nobtf", "hog", "kernel=6.12", "variant=before-nobtf")(caught)
# Not to be switched, and fair without the yield alone (patches/linux/5.10).
HARD = ("kernel=5.10", "preempt=fixed", "load.*.sndbuf=max")
case("hog-5.10", "hog", *HARD, "variant=before-hard", subset="ci")(caught)


# --- 6: each clock, and the guard level ------------------------------------------------------------

CLOCKS = {"timer": "tp_btf/local_timer_entry", "cpuclock": "perf_event/cpu-clock",
          "runtime": "tp_btf/sched_stat_runtime"}


def hook_of(boot, step, name):
    for hook in boot.lines(step)[0]["hooks"]:
        if hook["name"] == name:
            return hook
    raise Failed(f"{step}: no hook {name} in the header")


def clock_case(step, subset, kernel, *settings):
    def run(boot):
        hook = hook_of(boot, step, "clock")
        need(hook["via"] and CLOCKS[step] in hook["via"], f"clock is {hook['via']}")
        figures = check_hog(boot, step)[0]
        need(boot.findings(step)[0]["evidence"]["clock"] == hook["via"], "evidence names "
             f"another clock: {boot.findings(step)[0]['evidence']['clock']}")
        return {"via": hook["via"], **figures}
    case(f"clock-{step}-{kernel}", "clocks", f"kernel={kernel}", *settings, subset=subset)(run)


def by_procfs(boot):
    """/proc does not show the request: the same tasks, as one who waits for one who runs."""
    return check_hog(boot, "procfs", "starved_task")[0]


def by_guard(boot):
    need(boot.lines("guard")[0]["level"] == "guard", "not at guard level")
    need(hook_of(boot, "guard", "switches")["state"] != "attached", "guard level has a hook on "
         "the switch path")
    return check_hog(boot, "guard")[0]


for _kernel, _subset in (("6.1", "ci"), ("6.12", "long")):
    for _step in CLOCKS:
        clock_case(_step, _subset, _kernel)
    case(f"clock-procfs-{_kernel}", "clocks", f"kernel={_kernel}", subset=_subset)(by_procfs)
    case(f"guard-{_kernel}", "clocks", f"kernel={_kernel}", subset=_subset)(by_guard)
for _step in CLOCKS:
    clock_case(_step, "long", "5.10", *HARD[1:], "variant=before-hard")


# --- 12: on the CPU that is kept --------------------------------------------------------------------

def pinned(step):
    def run(boot):
        cpu = boot.number(f"{step}_cpu")
        staged(cpu == 1 or step == "widened", f"last ran on CPU {cpu}")
        figures = check_hog(boot, step)[0]
        return {"last_cpu": cpu, "seen_after_s": boot.number(f"{step}_seen_cs") / 100, **figures}
    return run


for _step in ("kept", "widened"):
    case(f"own-cpu-{_step}", "pinned")(pinned(_step))


# --- 4: the mode switched at run time ---------------------------------------------------------------

def oncpu_between(boot, tid, start_ns, end_ns):
    rows = [row for row in boot.workers("watch") if row["tid"] == tid
            and start_ns <= row["ts_ns"] <= end_ns]
    staged(len(rows) > 1, "too few rows of the time after the switch")
    return (rows[-1]["oncpu_ns"] - rows[0]["oncpu_ns"]) / (rows[-1]["ts_ns"] - rows[0]["ts_ns"])


def switched(boot):
    begin = boot.number("switch_begin_cs") * 10 * MS
    hogs = [e for e in episodes(boot.findings("watch", least="warning"))
            if e[0]["kind"] == HOG and e[0]["start_ns"] < begin]
    need(hogs, "no non_yielding_worker before the switch")
    hogs = hogs[-1]
    hog = hogs[-1]["culprit"]["tid"]
    tids = set(map(int, boot.values["tids"].split()))
    need(hog in tids, f"culprit is not one of the workers: {short(hogs[-1])}")
    loser = (tids - {hog}).pop()
    need(hogs[-1]["status"] == "closed", f"still open: {short(hogs[-1])}")
    closed = hogs[-1]["end_ns"]
    # The write itself may take seconds more, for other CPUs' sake.
    need(begin - TICK_NS <= closed <= begin + 2 * SECOND, f"closed {(closed - begin) / MS:.0f} ms "
         "after the switch")
    payback = oncpu_between(boot, loser, closed + SECOND // 4, closed + 5 * SECOND // 2)
    staged(payback > 0.8, f"the former loser had {payback:.2f} of the CPU: no payback")
    later = [e[-1] for e in episodes(boot.findings("watch"))
             if e[-1]["start_ns"] >= closed]
    for finding in later:
        need(not finding["culprit"] or finding["culprit"]["tid"] != loser,
             f"the former loser is blamed: {short(finding)}")
        involved = {victim["tid"] for victim in finding["victims"]} & tids
        need(finding["severity"] == "info" or not involved, f"after the switch: {short(finding)}")
    return {"write_took_s": (boot.number("switch_end_cs") * 10 * MS - begin) / SECOND,
            "closed_after_switch_ms": round((closed - begin) / MS),
            "payback_share": round(payback, 3), "later": [short(finding) for finding in later]}


case("switch-to-full-6.1", "switch", subset="ci")(switched)
case("switch-to-full-6.12", "switch", "kernel=6.12")(switched)

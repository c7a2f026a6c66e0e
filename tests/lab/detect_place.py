# SPDX-License-Identifier: GPL-2.0-or-later
"""Acceptance cases of placement and quota, and of workers that do not come to rest."""
import re

import results
from detect_data import HOG, MS, SECOND, case, episodes, longest, need, short, staged, victim_of
from detect_quiet import nothing_found

SHARE, PAIR, BLOCKED = "worker_on_vcpu_cpu", "yield_ping_pong", "owner_blocked"
PERIOD_NS = 100 * MS  # of the quota
SWITCH = re.compile(r"\[(\d+)\] \S+ +(\d+)\.(\d{6}): sched_switch: .*prev_pid=(\d+) prev_prio=\d+ "
                    r"prev_state=(\S+) ==> .*next_pid=(\d+) ")


def switches(boot, cpu):
    """[(ns, tid that left, it could still run, tid that came)] of the kernel's own tracer."""
    rows = []
    for line in results.text_of(boot.folder, "pipe").splitlines():
        found = SWITCH.search(line)
        if found and int(found[1]) == cpu:
            rows.append((int(found[2]) * SECOND + int(found[3]) * 1000, int(found[4]),
                         found[5].startswith("R"), int(found[6])))
    staged(rows, f"the tracer saw nothing of CPU {cpu}")
    return rows


def kinds(boot, step, kind):
    return [short(row) for row in boot.findings(step) if row["kind"] == kind]


def none_of(boot, step, *unwanted):
    for kind in unwanted:
        need(not kinds(boot, step, kind), f"{step}: {kinds(boot, step, kind)}")


def near(a, b, part, slack=0):
    return abs(a - b) <= part * max(a, b) + slack


# --- a worker on the CPU of a pinned vCPU -------------------------------------------------------------

def interruptions(rows, vcpu, worker, begin_ns, end_ns):
    """(how often the vCPU made room for the worker and came back, what the worker had of it)"""
    count = taken = had = 0
    since = came = None
    for at, left, runnable, tid in rows:
        if since is not None and left == worker and came is not None:
            had += at - came
        if since is not None and tid == vcpu:
            if begin_ns <= since and at <= end_ns:
                count, taken = count + 1, taken + had
            since = None
        if left == vcpu and tid == worker and runnable:
            since, had = at, 0
        came = at if tid == worker else None
    return count, taken


def who_shares(boot, step):
    load = boot.load("web01")
    last = longest(boot.findings(step), SHARE)[-1]
    need(last["culprit"]["tid"] == load["worker"]["tid"] and last["cause"] == "placement"
         and last["severity"] == "warning" and last["cpu"] == 1, short(last))
    victim = victim_of(last, load["vcpus"][0])
    need(victim["role"] == "vcpu" and victim["comm"] == "CPU 0/KVM", f"victim {victim}")
    return last, load


def placed(boot):
    last, load = who_shares(boot, "live")
    none_of(boot, "live", HOG)
    evidence = last["evidence"]
    count, taken = interruptions(switches(boot, 1), load["vcpus"][0], load["worker"]["tid"],
                                 last["start_ns"], last["end_ns"])
    need(near(evidence["interruptions"], count, 0.03, 2), f"{evidence['interruptions']} "
         f"interruptions, the tracer has {count}")
    # Each of the two hooks takes its time between the stamps of the other one.
    need(near(evidence["taken_ns"], taken, 0.3), f"{evidence['taken_ns'] / MS:.1f} ms taken, the "
         f"tracer has {taken / MS:.1f}")
    need(load["name"] == last["culprit"]["vm"] == last["victims"][0]["vm"], short(last))
    rows = {row["tid"] for row in boot.workers("live")}
    need(load["worker"]["tid"] in rows and load["vcpus"][0] not in rows, f"rows of {rows}")
    return {"interruptions": evidence["interruptions"], "by_tracer": count,
            "share": round(evidence["share"], 4),
            "taken_over_tracer": round(evidence["taken_ns"] / taken, 2)}


def placed_in_trace(boot):
    """Live and from the trace of the same seconds: the same worker, vCPU and rate."""
    rates = []
    # A vCPU whose birth the guest was slow to record is not the one of /proc in a trace's eyes.
    staged(kinds(boot, "trace", SHARE), "the trace does not know the vCPU's CPUs")
    for step in ("live", "trace"):
        last = who_shares(boot, step)[0]
        rates.append(last["evidence"]["interruptions"] * SECOND / last["duration_ns"])
    need(near(*rates, 0.15), f"interruptions a second, live and from the trace: {rates}")
    return {"per_second_live": round(rates[0]), "per_second_trace": round(rates[1])}


def placed_well(boot):
    for step in ("elsewhere", "unpinned"):
        none_of(boot, step, SHARE, HOG)
        need(boot.workers(step), f"{step}: no rows")
    return {}


# --- a quota that is used up --------------------------------------------------------------------------

def throttled(boot, step):
    worker = boot.load("web01")["worker"]["tid"]
    rows = [e[-1] for e in episodes(boot.findings(step))
            if e[0]["kind"] == "starved_task" and e[-1]["cause"] == "throttled"]
    need(rows, f"{step}: {[short(e[-1]) for e in episodes(boot.findings(step))]}")
    last = max(rows, key=lambda row: row["duration_ns"])
    victim = victim_of(last, worker)
    need(last["culprit"] is None and "/vm1" in last["remedy"], f"{short(last)}: {last['remedy']}")
    # A group that has overdrawn its quota in the kernel pays for it in the next periods.
    need(victim["wait_ns"] > PERIOD_NS / 2, f"waited {victim['wait_ns'] / MS} ms")
    none_of(boot, step, HOG)
    return last, victim


def quota(boot):
    last, victim = throttled(boot, "watch")
    times = boot.number("stat2_throttled")
    need(0.8 * times <= last["evidence"]["count"] <= times + 2, f"{last['evidence']['count']} "
         f"waits, the cgroup was throttled {times} times")
    waited = boot.load("web01")["worker"]["after"]["wait_ns"]
    need(0.7 * waited <= victim["wait_total_ns"] <= waited, f"waits of {victim['wait_total_ns'] / MS}"
         f" ms, schedstat has {waited / MS}")
    return {"waits": last["evidence"]["count"], "throttled": times,
            "longest_ms": round(victim["wait_ns"] / MS, 1),
            "total_over_schedstat": round(victim["wait_total_ns"] / waited, 2)}


def quota_by_files(boot):
    """No switch hook: the group's cpu.stat and the task's schedstat say it."""
    return {f"{step}_wait_ms": round(throttled(boot, step)[1]["wait_ns"] / MS, 1)
            for step in ("guard", "procfs")}


def quota_in_trace(boot):
    """A trace knows nothing of quotas, but that the worker waits while its CPU idles."""
    worker = boot.load("web01")["worker"]["tid"]
    rows = [row for row in boot.findings("trace") if row["kind"] == "starved_task"
            and worker in [victim["tid"] for victim in row["victims"]]]
    need(rows, f"trace: {[short(row) for row in boot.findings('trace')]}")
    none_of(boot, "trace", HOG)
    return {"findings": len(rows)}


def quota_ample(boot):
    nothing_found(boot, "ample", ("busy_worker",))
    return {}


# --- workers that do not come to rest -----------------------------------------------------------------

def who_blocks(boot, step):
    load = boot.load("web02")
    last = longest(boot.findings(step), BLOCKED)[-1]
    need(last["culprit"]["tid"] == load["worker"]["tid"] and last["cause"] == "waits_for_worker",
         short(last))
    victim_of(last, load["pid"])
    return last


def blocked(boot):
    last = who_blocks(boot, "live")
    # Seen in /proc, up to two seconds late, and told once a second.
    lasted = (boot.number("ended_cs") - boot.number("blocked_cs")) * 10 * MS
    state = last["evidence"]["state_ns"]
    need(10 * SECOND <= state <= lasted + SECOND, f"{state / SECOND} s of {lasted / SECOND} s")
    need(state >= lasted - 5 * SECOND, f"{state / SECOND} s of {lasted / SECOND} s")
    return {"state_s": round(state / SECOND, 1), "lasted_s": round(lasted / SECOND, 1)}


def blocked_in_trace(boot):
    live, trace = who_blocks(boot, "live"), who_blocks(boot, "trace")
    need(0 <= live["start_ns"] - trace["start_ns"] <= 4 * SECOND, f"begins at {live['start_ns']}, "
         f"in the trace at {trace['start_ns']}")
    return {"later_ms": round((live["start_ns"] - trace["start_ns"]) / MS)}


def asleep(boot):
    none_of(boot, "asleep", BLOCKED, HOG)
    need(boot.rc("asleep") == 0, f"check ended with {boot.rc('asleep')}")
    return {}


def storm(boot):
    """Information, and the same as from the trace, to the tick."""
    nothing_found(boot, "live", ("busy_worker",))
    live, trace = (longest(boot.findings(step), "busy_worker")[-1] for step in ("live", "trace"))
    tid = boot.load("web01")["worker"]["tid"]
    for row in (live, trace):
        need(row["culprit"]["tid"] == tid and row["cause"] == "saturated", short(row))
    need(abs(live["start_ns"] - trace["start_ns"]) <= 4 * MS, f"begins at {live['start_ns']}, in "
         f"the trace at {trace['start_ns']}")
    shares = [row["evidence"]["oncpu_ns"] / row["duration_ns"] for row in (live, trace)]
    need(near(*shares, 0.05), f"on the CPU for {shares}")
    return {"begins_apart_us": abs(live["start_ns"] - trace["start_ns"]) // 1000,
            "oncpu": [round(share, 3) for share in shares]}


def pair(boot):
    vcpus = sorted(boot.load("web01")["vcpus"])
    rows = switches(boot, 0)
    rates = []
    for step in ("live", "trace"):
        last = longest(boot.findings(step), PAIR)[-1]
        need(sorted(victim["tid"] for victim in last["victims"]) == vcpus
             and last["severity"] == "info" and last["cause"] == "directed_yield", short(last))
        rates.append(int(re.search(r" (\d+) times a second", last["message"])[1]))
    both = [at for at, left, runnable, tid in rows if runnable and sorted((left, tid)) == vcpus]
    rates.append(len(both) * SECOND / (both[-1] - both[0]))
    need(near(rates[0], rates[2], 0.2) and near(rates[1], rates[2], 0.2), f"switches a second, "
         f"live, from the trace, by the tracer: {rates}")
    nothing_found(boot, "sharing", ())
    need(boot.rc("sharing") == 0, f"check ended with {boot.rc('sharing')}")
    return {"per_second": [round(rate) for rate in rates]}


FIXED = ("kernel=5.10", "preempt=fixed")
for _name, _settings in (("5.10", FIXED), ("6.1", ()),
                         ("6.12-task", ("kernel=6.12", "worker_mode=task")),
                         ("6.12-kthread", ("kernel=6.12", "worker_mode=kthread"))):
    _subset = "ci" if _name == "6.1" else "long"
    case(f"place-{_name}", "place", *_settings, subset=_subset)(placed)
    case(f"place-trace-{_name}", "place", *_settings, subset=_subset)(placed_in_trace)
    case(f"place-quiet-{_name}", "place", *_settings, subset=_subset)(placed_well)
for _name, _settings in (("5.10", FIXED), ("6.1", ()), ("6.12", ("kernel=6.12",))):
    _subset = "ci" if _name == "6.12" else "long"
    for _what, _call in (("", quota), ("-files", quota_by_files), ("-trace", quota_in_trace),
                         ("-ample", quota_ample)):
        case(f"quota{_what}-{_name}", "quota", *_settings, subset=_subset)(_call)
    # The harsh pair of modules starves in batches only.
    _hard = ("variant=before-hard", "load.*.sndbuf=max") if _name == "5.10" else ()
    case(f"blocked-{_name}", "blocked", *_settings, *_hard)(blocked)
    case(f"blocked-trace-{_name}", "blocked", *_settings, *_hard)(blocked_in_trace)
    case(f"asleep-{_name}", "asleep", *_settings)(asleep)
    case(f"storm-{_name}", "storm", *_settings)(storm)
    case(f"pair-{_name}", "pair", *_settings)(pair)

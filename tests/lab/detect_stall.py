# SPDX-License-Identifier: GPL-2.0-or-later
"""Acceptance cases of what the kernel itself reports: RCU stalls and soft lockups."""
from detect_data import (HOG, MS, SECOND, case, episodes, hog_and_loser, need, short, staged)

HARD = ("kernel=5.10", "preempt=fixed", "load.*.sndbuf=max")
REPORTS = ("rcu_stall", "soft_lockup")


def of_kind(boot, step, *kinds):
    """The last state of each finding of these kinds."""
    return [e[-1] for e in episodes(boot.findings(step)) if e[-1]["kind"] in kinds]


def line_of(finding):
    """short() wants a duration, which a log may not tell."""
    return short({**finding, "duration_ns": finding["duration_ns"] or 0})


def blames(finding, load):
    need(finding["culprit"] and finding["culprit"]["tid"] == load["worker"]["tid"],
         f"not the worker of {load['name']}: {line_of(finding)}")
    need(finding["culprit"]["role"] == "vhost_worker", f"role: {line_of(finding)}")
    need(finding["culprit"]["vm"] in (load["name"], None), f"VM: {line_of(finding)}")


def late_witness(boot, load):
    """The soft lockup is part of the hog's finding, and none of its own."""
    hogs = [f for f in of_kind(boot, "watch", HOG) if f["evidence"]["soft_lockup_ns"]]
    need(len(hogs) == 1, f"{len(hogs)} hogs that the watchdog reported, not 1")
    blames(hogs[0], load)
    need("soft lockup" in hogs[0]["message"], f"says {hogs[0]['message']}")
    own = of_kind(boot, "watch", "soft_lockup")
    need(not own, f"a second finding: {[line_of(f) for f in own]}")
    return hogs[0]


def log_agrees(boot, kind, load):
    """The guest's log of the same run names the same task."""
    found = of_kind(boot, "log", kind)
    need(found, f"analyze found no {kind} in the guest's log")
    for finding in found:
        blames(finding, load)
        need(finding["cause"] == "worker", f"cause: {line_of(finding)}")
    return found


def lockup(boot):
    hog, _ = hog_and_loser(boot)
    finding = late_witness(boot, hog)
    log_agrees(boot, "soft_lockup", hog)
    # RCU stalls, too, where the softirqs of that CPU were left to ksoftirqd, which starves.
    stalls, logged = of_kind(boot, "watch", "rcu_stall"), of_kind(boot, "log", "rcu_stall")
    need(len(stalls) == len(logged), f"{len(stalls)} RCU stalls, in the log {len(logged)}")
    for row in stalls:
        blames(row, hog)
    return {"rcu_stalls": len(stalls), "stuck_s": finding["evidence"]["soft_lockup_ns"] / SECOND,
            "hog_s": round(finding["duration_ns"] / SECOND, 2)}


def stall(boot):
    hog, _ = hog_and_loser(boot)
    finding = late_witness(boot, hog)
    stalls = of_kind(boot, "watch", "rcu_stall")
    need(len(stalls) == 1, f"{len(stalls)} RCU stalls, not 1")
    blames(stalls[0], hog)
    need(stalls[0]["severity"] == "critical" and stalls[0]["cause"] == "worker"
         and stalls[0]["cpu"] == 1, line_of(stalls[0]))
    need(stalls[0]["evidence"]["flavor"] == "rcu_sched" and stalls[0]["evidence"]["stack"],
         line_of(stalls[0]))
    # While it lasted: the hog went on after the stall had been printed.
    first = next(f for f in boot.findings("watch") if f["kind"] == "rcu_stall")
    need(first["status"] == "open" and first["end_ns"] + first["printed_after_ns"]
         < finding["end_ns"], f"printed too late: {line_of(first)}")
    logged = log_agrees(boot, "rcu_stall", hog)[0]
    need(logged["evidence"]["gp"] == stalls[0]["evidence"]["gp"], "another grace period")
    # The log's clock and CLOCK_MONOTONIC began together in a guest that was never suspended.
    return {"jiffies": stalls[0]["evidence"]["jiffies"],
            "told_after_ms": round((first["end_ns"] - logged["start_ns"]) / MS),
            "hog_s": round(finding["duration_ns"] / SECOND, 2)}


def without_log(boot):
    """Named by the kprobe's CPU and by what the clock saw there."""
    hog, _ = hog_and_loser(boot)
    hooks = {h["name"]: h for h in boot.lines("watch")[0]["hooks"]}
    need(hooks["kernel_reports"]["via"].startswith("kprobe/"), f"{hooks['kernel_reports']}")
    stalls = of_kind(boot, "watch", "rcu_stall")
    need(len(stalls) == 1, f"{len(stalls)} RCU stalls, not 1")
    blames(stalls[0], hog)
    need(stalls[0]["cause"] == "worker" and stalls[0]["evidence"]["incomplete"],
         line_of(stalls[0]))
    return {"via": hooks["kernel_reports"]["via"]}


def alone(boot):
    """Nobody but the kernel's own watchdog wants the CPU."""
    load = boot.results["loads"][0]
    rows = [f for f in of_kind(boot, "watch", HOG, *REPORTS) if f["culprit"]
            and f["culprit"]["tid"] == load["worker"]["tid"]]
    told = [f for f in rows if f["kind"] == "soft_lockup" or f["evidence"]["soft_lockup_ns"]]
    need(len(told) == 1, f"{len(told)} findings tell of the lockup: {[line_of(f) for f in rows]}")
    blames(told[0], load)
    need(told[0]["severity"] == "critical", line_of(told[0]))
    log_agrees(boot, "soft_lockup", load)
    return {"kind": told[0]["kind"]}


def nothing(boot):
    share = boot.results["fairness"]
    staged(share and share > 0.7, f"the loads did not share: {share}")
    need(boot.number("written") == 2, f"the log has {boot.values['written']} lines that look like "
         "reports, not the two that were written to it")
    for step in ("watch", "log"):
        found = of_kind(boot, step, *REPORTS)
        need(not found, f"{step}: {[line_of(f) for f in found]}")
    hook = [h for h in boot.lines("watch")[0]["hooks"] if h["name"] == "kernel_reports"]
    need(hook and hook[0]["state"] == "attached", f"hook: {hook}")
    return {"fairness": round(share, 3), "via": hook[0]["via"]}


case("stall-5.10", "stall", *HARD, "variant=before-hard", subset="ci")(stall)
case("stall-nolog-5.10", "stall-nolog")(without_log)
case("lockup-6.1", "stall", subset="ci")(lockup)
case("lockup-6.12", "stall", "kernel=6.12")(lockup)
case("lockup-alone-6.1", "stall-alone")(alone)
case("stall-none-5.10", "stall-none", *HARD, "variant=after-hard", subset="ci")(nothing)
case("stall-none-6.1", "stall-none")(nothing)
case("stall-none-6.12", "stall-none", "kernel=6.12")(nothing)

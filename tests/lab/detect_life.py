# SPDX-License-Identifier: GPL-2.0-or-later
"""Acceptance cases about the process: started late, killed, refused, running for long."""
import json

import results
from detect_data import HOG, MS, SECOND, case, episodes, longest, need, printed_ms, staged

GONE_CS = 100
HOOKS = ("clock", "resched_flag", "waiters", "switches", "workers", "worker_birth",
         "worker_exit", "totals", "quota")


# --- 14 and 15: in the middle of a hog --------------------------------------------------------------

def middle_check(step):
    def run(boot):
        took, quiet = boot.number(f"{step}_cs"), boot.number("check0_cs")
        need(boot.rc(step) == 2, f"ended with {boot.rc(step)}: {boot.text(step)}"
             f"{boot.text(step, 'err')}")
        limit = max(250, quiet) + 300
        need(took <= limit, f"took {took / 100} s for 2.5 s, without a hog {quiet / 100}")
        return {"seconds": took / 100, "seconds_without_hog": quiet / 100}
    return run


def doctor(step):
    def run(boot):
        text = boot.text(step)
        need(boot.rc(step) == 0, f"ended with {boot.rc(step)}: {boot.text(step, 'err')}")
        words = {row.split()[0]: row.split() for row in text.splitlines() if row.split()}
        missing = [name for name in HOOKS if name not in words]
        need(not missing, f"does not name {', '.join(missing)}")
        took = boot.values.get(f"{step}_cs")
        return {"clock": " ".join(words["clock"][1:3]),
                **({"seconds": int(took) / 100} if took else {})}
    return run


# --- 11: ended while a hog lasts --------------------------------------------------------------------

def end_figures(boot, step):
    records = longest(boot.findings(step, cut=True), HOG)
    need(records[0]["status"] == "open", "the first record is not open")
    had = boot.number(f"{step}_programs")
    staged(had > 0, "no programs were there to begin with")
    figures = {"programs": had, **printed_ms(records)}
    for name in ("gone_cs", "hooks_cs", "programs_left", "processes_left", "still_run"):
        figures[name] = boot.number(f"{step}_{name}")
    return figures


def ended(step):
    """The process and what it hung into the kernel are gone within a second, in a hog."""
    def run(boot):
        figures = end_figures(boot, step)
        stuck = results.text_of(boot.folder, f"{step}.stuck").replace("\n", "; ")
        need(figures["gone_cs"] <= GONE_CS, f"not gone in time: {figures} {stuck}")
        need(figures["still_run"] == 0, f"hooks still run: {figures}")
        if step.startswith("old"):
            need(figures["hooks_cs"] <= GONE_CS, f"programs left: {figures}")
            need(figures["processes_left"] == 0, f"processes left: {figures}")
        if step.endswith("INT"):
            need(boot.rc(step) == 0, f"watch ended with {boot.rc(step)}")
            need(boot.lines(step), "no lines")
        return figures
    return run


def pair(boot):
    """Not gated, a limit of the kernel: of two that watch, how long the first one takes to go."""
    return end_figures(boot, "pair1")


def all_gone(boot):
    """What waited for a grace period in the middle of the hog does not outlive the hog."""
    figures = {name: boot.number(f"{name}_after_cs") for name in ("mid", "pair")}
    need(max(figures.values()) <= 3 * GONE_CS, f"programs and processes gone after the hog, in "
         f"hundredths of a second: {figures}")
    return figures


for _kernel, _subset in (("6.1", "ci"), ("6.12", "long")):
    _where = ("middle", f"kernel={_kernel}")
    for _step in ("check1", "check2"):
        case(f"middle-{_step}-{_kernel}", *_where, subset=_subset)(middle_check(_step))
    for _step in ("doctor_before", "doctor_middle"):
        case(f"{_step.replace('_', '-')}-{_kernel}", *_where, subset=_subset)(doctor(_step))
    for _step in ("midINT", "midKILL", "oldINT", "oldKILL"):
        case(f"end-{_step}-{_kernel}", *_where, subset=_subset)(ended(_step))
    case(f"end-pair-{_kernel}", *_where, subset=_subset)(pair)
    case(f"end-all-gone-{_kernel}", *_where, subset=_subset)(all_gone)


# --- 9: a real QEMU ---------------------------------------------------------------------------------

def qemu_rows(step, others):
    def run(boot):
        tid, pid = boot.number("qemu_worker"), boot.number("qemu_pid")
        rows = boot.workers(step)
        mine = [row for row in rows if row["tid"] == tid]
        need(len(mine) >= 2, f"{len(mine)} rows of QEMU's worker {tid}")
        for row in mine:
            found = (row["vm"], row["device"], row["owner_pid"], row["comm"])
            need(found == ("web01", "vhost-net:vnet7", pid, f"vhost-{pid}"), f"row says {found}")
            need(row["backend"] == "kthread", f"backend is {row['backend']}")
        vms = {row["vm"] for row in rows}
        need(("other" in vms) == others, f"with{'' if others else 'out'} the other VM: {vms}")
        need(boot.rc(step) == 0, f"ended with {boot.rc(step)}")
        return {"rows": len(mine), "vms": sorted(vms)}
    return run


def qemu_text(boot):
    text = boot.text("text")
    row = [line for line in text.splitlines() if "web01" in line]
    need(row and "vnet7" in row[0] and boot.values["qemu_worker"] in row[0],
         f"no row of web01 with vnet7 and its tid: {text[:300]!r}")
    return {"row": " ".join(row[0].split())}


case("qemu-owner", "qemu", subset="ci")(qemu_rows("all", True))
case("qemu-owner-by-pid", "qemu", subset="ci")(qemu_rows("mine", False))
case("qemu-owner-text", "qemu", subset="ci")(qemu_text)


# --- 13: a thousand workers -------------------------------------------------------------------------

def churned(boot):
    for step, count in (("first", 200), ("rest", 800)):
        made = json.loads(boot.text(step))["churned"]
        staged(made == count, f"{made} workers made, not {count}")
    rows = boot.workers("watch")
    tids = {row["tid"] for row in rows}
    need(tids, "no worker in any row")
    quiet = boot.number("quiet_cs") * 10 * MS
    # From one interval after the last worker's end no row may come.
    stale = [row for row in rows if row["ts_ns"] > quiet + SECOND]
    need(not stale, f"row of {stale[0]['comm'] if stale else ''} after its end")
    before, after = boot.number("rss_200"), boot.number("rss_1000")
    need(abs(after - before) <= 0.1 * before, f"RSS {before} kB after 200, {after} after 1000")
    seen = boot.summary("watch")["workers"]
    need(seen >= 900, f"{seen} of 1000 workers seen")
    need(not episodes(boot.findings("watch", least="warning")), "a finding")
    return {"rss_200_kb": before, "rss_1000_kb": after, "anon_0_kb": boot.number("rss_0_anon"),
            "anon_1000_kb": boot.number("rss_1000_anon"), "workers_seen": seen,
            "lost_events": boot.summary("watch")["lost_events"]}


def born(boot):
    """A new worker has its row at the next interval, two at the most."""
    took = boot.number("row_cs")
    need(took <= 250, f"first row of a new worker {took / 100} s after it was there")
    return {"row_after_s": took / 100}


case("birth-6.1", "churn")(born)
case("birth-6.12-kthread", "churn", "kernel=6.12", "worker_mode=kthread")(born)
case("birth-6.12-task", "churn", "kernel=6.12", "worker_mode=task")(born)
case("churn-6.1", "churn")(churned)
case("churn-6.12-kthread", "churn", "kernel=6.12", "worker_mode=kthread")(churned)
case("churn-6.12-task", "churn", "kernel=6.12", "worker_mode=task")(churned)


# --- 16: refused ------------------------------------------------------------------------------------

def refused(text_step, json_step, reason):
    def run(boot):
        for step in (text_step, json_step):
            need(boot.rc(step) == 3, f"{step} ended with {boot.rc(step)}")
            errors = boot.text(step, "err").splitlines()
            need(len(errors) == 1 and errors[0].startswith("vhostwatch: "),
                 f"{step}: stderr is {errors}, not one line")
        need(boot.text(text_step) == "", f"stdout is {boot.text(text_step)!r}")
        rows = [json.loads(row) for row in boot.text(json_step).splitlines()]
        need(rows and rows[-1]["type"] == "error" and rows[-1]["reason"] == reason,
             f"no error of reason {reason}: {rows}")
        return {"stderr": boot.text(text_step, "err").strip()}
    return run


def root_may(boot):
    need(boot.rc("root") == 0, f"check ended with {boot.rc('root')}: {boot.text('root', 'err')}")
    need("no vhost workers" in boot.text("root"), f"says {boot.text('root')!r}")
    return {"line": boot.text("root").strip()}


def lockdown_doctor(boot):
    staged("[confidentiality]" in boot.values["lockdown"], f"mode {boot.values['lockdown']!r}")
    need("lockdown" in boot.text("doctor", "err"), "doctor does not speak of lockdown: "
         f"{boot.text('doctor')[:300]!r}")
    hooks = [row.split() for row in boot.text("doctor").splitlines() if " tp_btf/" in row]
    # What the kernel refuses is not attached, whatever the plan was.
    need(all(row[1] != "attached" for row in hooks), f"doctor ends with {boot.rc('doctor')} "
         f"({boot.text('doctor', 'err').strip()}) but says {' '.join(hooks[0]) if hooks else ''}")
    return {"rc": boot.rc("doctor")}


case("root-may-look", "user")(root_may)
for _command in ("check", "watch"):
    case(f"user-{_command}", "user")(refused(f"user_{_command}", f"json_{_command}", "capability"))
    case(f"lockdown-{_command}", "lockdown")(refused(f"text_{_command}", f"json_{_command}",
                                                    "lockdown"))
case("lockdown-doctor", "lockdown")(lockdown_doctor)

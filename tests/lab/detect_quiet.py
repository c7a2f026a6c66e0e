# SPDX-License-Identifier: GPL-2.0-or-later
"""Acceptance cases in which nothing is wrong."""
from detect_data import MS, case, episodes, need, short, staged


def nothing_found(boot, step, allowed=()):
    """No finding of warning or above, and of infos only the kinds allowed."""
    for records in episodes(boot.findings(step)):
        last = records[-1]
        need(last["severity"] == "info" and last["kind"] in allowed, f"{step}: {short(last)}")


def fair(boot):
    """The load that starves a worker elsewhere: here nobody is to blame."""
    share = boot.results["fairness"]
    staged(share and share > 0.7, f"the loads did not share: {share}")
    warnings = []
    for records in episodes(boot.findings("watch", least="warning")):
        need(records[-1]["severity"] != "critical", f"watch: {short(records[-1])}")
        warnings.append(short(records[-1]))
    need(boot.rc("check") == 0, f"check ended with {boot.rc('check')}: {boot.text('check')}"
         f"{boot.text('check', 'err')}")
    need(boot.summary("watch")["workers"] == 2, "watch did not see the two workers")
    return {"fairness": round(share, 3), "warnings_of_watch": warnings}


case("fair-6.1-after", "fair", subset="ci")(fair)
case("fair-6.1-full", "fair", "variant=before", "preempt=full", subset="ci")(fair)
case("fair-6.1-voluntary", "fair", "variant=before", "preempt=voluntary")(fair)
case("fair-6.12-after", "fair", "kernel=6.12")(fair)
case("fair-6.12-full", "fair", "kernel=6.12", "variant=before", "preempt=full")(fair)
case("fair-6.12-voluntary", "fair", "kernel=6.12", "variant=before", "preempt=voluntary")(fair)
case("fair-5.10-after", "fair", "kernel=5.10", "preempt=fixed")(fair)
case("fair-5.10-after-hard", "fair", "kernel=5.10", "preempt=fixed", "variant=after-hard",
     "load.*.sndbuf=max", subset="ci")(fair)


def control(step, names, allowed=()):
    def run(boot):
        seen = {row["vm"] for row in boot.workers(step)}
        need(set(names) <= seen, f"rows of {sorted(map(str, seen))}, not of {names}")
        nothing_found(boot, step, allowed)
        need(boot.rc(step) == 0, f"check ended with {boot.rc(step)}")
        busy = max(row["oncpu_ns"] for row in boot.workers(step))
        kinds = sorted({row["kind"] for row in boot.findings(step)})
        return {"workers": len(seen), "busiest_oncpu_ms": busy // MS, "infos": kinds}
    return run


for _name, _step, _names, _allowed in (
        ("control-idle", "idle", ("idle1", "idle2"), ()),
        ("control-alone", "alone", ("one",), ("busy_worker",)),
        ("control-two-cpus", "two", ("twoa", "twob"), ("busy_worker",))):
    case(f"{_name}-6.1", "controls", subset="ci")(control(_step, _names, _allowed))
    case(f"{_name}-6.12", "controls", "kernel=6.12")(control(_step, _names, _allowed))


def slices(boot):
    """Two and three tasks with slices of 12 ms wait 12 and 24 ms for each other: that is fair."""
    figures = {}
    for load in boot.results["loads"]:
        before, after = load["worker"]["before"], load["worker"]["after"]
        switches = after["involuntary"] - before["involuntary"]
        figures[load["name"]] = (after["run_ns"] - before["run_ns"]) / max(switches, 1) / MS
    # Shorter than what the kernel gives by itself (8 ms), and the control would prove nothing.
    staged(min(figures.values()) > 10, f"slices of {figures} ms")
    for step in ("two", "three"):
        nothing_found(boot, step, ("busy_worker",))
        need(boot.rc(step) == 0, f"check with {step} tasks ended with {boot.rc(step)}")
    return {"slice_ms": {name: round(value, 1) for name, value in figures.items()}}


case("slices-12ms", "slices")(slices)

# SPDX-License-Identifier: GPL-2.0-or-later
"""Acceptance cases of record and analyze: what a file tells is what the live run told."""
from detect_data import HOG, MS, SECOND, case, hog_and_loser, need, short, victim_of

TICK_NS = 4 * MS
# What differs between a run and its recording by design: where it came from, how late it was told.
UNLIKE = ("printed_after_ns",)


def bare(rows):
    return [{key: value for key, value in row.items() if key not in UNLIKE} for row in rows]


def recording_tells_the_same(boot):
    live, again = boot.findings("record"), boot.findings("recording")
    need(live, "the recorded run found nothing")
    need(bare(live) == bare(again), f"recorded {[short(f) for f in live]}, analyzed "
         f"{[short(f) for f in again]}")
    need(boot.rc("record") == 0, f"record ended with {boot.rc('record')}")
    need(boot.rc("recording") == 2, f"analyze ended with {boot.rc('recording')}, not 2")
    hog, loser = hog_and_loser(boot)
    finding = max((f for f in again if f["kind"] == HOG), key=lambda f: f["duration_ns"])
    need(finding["culprit"]["tid"] == hog["worker"]["tid"], f"not {hog['name']}: {short(finding)}")
    victim_of(finding, loser["worker"]["tid"])
    need(finding["culprit"]["vm"] == hog["name"], f"VM {finding['culprit']['vm']}")
    return {"findings": len(again), "hog_s": round(finding["duration_ns"] / SECOND, 2)}


def main_hog(boot, step):
    rows = [f for f in boot.findings(step) if f["kind"] == HOG]
    need(rows, f"{step}: no {HOG}")
    return max(rows, key=lambda f: f["duration_ns"])


def absent(a, b):
    """Victims of a that b should have, too. The list has room for eight; live, a waiter is looked at
    ten times a second, and who is not in the fair queue (migration/N) or is vhostwatch not at all."""
    least = min(v["wait_ns"] for v in b["victims"]) if len(b["victims"]) == 8 else 0
    return [v["tid"] for v in a["victims"] if v["wait_ns"] > max(500 * MS, least + 200 * MS)
            and v["tid"] not in [w["tid"] for w in b["victims"]]
            and not v["comm"].startswith(("migration/", "vhostwatch"))]


def same_hog(live, trace):
    need(live["culprit"]["tid"] == trace["culprit"]["tid"] and live["cpu"] == trace["cpu"]
         and live["cause"] == trace["cause"], f"live {short(live)}, trace {short(trace)}")
    for a, b in ((live, trace), (trace, live)):
        missing = absent(a, b)
        need(not missing, f"victims {missing} of {short(a)} are not in {short(b)}")


def trace_tells_the_same(boot):
    """The kernel's own trace of the same seconds: same culprit, same victims."""
    loser = hog_and_loser(boot)[1]["worker"]["tid"]
    live, trace = main_hog(boot, "record"), main_hog(boot, "trace")
    need(boot.summary("trace")["lost_events"] == 0, "the trace has gaps")
    same_hog(live, trace)
    waits = [victim_of(f, loser)["wait_ns"] for f in (live, trace)]
    # What the emulated clock does meanwhile depends on the machine; the next case counts ticks.
    need(abs(waits[0] - waits[1]) < 0.05 * waits[0], f"waits {waits}")
    return {"wait_ms_live": round(waits[0] / MS, 1), "wait_ms_trace": round(waits[1] / MS, 1)}


def trace_in_time(boot):
    """Guest time counted in instructions: start, end and waits of each hog within one tick."""
    figures = {}
    live, trace = ({f["culprit"]["tid"]: f for f in boot.findings(step) if f["kind"] == HOG}
                   for step in ("record", "trace"))
    need(live and live.keys() == trace.keys(), f"culprits {list(live)}, in the trace {list(trace)}")
    for tid, a in live.items():
        b = trace[tid]
        same_hog(a, b)
        pairs = [("start", a["start_ns"], b["start_ns"]), ("end", a["end_ns"], b["end_ns"])]
        waits = {v["tid"]: v["wait_ns"] for v in b["victims"]}
        pairs += [("wait", v["wait_ns"], waits[v["tid"]]) for v in a["victims"]
                  if v["role"] == "vhost_worker"]
        for what, x, y in pairs:
            figures[what] = max(figures.get(what, 0), round(abs(x - y) / MS, 2))
            need(abs(x - y) <= TICK_NS, f"{what} differs by {(y - x) / MS:.2f} ms: live "
                 f"{short(a)}, trace {short(b)}")
        figures["episodes"] = figures.get("episodes", 0) + a["evidence"]["count"]
    return figures


for _kernel, _settings in (("6.1", ()), ("6.12", ("kernel=6.12",))):
    _subset = "ci" if _kernel == "6.1" else "long"
    case(f"recording-{_kernel}", "offline", *_settings, subset=_subset)(recording_tells_the_same)
    case(f"trace-{_kernel}", "offline", *_settings, subset=_subset)(trace_tells_the_same)
    case(f"trace-icount-{_kernel}", "offline-icount", *_settings, subset=_subset)(trace_in_time)

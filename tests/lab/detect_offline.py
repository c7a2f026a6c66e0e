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


def trace_tells_the_same(boot):
    """The kernel's own trace of the same seconds: same culprit, same victims, times within a tick."""
    loser = hog_and_loser(boot)[1]["worker"]["tid"]
    live, trace = main_hog(boot, "record"), main_hog(boot, "trace")
    need(boot.summary("trace")["lost_events"] == 0, "the trace has gaps")
    need(live["culprit"]["tid"] == trace["culprit"]["tid"] and live["cpu"] == trace["cpu"],
         f"live {short(live)}, trace {short(trace)}")
    need(live["cause"] == trace["cause"], f"cause {live['cause']}, in the trace {trace['cause']}")
    # Who waited long did so in both; of short waits at the edges either may miss one.
    for a, b in ((live, trace), (trace, live)):
        missing = [v["tid"] for v in a["victims"] if v["wait_ns"] > 100 * MS and v["tid"] not in
                   [w["tid"] for w in b["victims"]]]
        need(not missing, f"victims {missing} of {short(a)} are not in {short(b)}")
    figures = {"episodes_live": live["evidence"]["count"],
               "episodes_trace": trace["evidence"]["count"]}
    waits = [victim_of(f, loser)["wait_ns"] for f in (live, trace)]
    for what, a, b in (("start", live["start_ns"], trace["start_ns"]),
                       ("end", live["end_ns"], trace["end_ns"]), ("wait", *waits)):
        figures[f"{what}_differs_ms"] = round((b - a) / MS, 2)
        need(abs(a - b) <= TICK_NS, f"{what} differs by {(b - a) / MS:.2f} ms, more than a tick: "
             f"live {short(live)}, trace {short(trace)}")
    return figures


for _kernel, _settings in (("6.1", ()), ("6.12", ("kernel=6.12",))):
    _subset = "ci" if _kernel == "6.1" else "long"
    case(f"recording-{_kernel}", "offline", *_settings, subset=_subset)(recording_tells_the_same)
    case(f"trace-{_kernel}", "offline", *_settings, subset=_subset)(trace_tells_the_same)

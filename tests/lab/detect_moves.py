# SPDX-License-Identifier: GPL-2.0-or-later
"""Acceptance cases with tasks that are forced off their CPU to be moved."""
import contextlib
import re
import sqlite3

import moves_oracle
import results
from detect_data import MS, Failed, case, episodes, need, short, staged, victim_of
from detect_offline import bare

KIND = "spurious_migration_boost"
THRESHOLD_NS = 10 * MS
TICK_NS = 4 * MS
LEAST = 4  # moves in vain: fewer prove little


def tid_of(boot, step):
    found = re.search(r"^(?:round|child) (\d+)", boot.text(step), re.M)
    if not found:
        raise Failed(f"{step} printed {boot.text(step)!r}: {boot.text(step, 'err')}")
    return int(found[1])


def trace_of(boot):
    return moves_oracle.Trace(results.text_of(boot.folder, "pipe"))


def last_of(boot, step, tid):
    """The last record of each finding about moves of a task."""
    return [e[-1] for e in episodes(boot.findings(step)) if e[0]["kind"] == KIND
            and e[0]["culprit"] and e[0]["culprit"]["tid"] == tid]


def in_vain(boot, step):
    """(tid, moves from CPU 0 where nothing was idle as the tracer has them, how many more may be)."""
    tid = tid_of(boot, step)
    moves = [move for move in trace_of(boot).of(tid, 0)]
    return (tid, [move for move in moves if move.in_vain() and not move.unsure],
            len([move for move in moves if move.unsure]))


def is_told(boot, moves):
    """Of a program that is no VM's, moves are told that come three times and cost others the threshold
    in all; vhostwatch does not count itself among them."""
    if len(moves) < 3:
        return False
    watcher = trace_of(boot).watcher
    cost = sum(move.cost(watcher) for move in moves)
    staged(abs(cost - THRESHOLD_NS) > 2 * MS, f"the moves cost {cost} ns: told or not, both may be")
    return cost > THRESHOLD_NS


def check_stops(boot, moves):
    """vhostwatch and the tracer take their stamps of a switch one after the other. Where the machine
    took the emulated CPU away in between, that one move differs and the others agree to microseconds:
    such a boot cannot tell which of the two is right."""
    with contextlib.closing(sqlite3.connect(f"file:{boot.folder}/run.vw?mode=ro", uri=True)) as db:
        waits = dict(db.execute("SELECT moved_ns, displaced_wait_ns FROM move WHERE displaced_tid > 0"))
    apart = []
    for move in (m for m in moves if m.displaced and m.wait_ns):
        nearest = min(waits, key=lambda at: abs(at - move.stamp), default=None)
        if nearest is not None and abs(nearest - move.stamp) < MS:
            apart.append(abs(waits[nearest] - move.wait_ns))
    late = [ns for ns in apart if ns >= MS // 2]
    staged(not late or len(late) > len(apart) // 4,
           f"the CPU stood still between two stamps of one switch, {max(late, default=0)} ns")


def same_waits(boot, moves, hog, told, what):
    """The longest wait of who made room: to half a millisecond by the same clock as the tracer's.
    Of one that was overtaken it comes from the run queue's clock, which is right to a tick where the
    time stamp counter is not stable, as here."""
    made_room = max((m.wait_ns for m in moves if m.displaced == hog and m.wait_ns), default=0)
    overtaken = max((m.overtaken.get(hog, 0) for m in moves), default=0)
    staged(made_room, "the task on CPU 1 never had to make room")
    check_stops(boot, moves)
    need(abs(told - max(made_room, overtaken)) < MS // 2
         or overtaken and made_room - MS // 2 < told < overtaken + TICK_NS,
         f"{what}: told {told} ns, by the tracer {made_room}, overtaken {overtaken}")
    return round(told / MS, 2)


def turns(boot, tid):
    """How often a move in vain took the task back where the move before it had come from."""
    moves = trace_of(boot).of(tid)
    return sum(b.source == 0 and b.in_vain() and not b.unsure and (a.source, a.dest) == (b.dest, b.source)
               and b.stamp - a.stamp < 1000 * MS for a, b in zip(moves, moves[1:]))


def ways_back(boot, tid):
    return [move for move in trace_of(boot).of(tid, 1) if move.in_vain()]


def forced(step, cause):
    def run(boot):
        tid, moves, more = in_vain(boot, step)
        staged(len(moves) >= LEAST and is_told(boot, moves), f"{step}: {len(moves)} moves in vain")
        found = last_of(boot, "record", tid)
        need(len(found) == 1, f"findings of task {tid}: {[short(f) for f in found]}")
        finding, evidence = found[0], found[0]["evidence"]
        staged((cause == "ping_pong") == (turns(boot, tid) >= 2), f"{step}: not the way it was to go")
        need(finding["cause"] == cause and finding["status"] == "closed", short(finding))
        # Ways back in vain may be the balancer's, too, or due to its affinity: not seen in a trace.
        need(0 <= evidence["count"] - len(moves) <= more + len(ways_back(boot, tid)),
             f"{len(moves)} by the tracer: {short(finding)}")
        need(evidence["idle_cpus"] == [] and evidence["allowed"] == "0-1"
             and (evidence["from_cpu"], evidence["to_cpu"]) == (0, 1), short(finding))
        hog = boot.number("hog1")
        waited = same_waits(boot, moves, hog, victim_of(finding, hog)["wait_ns"], short(finding))
        return {"moves": len(moves), "victim_waited_ms": waited, "severity": finding["severity"]}
    return run


def silent(step, why):
    """Moves that there was a reason for."""
    def run(boot):
        tid = tid_of(boot, step)
        moves = [move for move in trace_of(boot).of(tid) if why(move)]
        staged(len(moves) >= LEAST, f"{step}: {len(moves)} such moves")
        _, wrong, more = in_vain(boot, step) if step == "idle" else (tid, [], 0)
        found = last_of(boot, "record", tid)
        # vhostwatch itself may have been on the idle CPU, say: then the move was in vain.
        told = len(wrong) if is_told(boot, wrong) else 0
        need(told <= sum(f["evidence"]["count"] for f in found) <= told + more,
             f"{told} in vain by the tracer: {[short(f) for f in found]}")
        return {"moves": len(moves), "in_vain": len(wrong)}
    return run


def told_the_same(boot):
    """The recording, and the kernel's own trace, which does not know what tasks may use."""
    need(bare(boot.findings("record")) == bare(boot.findings("recording")), "the recording differs")
    compared = 0
    for step in ("vain", "tofro"):
        tid, moves, more = in_vain(boot, step)
        staged(len(moves) >= LEAST and is_told(boot, moves), f"{step}: {len(moves)} moves in vain")
        live, trace = last_of(boot, "record", tid), last_of(boot, "trace", tid)
        need(len(live) == len(trace) == 1, f"{step}: live {[short(f) for f in live]}, trace "
             f"{[short(f) for f in trace]}")
        live, trace = live[0], trace[0]
        need(trace["cause"] == "unknown" and trace["severity"] == "info", short(trace))
        count = trace["evidence"]["count"]
        most = len(moves) + more + len(ways_back(boot, tid))
        need(len(moves) <= live["evidence"]["count"] <= count <= most,
             f"{step}: {len(moves)} by the tracer; live {short(live)}, trace {short(trace)}")
        hog = boot.number("hog1")
        for finding in (live, trace):
            same_waits(boot, moves, hog, victim_of(finding, hog)["wait_ns"], short(finding))
        compared += count
    return {"moves": compared}


def numa(boot):
    """Moves that NUMA balancing asked for are its own finding, and no kick."""
    tids = set(map(int, re.search(r"^children (\d+) (\d+)$", boot.text("far"), re.M).groups()))
    moves = [move for move in trace_of(boot).moves if move.tid in tids]
    more = len([move for move in moves if move.unsure])
    moves = [move for move in moves if move.in_vain() and not move.unsure]
    asked = [move for move in moves if move.numa]
    staged(asked, "NUMA balancing moved neither of them while it ran")
    told = {True: 0, False: 0}
    for finding in (f for tid in tids for f in last_of(boot, "record", tid)):
        need(finding["severity"] == "info" or finding["cause"] != "numa_balancing", short(finding))
        told[finding["cause"] == "numa_balancing"] += finding["evidence"]["count"]
    need(told[True] >= len(asked) and told[False] >= len(moves) - len(asked)
         and sum(told.values()) <= len(moves) + more,
         f"by the tracer {len(asked)} of {len(moves)} were asked for, told {told}")
    # Without /proc it is not known whose threads they are: one finding, with nobody to name.
    trace = [e[-1]["evidence"]["count"] for e in episodes(boot.findings("trace"))
             if e[0]["kind"] == KIND and e[0]["cause"] == "numa_balancing"]
    need(sum(trace) >= len(asked), f"trace: {trace}, not {len(asked)}")
    return {"asked_for": len(asked), "not_asked_for": len(moves) - len(asked)}


def execs(step):
    """Each exec moves its task where the load is least; nobody is hurt by it."""
    def run(boot):
        staged(boot.number(f"{step}_execs") > 100, "too few programs were started")
        found = [e[-1] for e in episodes(boot.findings(step)) if e[0]["kind"] == KIND]
        need(not found, f"{[short(f) for f in found]}")
        return {"execs": boot.number(f"{step}_execs")}
    return run


for _kernel, _settings in (("6.1", ()), ("6.12", ("kernel=6.12",)),
                           ("5.10", ("kernel=5.10", "preempt=fixed"))):
    _subset = "ci" if _kernel == "6.1" else "long"
    for _name, _call in (("in-vain", forced("vain", "futile_kick")),
                         ("to-and-fro", forced("tofro", "ping_pong")),
                         ("by-affinity", silent("kicked", lambda move: True)),
                         ("to-idle", silent("idle", lambda move: move.to_idle)),
                         ("offline", told_the_same)):
        case(f"move-{_name}-{_kernel}", "moves", *_settings, subset=_subset)(_call)
    if _kernel != "5.10":  # before 5.12 memory that stays where it is is not looked at
        case(f"move-numa-{_kernel}", "numa", *_settings)(numa)
    for _name in ("idle", "busy"):
        case(f"move-execs-{_name}-{_kernel}", "execs", *_settings)(execs(_name))

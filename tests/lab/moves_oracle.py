# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel's own tracer says of running tasks that were taken off their CPU to be moved.

A second opinion, written without a look at vhostwatch's own: who was moved by a stopper while it could
have gone on, where nothing was idle, and who made room for it and for how long.
"""
import re

MS = 1000000
LINE = re.compile(r"^\s*(.{1,16})-(\d+)\s+\[(\d+)\] \S+\s+(\d+)\.(\d{6}): (\w+): (.*)$")
SWITCH = re.compile(r"prev_pid=(\d+) .*prev_state=(\S+) ==> .*next_pid=(\d+) ")
MIGRATE = re.compile(r"pid=(\d+) .*orig_cpu=(\d+) dest_cpu=(\d+)")
WAKEUP = re.compile(r"pid=(\d+) .*target_cpu=(\d+)")
# From here on a wait on the CPU that was left makes the move a relief; near it nobody can say.
RELIEF_NS, UNSURE_NS = 10 * MS, MS
# NUMA balancing says so, then waits for the stopper; good for one move.
NUMA_NS = 100 * MS
# A CPU about to go idle pulls tasks before its last one has left.
FREE_NS, FREE_UNSURE_NS = 100000, 300000


class Move:
    def __init__(self, stamp, tid, source, dest):
        self.stamp, self.tid, self.source, self.dest = stamp, tid, source, dest
        self.to_idle = self.relief = self.unsure = self.settled = self.numa = False
        self.displaced, self.ran_ns, self.wait_ns = 0, None, None
        self.overtaken = {}  # who waited there before it and ran after it: how long by then

    def cost(self, but):
        """What others waited for it, those of a set left out."""
        return (self.wait_ns or 0) * (self.displaced not in but) + sum(
            wait for tid, wait in self.overtaken.items() if tid not in but)

    def in_vain(self):
        return not self.to_idle and not self.relief


class Trace:
    """Who runs and who waits, event by event, and the forced moves."""

    def __init__(self, text):
        self.moves = []
        self.runs, self.waits = {}, {}
        self.watcher = set()  # tids of vhostwatch
        self.asked = {}  # by NUMA balancing, when
        self.off = {}  # by CPU: who made room for the stopper and could have gone on
        for row in text.splitlines():
            found = LINE.match(row)
            if not found:
                continue
            call = getattr(self, found[6], None)
            if call:
                call(int(found[4]) * 1000 * MS + int(found[5]) * 1000, int(found[3]), found[1],
                     found[7])

    def sched_switch(self, stamp, cpu, _, text):
        prev, state, following = SWITCH.search(text).groups()
        prev, following = int(prev), int(following)
        if "next_comm=vhostwatch " in text:
            self.watcher.add(following)
        runnable = state.startswith("R") and prev != 0
        self.settle(stamp, cpu, runnable)
        self.waits.pop(following, None)
        if runnable:
            self.waits[prev] = (cpu, stamp)
        self.runs[cpu] = following
        self.off[cpu] = prev if runnable and "next_comm=migration/" in text else 0
        for move in self.moves[-64:]:
            if move.tid == following and move.ran_ns is None:
                move.ran_ns = stamp
                move.displaced = prev if runnable else 0
                move.overtaken = {tid: stamp - self.waits[tid][1] for tid in self.others(cpu, move)}
            elif move.displaced and move.displaced == following and move.wait_ns is None:
                move.wait_ns = stamp - move.ran_ns

    def settle(self, stamp, cpu, runnable):
        for move in self.moves[-64:]:
            if move.dest != cpu or move.settled:
                continue
            move.settled = True
            since = stamp - move.stamp
            if not runnable and self.runs.get(cpu) and not self.others(cpu, move):
                move.to_idle |= since <= FREE_NS
                move.unsure |= FREE_NS / 2 < since < FREE_UNSURE_NS

    def others(self, cpu, move):
        return [tid for tid, (at, since) in self.waits.items()
                if at == cpu and tid != move.tid and since < move.stamp]

    def sched_wakeup(self, stamp, _cpu, _head, text):
        tid, target = map(int, WAKEUP.search(text).groups())
        if tid not in self.runs.values():
            self.waits.setdefault(tid, (target, stamp))

    def sched_move_numa(self, stamp, _cpu, _head, text):
        self.asked[int(re.match(r"pid=(\d+)", text)[1])] = stamp

    def sched_swap_numa(self, stamp, _cpu, _head, text):
        for tid in re.findall(r"(?:src|dst)_pid=(\d+)", text):
            self.asked[int(tid)] = stamp

    def sched_migrate_task(self, stamp, _cpu, head, text):
        tid, source, dest = map(int, MIGRATE.search(text).groups())
        if head.strip().startswith("migration/") and self.off.get(source) == tid:
            move = Move(stamp, tid, source, dest)
            move.numa = stamp - self.asked.pop(tid, -NUMA_NS) <= NUMA_NS
            waits = [stamp - since for other, (at, since) in self.waits.items()
                     if at == source and other != tid]
            longest = max(waits, default=0)
            move.relief = longest >= RELIEF_NS
            move.unsure = abs(longest - RELIEF_NS) < UNSURE_NS
            move.to_idle = self.runs.get(dest) == 0 and not any(
                at == dest for at, _ in self.waits.values())
            self.moves.append(move)
            self.off[source] = 0
        if tid in self.waits:
            self.waits[tid] = (dest, self.waits[tid][1])

    def of(self, tid, source=None):
        return [move for move in self.moves if move.tid == tid
                and source in (None, move.source)]
